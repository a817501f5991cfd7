import { definePlugin } from '@opentabs/sdk';
import { summariseChannel } from './prompts/summarise-channel.ts';
import { compareChannels } from './tools/compare-channels.ts';
import { countAuthors } from './tools/count-authors.ts';
import { exportMessages } from './tools/export-messages.ts';

export default definePlugin({
  tools: [exportMessages, countAuthors, compareChannels],
  prompts: [summariseChannel],

  // While the user is logged out, the site marks its page with an attribute, and the plugin is not ready.
  isReady() {
    return !document.documentElement.hasAttribute('data-logged-out');
  },
});

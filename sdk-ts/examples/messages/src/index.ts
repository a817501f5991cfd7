import { definePlugin } from '@opentabs/sdk';
import { summariseChannel } from './prompts/summarise-channel.ts';
import { compareChannels } from './tools/compare-channels.ts';
import { countAuthors } from './tools/count-authors.ts';
import { exportMessages } from './tools/export-messages.ts';

export default definePlugin({
  tools: [exportMessages, countAuthors, compareChannels],
  prompts: [summariseChannel],

  // The plugin is not ready while the user is logged out, which the site marks in its page.
  isReady() {
    return !document.documentElement.hasAttribute('data-logged-out');
  },
});

import { definePlugin } from '@opentabs/sdk';
import { summariseChannel } from './prompts/summarise-channel.ts';
import { big } from './tools/big.ts';
import { compareChannels } from './tools/compare-channels.ts';
import { countAuthors } from './tools/count-authors.ts';
import { countdown } from './tools/countdown.ts';
import { draw } from './tools/draw.ts';
import { echo } from './tools/echo.ts';
import { exportMessages } from './tools/export-messages.ts';
import { fail } from './tools/fail.ts';
import { heartbeat } from './tools/heartbeat.ts';
import { navigate } from './tools/navigate.ts';
import { reports } from './tools/reports.ts';
import { silent } from './tools/silent.ts';
import { stubborn } from './tools/stubborn.ts';
import { whoAmI } from './tools/who-am-i.ts';

export default definePlugin({
  tools: [
    exportMessages,
    countAuthors,
    compareChannels,
    whoAmI,
    countdown,
    silent,
    echo,
    big,
    reports,
    heartbeat,
    stubborn,
    navigate,
    fail,
    draw,
  ],
  prompts: [summariseChannel],

  // The site marks its page while the user is logged out.
  isReady() {
    return !document.documentElement.hasAttribute('data-logged-out');
  },
});

import { definePlugin } from '@opentabs/sdk';
import { summariseChannel } from './prompts/summarise-channel.ts';
import { bigTool } from './tools/big.ts';
import { compareChannels } from './tools/compare-channels.ts';
import { countAuthors } from './tools/count-authors.ts';
import { countdownTool } from './tools/countdown.ts';
import { drawTool } from './tools/draw.ts';
import { echoTool } from './tools/echo.ts';
import { exportMessages } from './tools/export-messages.ts';
import { failTool } from './tools/fail.ts';
import { heartbeatTool } from './tools/heartbeat.ts';
import { navigateTool } from './tools/navigate.ts';
import { reportsTool } from './tools/reports.ts';
import { silentTool } from './tools/silent.ts';
import { stubbornTool } from './tools/stubborn.ts';
import { whoAmI } from './tools/who-am-i.ts';

export default definePlugin({
  tools: [
    exportMessages,
    countAuthors,
    compareChannels,
    whoAmI,
    countdownTool,
    silentTool,
    echoTool,
    bigTool,
    reportsTool,
    heartbeatTool,
    stubbornTool,
    navigateTool,
    failTool,
    drawTool,
  ],
  prompts: [summariseChannel],

  // The plugin is not ready while the user is logged out, which the test site marks in its page.
  isReady() {
    return !document.documentElement.hasAttribute('data-logged-out');
  },
});

import { definePlugin } from '@opentabs/sdk';
import { countdownTool } from './tools/countdown.ts';
import { drawTool } from './tools/draw.ts';
import { navigateTool } from './tools/navigate.ts';
import { whoAmI } from './tools/who-am-i.ts';

export default definePlugin({
  tools: [countdownTool, drawTool, navigateTool, whoAmI],

  isReady: () => true,
});

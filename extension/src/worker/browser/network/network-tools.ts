import type { BrowserTool } from '../browser-tool.ts';
import type { ToolGroup } from '../sessions.ts';
import { type NetworkBrowser, NetworkCaptures } from './network-captures.ts';
import { makeRecordingTools } from './recording-tools.ts';
import { makeSettingTools } from './setting-tools.ts';

/** Each call of a network tool restarts the idle timers of all network captures in the tab. */
export function makeNetworkTools(browser: NetworkBrowser): ToolGroup {
  const networkCaptures = new NetworkCaptures(browser);
  const allTools = [...makeRecordingTools(browser, networkCaptures), ...makeSettingTools(networkCaptures)];
  const tools = allTools.map(([name, runTool]): [string, BrowserTool] => [
    name,
    async (call) => {
      await networkCaptures.restartIdleTimers(call.tabId);
      return await runTool(call);
    },
  ]);
  return { tools, parts: [networkCaptures] };
}

import type { Debuggers } from '../debugger/debuggers.ts';
import type { ToolGroup } from '../sessions.ts';
import type { TabFrames } from '../tab-frames.ts';
import { ConsoleMessages } from './console-messages.ts';
import { CssCoverage } from './css-coverage.ts';
import type { DebuggedFramesBrowser } from './debugged-frames.ts';
import { type EvaluateBrowser, ScriptEvaluator } from './evaluate.ts';
import { type PerformanceBrowser, PerformanceRecordings } from './performance.ts';
import { ResourceTools } from './resources.ts';
import { StyleTools } from './styles.ts';
import { TextParts } from './text-parts.ts';

export type DevtoolsBrowser = EvaluateBrowser & DebuggedFramesBrowser & PerformanceBrowser;

/**
 * makeDevtoolsTools returns the browser tools of the group devtools, such as browser_evaluate and
 * browser_console_messages.
 */
export function makeDevtoolsTools(browser: DevtoolsBrowser, frames: TabFrames, debuggers: Debuggers): ToolGroup {
  const textParts = new TextParts();
  const scriptEvaluator = new ScriptEvaluator(browser, frames, debuggers, textParts);
  const consoleMessages = new ConsoleMessages(browser, debuggers);
  const resourceTools = new ResourceTools(browser, debuggers, textParts);
  const readTabUrl = async (tabId: number) =>
    (await browser.listTabFrames(tabId)).find(({ frameId }) => frameId === 0)?.url;
  const cssCoverage = new CssCoverage(debuggers, { readTabUrl });
  const performanceRecordings = new PerformanceRecordings(browser, debuggers);
  const styles = new StyleTools(frames, debuggers, (tabId) => cssCoverage.makeHeaderFinder(tabId));
  const tools: ToolGroup['tools'] = [
    ['browser_console_messages', (call) => consoleMessages.read(call)],
    ['browser_evaluate', (call) => scriptEvaluator.evaluate(call)],
    ['browser_resources', (call) => resourceTools.read(call)],
    ['browser_css_coverage', (call) => cssCoverage.run(call)],
    ['browser_performance', (call) => performanceRecordings.run(call)],
    ['browser_get_styles', (call) => styles.read(call)],
  ];
  return { tools, parts: [consoleMessages, cssCoverage, performanceRecordings] };
}

import type { Debuggers } from '../debugger/debuggers.ts';
import type { ToolGroup } from '../sessions.ts';
import type { TabFrames } from '../tab-frames.ts';
import { ConsoleMessages } from './console-messages.ts';
import { CssCoverage } from './css-coverage.ts';
import type { DebuggedFramesBrowser } from './debugged-frames.ts';
import { type EvaluateBrowser, Evaluator } from './evaluate.ts';
import { type PerformanceBrowser, PerformanceRecordings } from './performance.ts';
import { Resources } from './resources.ts';
import { Styles } from './styles.ts';
import { TextParts } from './text-parts.ts';

export type DevtoolsBrowser = EvaluateBrowser & DebuggedFramesBrowser & PerformanceBrowser;

/**
 * makeDevtoolsTools returns the browser tools of the group devtools, such as browser_evaluate and
 * browser_console_messages.
 */
export function makeDevtoolsTools(browser: DevtoolsBrowser, frames: TabFrames, debuggers: Debuggers): ToolGroup {
  const parts = new TextParts();
  const evaluator = new Evaluator(browser, frames, debuggers, parts);
  const messages = new ConsoleMessages(browser, debuggers);
  const resources = new Resources(browser, debuggers, parts);
  const readUrl = async (tabId: number) =>
    (await browser.listTabFrames(tabId)).find(({ frameId }) => frameId === 0)?.url;
  const coverage = new CssCoverage(debuggers, { readUrl });
  const performance = new PerformanceRecordings(browser, debuggers);
  const styles = new Styles(frames, debuggers, (tabId) => coverage.findHeaders(tabId));
  const tools: ToolGroup['tools'] = [
    ['browser_console_messages', (call) => messages.read(call)],
    ['browser_evaluate', (call) => evaluator.evaluate(call)],
    ['browser_resources', (call) => resources.read(call)],
    ['browser_css_coverage', (call) => coverage.run(call)],
    ['browser_performance', (call) => performance.run(call)],
    ['browser_get_styles', (call) => styles.read(call)],
  ];
  return { tools, parts: [messages, coverage, performance] };
}

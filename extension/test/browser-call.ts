/** Provides calls of browser tools for unit tests. */
import type { BrowserCall, BrowserTool } from '../src/worker/browser/browser-tool.ts';
import { ToolFailure } from '../src/worker/browser/tool-failure.ts';

/** makeBrowserCall returns a call of a browser tool without a tab. */
export function makeBrowserCall(
  args: Readonly<Record<string, unknown>>,
  others: Partial<BrowserCall> = {},
): BrowserCall {
  const { signal } = new AbortController();
  return { tool: 'test', tabId: 0, documentId: '', args, session: '', signal, report: () => undefined, ...others };
}

/** toolOf returns the tool with a name. */
export function toolOf(tools: readonly (readonly [string, BrowserTool])[], name: string): BrowserTool {
  const [, run] = tools.find(([each]) => each === name) ?? [];
  if (!run) throw new Error(`there is no tool ${name}`);
  return run;
}

/** failureOf runs a tool that must fail, and returns the code and the message of the error. */
export async function failureOf(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ToolFailure)) throw new Error(`the tool did not fail: ${String(error)}`);
  return { code: error.error.tool?.code ?? error.error.code, message: error.message };
}

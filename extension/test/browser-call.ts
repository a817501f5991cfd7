/** Helpers for unit tests that call browser tools. */
import type { BrowserCall, BrowserTool } from '../src/worker/browser/browser-tool.ts';
import { ToolFailure } from '../src/worker/browser/tool-failure.ts';

export function makeBrowserCall(
  args: Readonly<Record<string, unknown>>,
  otherFields: Partial<BrowserCall> = {},
): BrowserCall {
  const { signal } = new AbortController();
  return {
    tool: 'test',
    tabId: 0,
    documentId: '',
    args,
    session: '',
    signal,
    report: () => undefined,
    markActed: () => undefined,
    ...otherFields,
  };
}

export function findTool(tools: readonly (readonly [string, BrowserTool])[], name: string): BrowserTool {
  const [, run] = tools.find(([toolName]) => toolName === name) ?? [];
  if (!run) throw new Error(`there is no tool ${name}`);
  return run;
}

export async function awaitFailure(failingCall: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await failingCall.then(
    () => undefined,
    (thrownValue: unknown) => thrownValue,
  );
  if (!(error instanceof ToolFailure)) throw new Error(`the tool did not fail: ${String(error)}`);
  return { code: error.error.tool?.code ?? error.error.code, message: error.message };
}

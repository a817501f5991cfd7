import {
  type CancelOutcome,
  CancelTimeoutMs,
  type Report,
  type ToolCancelParams,
  type ToolDispatchParams,
} from '../../../../wire/wire.gen.ts';
import type { TabState } from '../../chrome.ts';
import { isRecord } from '../../record.ts';
import { splitResult } from '../../result-parts.ts';
import { sleep } from '../../within.ts';
import type { Outbox } from '../calls/outbox.ts';
import { Signal } from '../signal.ts';
import { readText } from './arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool, PageState } from './browser-tool.ts';
import { makeCallFailure, makeDocumentGoneFailure, StillRunningFailure, toCallError } from './tool-failure.ts';

/** BrowserPlugin is the plugin name that the server uses in calls of browser tools. */
export const BrowserPlugin = 'browser';

/** If Chrome stops the service worker while a read-only tool runs, the restarted worker runs the tool again. */
const RepeatableTools: ReadonlySet<string> = new Set([
  'browser_snapshot',
  'browser_find',
  'browser_read_page',
  'browser_wait_for',
  'browser_take_screenshot',
  'browser_get_styles',
]);

/**
 * lostWorkerError is the error of a call whose result is lost because the worker restarted while the tool may have been
 * running.
 */
const lostWorkerError = {
  code: 'link_lost',
  message: "the browser's extension restarted while the tool ran; it may have acted. Check the page before a retry",
} as const;

export interface BrowserCallsOptions {
  readonly outbox: Pick<Outbox, 'addProgress' | 'addPart' | 'endWithResult' | 'fail' | 'isStored' | 'drop'>;
  readonly tools: ReadonlyMap<string, BrowserTool>;
  readTabState(tabId: number): Promise<TabState>;
  readTopDocument(tabId: number): Promise<string | undefined>;
  readPage(tabId: number): Promise<PageState | undefined>;
  getPartDelayMs(): number;
}

/** ToolCallEnding is how a tool's run ended; "goes on" means that code of the tool may still be running in the page. */
type ToolCallEnding = 'result' | 'error' | 'goes on';

interface RunningTool {
  readonly controller: AbortController;
  /** The field `ended` resolves when the run of the tool has ended or has left code running in the page. */
  readonly ended: Promise<ToolCallEnding>;
}

const NavigationTools: ReadonlySet<string> = new Set(['browser_navigate', 'browser_navigate_back']);

/** BrowserCalls runs browser tools in the worker, and sends their progress and results to the server. */
export class BrowserCalls {
  readonly changed = new Signal();
  readonly #options: BrowserCallsOptions;
  readonly #runningTools = new Map<string, RunningTool>();

  constructor(options: BrowserCallsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#runningTools.size;
  }

  get ids(): string[] {
    return [...this.#runningTools.keys()];
  }

  has(id: string): boolean {
    return this.#runningTools.has(id);
  }

  dispatch(params: ToolDispatchParams): void {
    const { dispatchId: id } = params;
    const { outbox } = this.#options;
    if (this.#runningTools.has(id) || outbox.isStored(id)) return;
    // The previous service worker may have run the tool before it stopped, so do not run the tool again.
    if (params.again === true && !RepeatableTools.has(params.tool)) {
      outbox.fail(id, lostWorkerError);
      return;
    }
    const controller = new AbortController();
    this.#runningTools.set(id, { controller, ended: this.#runCall(params, controller.signal) });
    this.changed.emit();
  }

  /**
   * The method `cancel` cancels a call, and resolves with "aborted", "finished" or "ignored", depending on how the tool
   * ended.
   */
  async cancel({ dispatchId: id, reason }: ToolCancelParams): Promise<CancelOutcome> {
    const call = this.#runningTools.get(id);
    this.#options.outbox.drop(id);
    if (!call) return 'finished';
    call.controller.abort(new DOMException(reason, 'AbortError'));
    this.#removeCall(id);
    const timeout = sleep(CancelTimeoutMs).then(() => 'ignored' as const);
    const ending = await Promise.race([call.ended, timeout]);
    if (ending === 'ignored' || ending === 'goes on') return 'ignored';
    return ending === 'result' ? 'finished' : 'aborted';
  }

  #removeCall(id: string): void {
    if (this.#runningTools.delete(id)) this.changed.emit();
  }

  /** #runCall runs the tool and sends its result, but drops the result of a cancelled call. */
  async #runCall(params: ToolDispatchParams, signal: AbortSignal): Promise<ToolCallEnding> {
    const { dispatchId: id } = params;
    const { outbox } = this.#options;
    // Wait until the caller of #runCall has added the call to the table of running calls, and then start the tool.
    await Promise.resolve();
    let hasActed = false;
    const markActed = () => {
      hasActed = true;
    };
    try {
      const result = await this.#runTool(params, signal, markActed);
      if (this.#runningTools.has(id)) await this.#sendResult(id, JSON.stringify(result), params, signal);
      return 'result';
    } catch (error) {
      const { notStarted, ...callError } = toCallError(error);
      if (this.#runningTools.has(id))
        outbox.fail(id, notStarted && !hasActed ? { ...callError, notStarted } : callError);
      return error instanceof StillRunningFailure ? 'goes on' : 'error';
    } finally {
      this.#removeCall(id);
    }
  }

  async #runTool(params: ToolDispatchParams, signal: AbortSignal, markActed: () => void): Promise<BrowserResult> {
    const { dispatchId: id, tool, tabId, documentId } = params;
    const runTool = this.#options.tools.get(tool);
    if (!runTool) throw makeCallFailure('unknown_tool', `this version of the browser's extension has no tool ${tool}`);
    if (tabId > 0) await this.#requireDocument(tabId, documentId, tool);
    let seq = 0;
    const report = (progressReport: Report) => {
      if (!this.#runningTools.has(id)) return;
      this.#options.outbox.addProgress(id, { seq: seq++, skipped: 0, reports: JSON.stringify([progressReport]) });
    };
    const args = isRecord(params.args) ? params.args : {};
    const call: BrowserCall = {
      tool,
      tabId,
      documentId,
      args,
      session: readText(args, '_session') ?? '',
      signal,
      report,
      markActed,
    };
    const result = await runTool(call);
    return await this.#addPageState(result, tabId);
  }

  /**
   * After a page has crashed, navigation tools can still run in its tab, because only a navigation restores the page.
   */
  async #requireDocument(tabId: number, documentId: string, tool: string): Promise<void> {
    const { readTabState, readTopDocument } = this.#options;
    const [tabState, topDocument] = await Promise.all([readTabState(tabId), readTopDocument(tabId)]);
    if (tabState === 'closed') throw makeDocumentGoneFailure(tabState, false);
    if (documentId === '') return;
    if (tabState !== 'open') {
      if (NavigationTools.has(tool)) return;
      throw makeDocumentGoneFailure(tabState, false);
    }
    if (topDocument !== documentId) throw makeDocumentGoneFailure('open', false);
  }

  async #addPageState(result: BrowserResult, callTabId: number): Promise<BrowserResult> {
    const tabId = result.tabId ?? callTabId;
    if (tabId === 0 || result.page !== undefined) return result;
    const page = await this.#options.readPage(tabId);
    return page ? { ...result, page: { url: page.url, title: page.title } } : result;
  }

  async #sendResult(id: string, resultText: string, params: ToolDispatchParams, signal: AbortSignal): Promise<void> {
    const { outbox, getPartDelayMs } = this.#options;
    const { maxResultBytes, tool } = params;
    const bytes = countUtf8Bytes(resultText, maxResultBytes);
    if (bytes > maxResultBytes) {
      const tooLargeMessage = `the result of ${tool} exceeds the limit of ${maxResultBytes} bytes. Request less of the page`;
      throw makeCallFailure('result_too_large', tooLargeMessage);
    }
    const resultParts = splitResult(resultText);
    if (resultParts.length <= 1) {
      outbox.endWithResult(id, resultText, undefined);
      return;
    }
    for (const [seq, resultPart] of resultParts.entries()) {
      for (let waitMs = getPartDelayMs(); waitMs > 0; waitMs = getPartDelayMs()) await sleep(waitMs);
      if (signal.aborted) return;
      outbox.addPart(id, seq, resultPart);
    }
    outbox.endWithResult(id, undefined, resultParts.length);
  }
}

/**
 * For texts that are clearly shorter than `maxBytes`, countUtf8Bytes returns a lower bound, which is cheaper to
 * compute.
 */
function countUtf8Bytes(resultText: string, maxBytes: number): number {
  if (resultText.length * 3 <= maxBytes) return resultText.length;
  return new TextEncoder().encode(resultText).length;
}

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
import { callFailure, documentGone, errorOf, StillRunningFailure } from './tool-failure.ts';

/** BrowserPlugin is the name of the plugin to which the server dispatches browser tools. */
export const BrowserPlugin = 'browser';

/**
 * RepeatableTools are the tools that only read. If Chrome stops the service worker while a tool that only reads
 * runs, the restarted worker runs the tool again.
 */
const RepeatableTools: ReadonlySet<string> = new Set([
  'browser_snapshot',
  'browser_find',
  'browser_read_page',
  'browser_wait_for',
  'browser_take_screenshot',
  'browser_get_styles',
]);

/** lostError is the error of a call that an earlier worker may have run. */
const lostError = {
  code: 'link_lost',
  message: "the browser's extension restarted while the tool ran; it may have acted. Check the page before a retry",
} as const;

export interface BrowserCallsOptions {
  readonly outbox: Pick<Outbox, 'progress' | 'part' | 'endWithResult' | 'fail' | 'isStored' | 'drop'>;
  readonly tools: ReadonlyMap<string, BrowserTool>;
  readTabState(tabId: number): Promise<TabState>;
  /** readTopDocument returns the ID of the top document of a tab; undefined if the tab has none. */
  readTopDocument(tabId: number): Promise<string | undefined>;
  /** readPage returns the address and the title of a tab's top document, or undefined if the tab is closed. */
  readPage(tabId: number): Promise<PageState | undefined>;
  /** waitBeforePartMs returns how many milliseconds to wait before the next part of a large result, or 0. */
  waitBeforePartMs(): number;
}

/**
 * ToolEnding is how the run of a tool ended. After the ending "goes on", code of the tool may still run in the
 * page.
 */
type ToolEnding = 'result' | 'error' | 'goes on';

interface RunningTool {
  readonly controller: AbortController;
  /** ended resolves with how the tool ended. */
  readonly ended: Promise<ToolEnding>;
}

/** NavigationTools are the tools that load a page into a tab. */
const NavigationTools: ReadonlySet<string> = new Set(['browser_navigate', 'browser_navigate_back']);

/** BrowserCalls runs browser tools in the worker, and sends their progress and endings to the server. */
export class BrowserCalls {
  /** changed reports that a call began or ended. */
  readonly changed = new Signal();
  readonly #options: BrowserCallsOptions;
  readonly #running = new Map<string, RunningTool>();

  constructor(options: BrowserCallsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#running.size;
  }

  get ids(): string[] {
    return [...this.#running.keys()];
  }

  has(id: string): boolean {
    return this.#running.has(id);
  }

  dispatch(params: ToolDispatchParams): void {
    const { dispatchId: id } = params;
    const { outbox } = this.#options;
    if (this.#running.has(id) || outbox.isStored(id)) return;
    // An earlier worker may have run the call, and its result is lost.
    if (params.again === true && !RepeatableTools.has(params.tool)) {
      outbox.fail(id, lostError);
      return;
    }
    const controller = new AbortController();
    this.#running.set(id, { controller, ended: this.#run(params, controller.signal) });
    this.changed.emit();
  }

  /** cancel aborts a call and resolves with what became of the tool. */
  async cancel({ dispatchId: id, reason }: ToolCancelParams): Promise<CancelOutcome> {
    const call = this.#running.get(id);
    this.#options.outbox.drop(id);
    if (!call) return 'finished';
    call.controller.abort(new DOMException(reason, 'AbortError'));
    this.#forget(id);
    const timeout = sleep(CancelTimeoutMs).then(() => 'ignored' as const);
    const ending = await Promise.race([call.ended, timeout]);
    if (ending === 'ignored' || ending === 'goes on') return 'ignored';
    return ending === 'result' ? 'finished' : 'aborted';
  }

  #forget(id: string): void {
    if (this.#running.delete(id)) this.changed.emit();
  }

  /** run runs a tool to its end. The ending of a cancelled call is dropped. */
  async #run(params: ToolDispatchParams, signal: AbortSignal): Promise<ToolEnding> {
    const { dispatchId: id } = params;
    const { outbox } = this.#options;
    // The caller of run must add the call to the table first.
    await Promise.resolve();
    try {
      const result = await this.#runTool(params, signal);
      if (this.#running.has(id)) await this.#sendResult(id, JSON.stringify(result), params, signal);
      return 'result';
    } catch (error) {
      if (this.#running.has(id)) outbox.fail(id, errorOf(error));
      return error instanceof StillRunningFailure ? 'goes on' : 'error';
    } finally {
      this.#forget(id);
    }
  }

  async #runTool(params: ToolDispatchParams, signal: AbortSignal): Promise<BrowserResult> {
    const { dispatchId: id, tool, tabId, documentId } = params;
    const run = this.#options.tools.get(tool);
    if (!run) throw callFailure('unknown_tool', `this version of the browser's extension has no tool ${tool}`);
    if (tabId > 0) await this.#requireDocument(tabId, documentId, tool);
    let seq = 0;
    const report = (item: Report) => {
      if (!this.#running.has(id)) return;
      this.#options.outbox.progress(id, { seq: seq++, skipped: 0, reports: JSON.stringify([item]) });
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
    };
    const result = await run(call);
    return await this.#withPage(result, tabId);
  }

  /**
   * requireDocument fails if a tab does not show the document for which the server allowed the call. A navigation
   * tool may also run in a tab whose page crashed or was unloaded, because only a navigation restores the page.
   */
  async #requireDocument(tabId: number, documentId: string, tool: string): Promise<void> {
    const { readTabState, readTopDocument } = this.#options;
    const [state, topDocument] = await Promise.all([readTabState(tabId), readTopDocument(tabId)]);
    if (state === 'closed') throw documentGone(state, false);
    if (documentId === '') return;
    if (state !== 'open') {
      if (NavigationTools.has(tool)) return;
      throw documentGone(state, false);
    }
    if (topDocument !== documentId) throw documentGone('open', false);
  }

  /** withPage adds the state of the tab's page to a result. */
  async #withPage(result: BrowserResult, callTab: number): Promise<BrowserResult> {
    const tabId = result.tabId ?? callTab;
    if (tabId === 0 || result.page !== undefined) return result;
    const page = await this.#options.readPage(tabId);
    return page ? { ...result, page: { url: page.url, title: page.title } } : result;
  }

  async #sendResult(id: string, text: string, params: ToolDispatchParams, signal: AbortSignal): Promise<void> {
    const { outbox, waitBeforePartMs } = this.#options;
    const { maxResultBytes, tool } = params;
    const bytes = utf8LengthOf(text, maxResultBytes);
    if (bytes > maxResultBytes) {
      const message = `the result of ${tool} exceeds the limit of ${maxResultBytes} bytes. Request less of the page`;
      throw callFailure('result_too_large', message);
    }
    const parts = splitResult(text);
    if (parts.length <= 1) {
      outbox.endWithResult(id, text, undefined);
      return;
    }
    for (const [seq, part] of parts.entries()) {
      for (let waitMs = waitBeforePartMs(); waitMs > 0; waitMs = waitBeforePartMs()) await sleep(waitMs);
      if (signal.aborted) return;
      outbox.part(id, seq, part);
    }
    outbox.endWithResult(id, undefined, parts.length);
  }
}

/** utf8LengthOf returns the number of bytes of a text in UTF-8. utf8LengthOf is cheap for texts below the limit. */
function utf8LengthOf(text: string, limit: number): number {
  if (text.length * 3 <= limit) return text.length;
  return new TextEncoder().encode(text).length;
}

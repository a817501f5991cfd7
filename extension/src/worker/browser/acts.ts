import type * as chromeBase from '../../chrome.ts';
import type * as pages from '../../chrome-pages.ts';
import type * as chromeTabs from '../../chrome-tabs.ts';
import type { ClickResult, PageActionResult } from '../../page/operations.ts';
import { awaitWithin } from '../../within.ts';
import { readChoice, readText } from './arguments.ts';
import type { BrowserCall, BrowserResult } from './browser-tool.ts';
import type { TabDownloads } from './debugger/tab-downloads.ts';
import { type LoadBrowser, type LoadOutcome, waitForLoad } from './loads.ts';
import { PageLostError } from './page-scripts.ts';
import type { FullSnapshot, Snapshots } from './snapshots.ts';
import type { FrameTarget, TabFrames } from './tab-frames.ts';
import type { TabGroups } from './tab-groups.ts';
import { type OpenedTab, TabWatch } from './tab-watch.ts';
import { makeDocumentGoneFailure, ToolFailure } from './tool-failure.ts';

export type ActionBrowser = LoadBrowser &
  Pick<typeof pages, 'watchTabs' | 'runScriptUrl'> &
  Pick<typeof chromeTabs, 'readWindowFocus' | 'restoreWindowFocus'> &
  Pick<typeof chromeBase, 'openBackgroundTab' | 'readTabState'>;

export interface ActionOutcome<R extends PageActionResult> {
  /** The field `result` is undefined if the action led to a new document. */
  readonly result: R | undefined;
  readonly opened: readonly OpenedTab[];
  /** closedTabCount is the number of tabs that the page opened during the action and that closed before its end. */
  readonly closedTabCount: number;
  /** The field `downloads` contains the file names of the downloads that Chrome reported to the debugger. */
  readonly downloads: readonly string[];
  readonly load: LoadOutcome | 'failed' | undefined;
  readonly loadProblem: string | undefined;
  /**
   * The field `end` describes how the document of the action ended: the tab was closed, the frame removed, or the
   * document replaced.
   */
  readonly end: 'tab_closed' | 'frame_removed' | 'replaced' | undefined;
  /**
   * doneSteps is the number of form fields that the action had filled when its document ended. If the document ended
   * before the page script reported that the action had begun, both `doneSteps` and `result` are undefined.
   */
  readonly doneSteps: number | undefined;
  readonly isInFront: boolean;
}

/**
 * NavigationTimeoutMs limits how long an action waits for the new document to which the action led, in milliseconds.
 */
const NavigationTimeoutMs = 10_000;
/** A tool waits only briefly for the script of a javascript: link, because a dialog can block the script. */
const ScriptUrlTimeoutMs = 1000;
const NavigationStartTimeoutMs = 1000;

export interface ResultDetails {
  readonly sentences?: readonly string[];
  readonly content?: readonly string[];
}

/** PageActions runs actions on a page, and describes how the page changed. */
export class PageActions {
  readonly #browser: ActionBrowser;
  readonly #frames: TabFrames;
  readonly #snapshots: Snapshots;
  readonly #tabGroups: TabGroups;
  readonly #downloads: Pick<TabDownloads, 'watch'>;

  constructor(
    browser: ActionBrowser,
    frames: TabFrames,
    snapshots: Snapshots,
    groups: TabGroups,
    downloads: Pick<TabDownloads, 'watch'>,
  ) {
    this.#downloads = downloads;
    this.#browser = browser;
    this.#tabGroups = groups;
    this.#frames = frames;
    this.#snapshots = snapshots;
  }

  /** If the operation leads to a new document, `run` waits for the new document. */
  async run<R extends PageActionResult>(
    call: BrowserCall,
    frame: FrameTarget,
    operation: (frames: TabFrames) => Promise<R>,
  ): Promise<ActionOutcome<R>> {
    const focusBefore = await this.#browser.readWindowFocus();
    const watch = new TabWatch(this.#browser.watchTabs, call.tabId);
    const downloadWatch = this.#downloads.watch(call.tabId);
    const pendingRestores: Promise<void>[] = [];
    watch.onOpened = ({ tabId }) => {
      pendingRestores.push(
        this.#browser.restoreWindowFocus(focusBefore, tabId).catch(() => undefined),
        this.#addToGroup(call, tabId),
      );
    };
    try {
      let result: R | undefined;
      let end: ActionOutcome<PageActionResult>['end'];
      let doneSteps: number | undefined;
      try {
        result = await operation(this.#frames);
        call.markActed();
        if (result.navigating !== undefined) await waitForNavigationStart(watch, call.signal);
      } catch (error) {
        if (!(error instanceof PageLostError) || !(error.hasBegun || error.isReplaced)) throw error;
        call.markActed();
        doneSteps = error.doneSteps;
        end = await this.#explainPageLoss(call, frame, watch, error);
      }
      const { load, problem } = end === 'tab_closed' ? {} : await this.#waitForLoad(call, watch);
      await Promise.all(pendingRestores);
      const isInFront = focusBefore.activeTabs.some(({ tabId }) => tabId === call.tabId);
      const opened = await this.#listOpenTabs(watch);
      return {
        result,
        opened,
        closedTabCount: watch.opened.length - opened.length,
        downloads: [...downloadWatch.names],
        load,
        loadProblem: problem,
        end,
        doneSteps,
        isInFront,
      };
    } finally {
      watch.stop();
      downloadWatch.stop();
    }
  }

  /** Chrome closes a tab that a page opened if the new tab receives a download in place of a page. */
  async #listOpenTabs({ opened }: TabWatch): Promise<OpenedTab[]> {
    const tabStates = await Promise.all(opened.map(({ tabId }) => this.#browser.readTabState(tabId)));
    return opened.filter((_, i) => tabStates[i] !== 'closed');
  }

  /**
   * #explainPageLoss returns how the action ended its document, and throws if the action is probably not the reason for
   * the loss.
   */
  async #explainPageLoss(
    { tabId, signal }: BrowserCall,
    frame: FrameTarget,
    watch: TabWatch,
    pageLostError: PageLostError,
  ): Promise<ActionOutcome<PageActionResult>['end']> {
    if (pageLostError.isReplaced) return 'replaced';
    await waitForNavigationStart(watch, signal);
    if (watch.isClosed || (await this.#browser.readTabState(tabId)) === 'closed') return 'tab_closed';
    if (pageLostError.state === 'crashed' || pageLostError.state === 'discarded') throw pageLostError;
    if (watch.isLoading || watch.document || watch.error !== undefined) return undefined;
    if (frame.frameId !== 0) return 'frame_removed';
    throw makeDocumentGoneFailure('open', true);
  }

  async #waitForLoad(call: BrowserCall, watch: TabWatch): Promise<{ load?: LoadOutcome | 'failed'; problem?: string }> {
    if (!watch.isLoading && !watch.document && watch.error === undefined) return {};
    try {
      return { load: await waitForLoad(this.#browser, call, watch, 'load', { limitMs: NavigationTimeoutMs }) };
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      return { load: 'failed', problem: error.message };
    }
  }

  /** The method `describe` returns the result of an action with a sentence such as "Clicked e12". */
  async describe<R extends PageActionResult>(
    call: BrowserCall,
    actionText: string,
    act: ActionOutcome<R>,
    details: ResultDetails = {},
  ): Promise<BrowserResult> {
    const result = await this.#describePage(call, actionText, act, details);
    return act.opened.length > 0 ? { ...result, openedTabs: act.opened.map(({ tabId }) => tabId) } : result;
  }

  async #describePage<R extends PageActionResult>(
    call: BrowserCall,
    actionText: string,
    act: ActionOutcome<R>,
    details: ResultDetails,
  ): Promise<BrowserResult> {
    const { result, load, end } = act;
    const isUnconfirmed = result === undefined && act.doneSteps === undefined;
    const sentences = [isUnconfirmed ? unconfirmedActionText : `${actionText}.`, ...(details.sentences ?? [])];
    const content = [...(details.content ?? [])];
    if (end === 'tab_closed') return { text: [...sentences, 'The tab closed.'].join(' ') };
    if (end === 'frame_removed') sentences.push('The page removed the frame of the element.');
    if (end === 'replaced') sentences.push('A script replaced the content of the page. Earlier refs are void.');
    if (result) sentences.push(...describeChange(result, act));
    // If the action has changed its target element, the list of changes already contains the element's snapshot line.
    if (result?.target !== undefined && !result.changed) content.push(`target: ${result.target}`);
    const isNewPage = load !== undefined && load !== 'failed' && load.isNewDocument;
    for (const { tabId } of act.opened)
      sentences.push(`The page opened tab ${tabId} in the background. Use browser_tabs to select it.`);
    if (act.closedTabCount > 0) sentences.push('The page opened a tab that closed again, as it does for a download.');
    const snapshot = readChoice(call.args, 'snapshot', ['diff', 'none', 'full']) ?? 'diff';
    const newSnapshot =
      (isNewPage || end === 'replaced') && snapshot === 'diff'
        ? await this.#snapshots.takeOfNewDocument(call)
        : undefined;
    if (load !== undefined && !isDownload(act)) sentences.push(describeNavigation(act, newSnapshot !== undefined));
    if (newSnapshot) return addSnapshot(sentences, newSnapshot);
    if (snapshot === 'full') {
      const full = await this.#snapshots.takeFull({ ...call, documentId: '' }).catch(returnToolFailure);
      if (!(full instanceof ToolFailure))
        return addSnapshot(sentences, { ...full, content: [...content, full.content].join('\n') });
      sentences.push(`The snapshot could not be taken: ${full.message}.`);
    }
    const text = sentences.join(' ');
    for (const download of listDownloads(act)) content.push(`download: ${download}`);
    if (result?.changes !== undefined) content.push(result.changes);
    return { text, ...(content.length > 0 ? { content: content.join('\n') } : {}) };
  }

  /**
   * runLinkScript runs the script of a clicked javascript: link, because Chrome ignores synthetic clicks on javascript:
   * links.
   */
  async runLinkScript(call: BrowserCall, frame: FrameTarget, clickResult: ClickResult): Promise<ClickResult> {
    const script = clickResult.link?.script;
    if (script === undefined) return clickResult;
    const { snapshot } = await this.#frames.run(call, frame, 'watch', {});
    await awaitWithin(this.#browser.runScriptUrl(call.tabId, frame.documentId, script), ScriptUrlTimeoutMs);
    const frameChanges = await this.#frames.run(call, frame, 'changes', { since: snapshot });
    const { link: _, notes, ...before } = clickResult;
    if (!frameChanges.changed) return { ...before, notes };
    const changesText = [clickResult.changes, frameChanges.changes].filter((text) => text !== undefined).join('\n');
    return {
      ...before,
      ...frameChanges,
      input: clickResult.input,
      ...(changesText === '' ? {} : { changes: changesText }),
    };
  }

  async #addToGroup({ args }: BrowserCall, tabId: number): Promise<void> {
    await this.#tabGroups.add(tabId, readText(args, '_client') ?? '');
  }

  /** openLink opens a clicked link in a background tab, because Chrome blocks new tabs without a click by the user. */
  async openLink(call: BrowserCall, href: string): Promise<number | undefined> {
    if (!/^https?:/.test(href)) return undefined;
    const tabId = await this.#browser.openBackgroundTab(href);
    await this.#addToGroup(call, tabId);
    return tabId;
  }
}

function addSnapshot(sentences: readonly string[], { note, ...shown }: FullSnapshot): BrowserResult {
  return { text: [...sentences, note].filter((textPart) => textPart !== '').join(' '), ...shown };
}

/** waitForNavigationStart waits until a tab requests a document or closes, for at most NavigationStartTimeoutMs. */
async function waitForNavigationStart(watch: TabWatch, signal: AbortSignal): Promise<void> {
  const endMs = Date.now() + NavigationStartTimeoutMs;
  while (!watch.hasStarted && !watch.isClosed && watch.error === undefined && Date.now() < endMs)
    await watch.next(endMs - Date.now(), signal);
}

const unconfirmedActionText =
  'The document ended before the action or during it. Check whether the action took effect before you repeat it.';

const downloadNote = 'A download began.';

/** Without the debugger, Chrome does not report dialogs to the extension. */
const dismissedDialogsNote =
  'Without the debugger, Chrome dismisses dialogs of a background tab (alert, confirm, prompt) at once: the page may ' +
  'have opened one, and got the answer Cancel.';

function describeChange(result: PageActionResult, act: ActionOutcome<PageActionResult>): string[] {
  const { opened, closedTabCount, downloads, isInFront } = act;
  const sentences = result.input === 'none' ? [] : [`input: ${result.input}.`];
  if (downloads.length > 0 && result.download === undefined) sentences.push(downloadNote);
  // If the page itself is unchanged, the new tab or the download is the only change.
  if (!result.changed && (opened.length > 0 || closedTabCount > 0 || downloads.length > 0)) return sentences;
  if (!result.changed) sentences.push('changed: nothing.');
  if (!result.changed && !isInFront && result.input === 'synthetic') sentences.push(dismissedDialogsNote);
  else if (result.url !== undefined) sentences.push('The address changed; the document is the same.');
  if (result.busy) sentences.push('The page was still changing when the wait ended.');
  return [...sentences, ...result.notes];
}

function listDownloads({ result, downloads }: ActionOutcome<PageActionResult>): readonly string[] {
  if (downloads.length > 0) return downloads;
  return result?.download === undefined ? [] : [result.download];
}

/** isDownload returns true if the document that the page requested was a download, so that the tab loads no document. */
function isDownload({ load, downloads }: ActionOutcome<PageActionResult>): boolean {
  return load === 'failed' && downloads.length > 0;
}

function describeNavigation({ load, loadProblem }: ActionOutcome<PageActionResult>, isShown: boolean): string {
  if (load === 'failed') return `The page requested another document, which failed: ${loadProblem}.`;
  if (!load?.page) return 'The tab shows a new page, which does not answer yet.';
  const status = load.page.status >= 400 ? ` (status ${load.page.status})` : '';
  if (!load.isNewDocument) return 'The address changed; the document is the same.';
  const state = load.hasReachedState ? '' : ' The page is still loading.';
  const refs = isShown ? 'Earlier refs are void.' : 'Take a new snapshot; earlier refs are void.';
  return `The tab now shows another document${status}.${state} ${refs}`;
}

function returnToolFailure(error: unknown): ToolFailure {
  if (error instanceof ToolFailure) return error;
  throw error;
}

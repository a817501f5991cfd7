import type { Fields } from '../../../record.ts';
import { readChoice } from '../arguments.ts';
import type { BrowserCall, BrowserResult } from '../browser-tool.ts';
import { DebuggerCaptures } from '../debugger/captures.ts';
import type { DebuggerSession, Debuggers } from '../debugger/debuggers.ts';
import { isFrameForbidden } from '../frame-rules.ts';
import { toolFailure } from '../tool-failure.ts';
import { toArrayOrEmpty, toFields } from './debugged-frames.ts';
import { type TextRange, TextRanges } from './text-ranges.ts';

/** A navigation discards the data about used CSS rules that the worker has not read yet. */
const CoveragePollIntervalMs = 500;
const MaxSheets = 2000;
const MaxLines = 100;

export interface CoverageOptions {
  readTabUrl(tabId: number): Promise<string | undefined>;
}

/** If several successive documents load the same style sheet, they share one CoveredSheet. */
interface CoveredSheet {
  readonly name: string;
  readonly frameUrl: string;
  readonly topOrigin: string;
  readonly characters: number;
  readonly usedRanges: TextRanges;
}

/** CssCoverage records which parts of its style sheets a page uses. */
export class CssCoverage {
  readonly #captures: DebuggerCaptures<CoverageRecording>;
  readonly #options: CoverageOptions;

  constructor(debuggers: Debuggers, options: CoverageOptions) {
    this.#options = options;
    this.#captures = new DebuggerCaptures({
      debuggers,
      features: ['children'],
      start: async (session, tabId) => {
        const coverageRecording = new CoverageRecording(session, (await options.readTabUrl(tabId)) ?? '');
        await coverageRecording.start();
        return coverageRecording;
      },
      stop: (coverageRecording) => coverageRecording.stop(),
    });
  }

  /** makeHeaderFinder returns a function that finds a style sheet by debugger session ID and style sheet ID. */
  async makeHeaderFinder(
    tabId: number,
  ): Promise<((childId: string, sheetId: unknown) => Fields | undefined) | undefined> {
    const coverageRecording = await this.#captures.find(tabId);
    return coverageRecording && ((childId, sheetId) => coverageRecording.findSheetHeader(childId, sheetId));
  }

  async endSession(session: string): Promise<void> {
    await this.#captures.endSession(session);
  }

  async run(call: BrowserCall): Promise<BrowserResult> {
    const { tabId, args } = call;
    if (readChoice(args, 'action', ['start', 'stop']) === 'start') {
      await this.#captures.end(tabId);
      await this.#captures.use(tabId, call.session);
      return { text: 'Recording which CSS rules the page uses. Use the page, then call with the action stop.' };
    }
    const coverageRecording = await this.#captures.find(tabId);
    if (!coverageRecording)
      throw toolFailure(
        'not_found',
        'no recording runs in this tab, or it ended after 10 min. Call with the action start',
      );
    await coverageRecording.readUsedRules();
    const origin = readOrigin((await this.#options.readTabUrl(tabId)) ?? '');
    const listSheets = coverageRecording.sheets.filter(
      ({ topOrigin, frameUrl }) => topOrigin === origin && !isFrameForbidden(frameUrl, args),
    );
    const omittedCount = coverageRecording.sheets.length - listSheets.length;
    await this.#captures.end(tabId);
    return describeSheets(listSheets, omittedCount);
  }
}

class CoverageRecording {
  readonly #session: DebuggerSession;
  readonly #childIds = new Set<string>();
  readonly #sheets = new Map<string, CoveredSheet>();
  readonly #sheetsById = new Map<string, CoveredSheet>();
  readonly #headers = new Map<string, Fields>();
  readonly #frameUrls = new Map<string, string>();
  readonly #stopFunctions: (() => void)[] = [];
  #topOrigin: string;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(session: DebuggerSession, topUrl: string) {
    this.#session = session;
    this.#topOrigin = readOrigin(topUrl);
  }

  get sheets(): readonly CoveredSheet[] {
    return [...this.#sheets.values()];
  }

  findSheetHeader(childId: string, sheetId: unknown): Fields | undefined {
    return this.#headers.get(`${childId} ${String(sheetId)}`);
  }

  async start(): Promise<void> {
    this.#stopFunctions.push(
      this.#session.onEvent((method, params, childId) => this.#receive(method, params, childId)),
    );
    await this.#startInChildSession('');
    this.#stopFunctions.push(
      await this.#session.watchChildren(async ({ id, kind, targetId, url }) => {
        if (kind !== 'iframe') return;
        this.#frameUrls.set(targetId, url);
        await this.#startInChildSession(id);
      }),
    );
    this.#timer = setInterval(() => void this.readUsedRules(), CoveragePollIntervalMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    for (const stop of this.#stopFunctions) stop();
    for (const childId of this.#childIds)
      for (const method of ['CSS.stopRuleUsageTracking', 'CSS.disable', 'DOM.disable'])
        await this.#send(childId, method).catch(() => undefined);
  }

  /** readUsedRules reads from Chrome which CSS rules were used since the previous call of readUsedRules. */
  async readUsedRules(): Promise<void> {
    await Promise.all([...this.#childIds].map((childId) => this.#readChildUsedRules(childId)));
  }

  async #startInChildSession(childId: string): Promise<void> {
    const { frameTree } = await this.#send(childId, 'Page.getFrameTree');
    this.#recordFrameUrls(frameTree);
    // Chrome reports the style sheets that a page has already loaded only in response to CSS.enable, so turn CSS off
    // first.
    for (const method of ['Page.enable', 'DOM.enable', 'CSS.disable', 'CSS.enable', 'CSS.startRuleUsageTracking'])
      await this.#send(childId, method);
    this.#childIds.add(childId);
    await this.#readChildUsedRules(childId);
  }

  #recordFrameUrls(frameTree: unknown): void {
    const { frame, childFrames } = toFields(frameTree);
    const { id, url } = toFields(frame);
    this.#frameUrls.set(String(id), String(url));
    for (const child of toArrayOrEmpty(childFrames)) this.#recordFrameUrls(child);
  }

  #receive(method: string, params: Fields, childId: string): void {
    if (method === 'CSS.styleSheetAdded') this.#addSheet(toFields(params.header), childId);
    if (method === 'Page.frameStartedNavigating' || method === 'Page.frameRequestedNavigation')
      void this.#readChildUsedRules(childId);
    if (method === 'Target.detachedFromTarget') this.#childIds.delete(String(params.sessionId));
    if (method === 'Page.frameNavigated') {
      const { id, url, parentId } = toFields(params.frame);
      this.#frameUrls.set(String(id), String(url));
      if (parentId === undefined && childId === '') this.#topOrigin = readOrigin(String(url));
    }
  }

  #addSheet(sheetHeader: Fields, childId: string): void {
    const { styleSheetId, frameId, sourceURL, isInline, startLine, startColumn, length } = sheetHeader;
    if (this.#sheetsById.size >= MaxSheets) return;
    this.#headers.set(`${childId} ${String(styleSheetId)}`, sheetHeader);
    const frameUrl = this.#frameUrls.get(String(frameId)) ?? '';
    const url = String(sourceURL || frameUrl || 'a style sheet without an address');
    const name = isInline === true ? `${url}:${Number(startLine) + 1}:${Number(startColumn) + 1} (inline)` : url;
    const characterCount = Number(length);
    const key = `${this.#topOrigin} ${readOrigin(frameUrl)} ${name} ${characterCount}`;
    const sheet = this.#sheets.get(key) ?? {
      name,
      frameUrl,
      topOrigin: this.#topOrigin,
      characters: characterCount,
      usedRanges: new TextRanges(),
    };
    this.#sheets.set(key, sheet);
    this.#sheetsById.set(`${childId} ${String(styleSheetId)}`, sheet);
  }

  async #readChildUsedRules(childId: string): Promise<void> {
    // Chrome computes the styles of a background tab only on request. The debugger command Page.getLayoutMetrics makes
    // Chrome compute the styles of a page.
    await this.#send(childId, 'Page.getLayoutMetrics').catch(() => undefined);
    // Ignore errors, because the page may have removed the frame.
    const { coverage } = await this.#send(childId, 'CSS.takeCoverageDelta').catch((): Fields => ({}));
    for (const coverageEntry of toArrayOrEmpty(coverage)) {
      const { styleSheetId, startOffset, endOffset, used: isUsed } = toFields(coverageEntry);
      const range: TextRange = { start: Number(startOffset), end: Number(endOffset) };
      if (isUsed === true) this.#sheetsById.get(`${childId} ${String(styleSheetId)}`)?.usedRanges.add(range);
    }
  }

  #send(childId: string, method: string): Promise<Fields> {
    return this.#session.send(method, {}, undefined, childId);
  }
}

function describeSheets(coveredSheets: readonly CoveredSheet[], omittedCount: number): BrowserResult {
  const [isUsed, totalCharacters] = [
    sumOverSheets(coveredSheets, countUsedCharacters),
    sumOverSheets(coveredSheets, ({ characters: characterCount }) => characterCount),
  ];
  const sortedSheets = [...coveredSheets].sort(
    (a, b) => b.characters - countUsedCharacters(b) - (a.characters - countUsedCharacters(a)),
  );
  const sheetLines = sortedSheets.slice(0, MaxLines).map((sheet) => {
    return `${formatPercent(countUsedCharacters(sheet), sheet.characters)} ${countUsedCharacters(sheet)} of ${sheet.characters} characters ${sheet.name}`;
  });
  const resultSentences = [
    coveredSheets.length === 0
      ? 'The page has no style sheets.'
      : `Used ${isUsed} of ${totalCharacters} characters (${formatPercent(isUsed, totalCharacters)}) in ${coveredSheets.length} style ${coveredSheets.length === 1 ? 'sheet' : 'sheets'}.`,
    ...(sheetLines.length < coveredSheets.length ? [`The ${MaxLines} with the most unused characters are shown.`] : []),
    ...(omittedCount > 0 ? ['Pages of other sites, and frames that the user does not allow, are left out.'] : []),
  ];
  return { text: resultSentences.join(' '), ...(sheetLines.length > 0 ? { content: sheetLines.join('\n') } : {}) };
}

function countUsedCharacters({ usedRanges: isUsed, characters: characterCount }: CoveredSheet): number {
  return Math.min(isUsed.length, characterCount);
}

function formatPercent(partSize: number, totalSize: number): string {
  return `${totalSize === 0 ? 0 : Math.round((100 * partSize) / totalSize)} %`;
}

function sumOverSheets(coveredSheets: readonly CoveredSheet[], count: (sheet: CoveredSheet) => number): number {
  return coveredSheets.reduce((characterSum, sheet) => characterSum + count(sheet), 0);
}

function readOrigin(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '';
}

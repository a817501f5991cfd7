import { type Fields, isRecord } from '../../../record.ts';
import { awaitWithin } from '../../../within.ts';
import { readChoice, readFlag } from '../arguments.ts';
import type { BrowserCall, BrowserResult, WrittenFile } from '../browser-tool.ts';
import { DebuggerCaptures } from '../debugger/captures.ts';
import type { DebuggerSession, Debuggers } from '../debugger/debuggers.ts';
import { isFrameForbidden } from '../frame-rules.ts';
import { type NavigationBrowser, reloadPage } from '../navigation.ts';
import { makeCallFailure, makeDocumentGoneFailure, toolFailure } from '../tool-failure.ts';
import {
  type DebuggedFrame,
  type DebuggedFramesBrowser,
  readDebuggedFrames,
  toArrayOrEmpty,
  toFields,
} from './debugged-frames.ts';
import { describeEvents, describePageLoad, type PageMetrics, parsePageMetrics } from './figures.ts';
import { DebuggerWorldName, listFrameIds } from './lent-nodes.ts';
import { currentDocumentScript, newDocumentScript, readScript, stopRecorderScript } from './performance-script.ts';
import { selectEvents } from './trace.ts';

export type PerformanceBrowser = DebuggedFramesBrowser & NavigationBrowser;

const traceCategories = [
  'devtools.timeline',
  'disabled-by-default-devtools.timeline',
  'disabled-by-default-devtools.timeline.frame',
  'blink.user_timing',
  'latencyInfo',
  'loading',
  'v8.execute',
];
/** TraceBufferKb limits how much memory Chrome uses for a trace, in kilobytes. */
const TraceBufferKb = 20_000;
const MaxEvents = 300_000;
/** MaxFileCharacters limits the length of a trace file, in UTF-16 code units. */
const MaxFileCharacters = 30_000_000;
const TraceReadTimeoutMs = 30_000;
const MaxFrames = 20;

/** PerformanceRecordings records how fast pages load and respond to input. */
export class PerformanceRecordings {
  readonly #browser: PerformanceBrowser;
  readonly #captures: DebuggerCaptures<PerformanceRecording>;

  constructor(browser: PerformanceBrowser, debuggers: Debuggers) {
    this.#browser = browser;
    this.#captures = new DebuggerCaptures({
      debuggers,
      // A background tab paints and runs animation frames only while the feature "drawing" is on.
      features: ['children', 'drawing', 'dialogs'],
      start: async (session) => {
        const performanceRecording = new PerformanceRecording(session);
        await performanceRecording.start();
        return performanceRecording;
      },
      stop: (performanceRecording) => performanceRecording.stop(),
    });
  }

  async endSession(session: string): Promise<void> {
    await this.#captures.endSession(session);
  }

  async run(call: BrowserCall): Promise<BrowserResult> {
    const action = readChoice(call.args, 'action', ['start', 'stop']);
    const isReload = readFlag(call.args, 'reload');
    if (action === 'start') return await this.#start(call, isReload);
    if (isReload) throw makeCallFailure('invalid_arguments', 'the argument reload is only for the action start');
    const performanceRecording = await this.#captures.find(call.tabId);
    if (!performanceRecording)
      throw toolFailure(
        'not_found',
        'no recording runs in this tab, or it ended after 10 min. Call with the action start',
      );
    const recordingResult = await performanceRecording.read(this.#browser, call);
    await this.#captures.end(call.tabId);
    return recordingResult;
  }

  async #start(call: BrowserCall, isReload: boolean): Promise<BrowserResult> {
    const { tabId } = call;
    const hasEarlierRecording = (await this.#captures.find(tabId)) !== undefined;
    await this.#captures.end(tabId);
    const { capture } = await this.#captures.use(tabId, call.session);
    const resultSentences = ['Recording the speed of the page.'];
    if (hasEarlierRecording) resultSentences.push('The earlier recording of this tab was discarded.');
    if (isReload) {
      try {
        resultSentences.push('Reloaded the page.', await this.#reload(call));
      } catch (error) {
        await this.#captures.end(tabId);
        throw error;
      }
    }
    if (capture.traceProblem !== '') resultSentences.push(`Chrome records no trace: ${capture.traceProblem}.`);
    return { text: [...resultSentences, 'Use the page, then call with the action stop.'].join(' ') };
  }

  async #reload(call: BrowserCall): Promise<string> {
    const frames = await this.#browser.listTabFrames(call.tabId);
    const topFrame = frames.find(({ frameId }) => frameId === 0);
    if (call.documentId !== '' && topFrame?.documentId !== call.documentId)
      throw makeDocumentGoneFailure('open', false);
    return await reloadPage(this.#browser, call);
  }
}

class PerformanceRecording {
  /** traceProblem is the reason why Chrome records no performance trace. */
  traceProblem = '';
  readonly #session: DebuggerSession;
  readonly #startMs = Date.now();
  readonly #scripts = new Map<string, unknown>();
  /** #frameStartUrls contains the URL of each frame at the start of the performance recording, by frame ID. */
  readonly #frameStartUrls = new Map<string, string>();
  readonly #traceEvents: Fields[] = [];
  readonly #stopFunctions: (() => void)[] = [];
  #isTracing = false;
  #hasLostEvents = false;
  #resolveTraceEnd: () => void = () => undefined;

  constructor(session: DebuggerSession) {
    this.#session = session;
  }

  async start(): Promise<void> {
    this.#stopFunctions.push(this.#session.onEvent((method, params) => this.#receive(method, params)));
    const traceConfig = {
      recordMode: 'recordUntilFull',
      traceBufferSizeInKb: TraceBufferKb,
      includedCategories: traceCategories,
      excludedCategories: ['*'],
    };
    try {
      await this.#send('', 'Tracing.start', { transferMode: 'ReportEvents', traceConfig });
      this.#isTracing = true;
    } catch (error) {
      this.traceProblem = `Chrome did not start the trace (${error instanceof Error ? error.message : String(error)})`;
    }
    await this.#startInChildSession('');
    this.#stopFunctions.push(
      await this.#session.watchChildren(async ({ id, kind }) => {
        if (kind === 'iframe') await this.#startInChildSession(id);
      }),
    );
  }

  async stop(): Promise<void> {
    await this.#finishTrace().catch(() => undefined);
    for (const stop of this.#stopFunctions) stop();
    for (const [childId, scriptIdentifier] of this.#scripts) {
      await this.#send(childId, 'Page.removeScriptToEvaluateOnNewDocument', { identifier: scriptIdentifier }).catch(
        () => undefined,
      );
      await this.#evaluateInFrames(childId, stopRecorderScript).catch(() => undefined);
    }
  }

  async read(browser: DebuggedFramesBrowser, call: BrowserCall): Promise<BrowserResult> {
    const { frames, omittedFrameCount: skippedFrameCount } = await readDebuggedFrames(this.#session, browser, call);
    const frameMetrics = await Promise.all(
      frames.map(async (frame) => ({ frame, metrics: await this.#readFrameMetrics(frame) })),
    );
    const file = await this.#readTrace(call, frames);
    // Check which document the tab shows, because the server may not have allowed the call in a newer document.
    await readDebuggedFrames(this.#session, browser, call);
    const [topFrame, ...children] = frameMetrics;
    if (!topFrame?.metrics) throw toolFailure('timeout', 'the page did not answer. Try again');
    const isForbidden = (url: string) => isFrameForbidden(url, call.args);
    const metricLines = [...describePageLoad(topFrame.metrics), ...describeEvents(topFrame.metrics, isForbidden)];
    const shownChildren = children.flatMap(({ frame, metrics: foundMetrics }) => {
      if (!foundMetrics) return [];
      // The long tasks of the top document already include the long tasks of frames in the same process.
      const isFirst = frame.childId !== '' && frames.find(({ childId }) => childId === frame.childId) === frame;
      const shownMetrics = isFirst ? foundMetrics : { ...foundMetrics, longTasks: [], longTaskCount: 0 };
      const hasNoActivity =
        shownMetrics.shifts.length + shownMetrics.interactions.length + shownMetrics.longTasks.length === 0;
      return hasNoActivity ? [] : [[`frame ${frame.url.slice(0, 200)}`, ...describeEvents(shownMetrics, isForbidden)]];
    });
    metricLines.push(...shownChildren.slice(0, MaxFrames).flat());
    const resultSentences = [
      `Recorded ${((Date.now() - this.#startMs) / 1000).toFixed(1)} s.`,
      ...this.#makeNotes(topFrame.metrics),
    ];
    if (shownChildren.length > MaxFrames) resultSentences.push(`The first ${MaxFrames} frames are shown.`);
    if (skippedFrameCount > 0) resultSentences.push('Frames that the user does not allow are left out.');
    resultSentences.push(
      file ? 'The file is the trace, for the panel Performance of Chrome.' : `No trace: ${this.traceProblem}.`,
    );
    return { text: resultSentences.join(' '), content: metricLines.join('\n'), ...(file ? { file } : {}) };
  }

  #makeNotes({ startMs, wasHidden }: PageMetrics): string[] {
    return [
      ...(startMs > 0
        ? ['INP, CLS and long tasks count from the start; the page loaded before. Use reload to measure a load.']
        : []),
      ...(wasHidden ? ['The page was hidden for a time, in which Chrome draws late or not at all.'] : []),
      ...(this.#hasLostEvents ? ['The trace was too long: only its first part is in the file.'] : []),
    ];
  }

  async #startInChildSession(childId: string): Promise<void> {
    // Send the next command without waiting for the answer, because a new frame runs its scripts after the first
    // debugger commands.
    const addedScript = this.#send(childId, 'Page.addScriptToEvaluateOnNewDocument', {
      source: newDocumentScript,
      worldName: DebuggerWorldName,
    });
    await this.#send(childId, 'Page.enable');
    this.#scripts.set(childId, (await addedScript).identifier);
    const { frameTree } = await this.#send(childId, 'Page.getFrameTree');
    this.#recordStartUrls(frameTree);
    await this.#evaluateInFrames(childId, currentDocumentScript);
  }

  #recordStartUrls(frameTree: unknown): void {
    const { frame, childFrames } = toFields(frameTree);
    const { id, url } = toFields(frame);
    if (!this.#frameStartUrls.has(String(id))) this.#frameStartUrls.set(String(id), String(url));
    for (const child of toArrayOrEmpty(childFrames)) this.#recordStartUrls(child);
  }

  async #evaluateInFrames(childId: string, metricsExpression: string): Promise<void> {
    const { frameTree } = await this.#send(childId, 'Page.getFrameTree');
    for (const frameId of listFrameIds(frameTree))
      await this.#evaluateMetrics(childId, frameId, `void (${metricsExpression})`);
  }

  async #readFrameMetrics({ childId, frameId }: DebuggedFrame): Promise<PageMetrics | undefined> {
    return parsePageMetrics(await this.#evaluateMetrics(childId, frameId, readScript).catch(() => undefined));
  }

  async #evaluateMetrics(childId: string, frameId: string, metricsExpression: string): Promise<unknown> {
    const isolatedWorld = await this.#send(childId, 'Page.createIsolatedWorld', {
      frameId,
      worldName: DebuggerWorldName,
    });
    const { result: recordingResult } = await this.#send(childId, 'Runtime.evaluate', {
      expression: metricsExpression,
      contextId: isolatedWorld.executionContextId,
      awaitPromise: true,
      returnByValue: true,
    });
    return toFields(recordingResult).value;
  }

  #receive(method: string, params: Fields): void {
    if (method === 'Tracing.dataCollected') this.#storeEvents(toArrayOrEmpty(params.value).filter(isRecord));
    if (method !== 'Tracing.tracingComplete') return;
    this.#isTracing = false;
    this.#hasLostEvents ||= params.dataLossOccurred === true;
    this.#resolveTraceEnd();
  }

  #storeEvents(events: readonly Fields[]): void {
    const remainingEventCount = MaxEvents - this.#traceEvents.length;
    for (const event of events.slice(0, remainingEventCount)) this.#traceEvents.push(event);
    if (events.length > remainingEventCount) this.#hasLostEvents = true;
  }

  /** Chrome starts no other trace until the present trace has ended. */
  async #finishTrace(): Promise<boolean> {
    if (!this.#isTracing) return true;
    const endedPromise = new Promise<true>((resolve) => {
      this.#resolveTraceEnd = () => resolve(true);
    });
    await this.#send('', 'Tracing.end');
    return (await awaitWithin(endedPromise, TraceReadTimeoutMs)) !== undefined;
  }

  async #readTrace({ args }: BrowserCall, frames: readonly DebuggedFrame[]): Promise<WrittenFile | undefined> {
    if (!(await this.#finishTrace())) this.traceProblem = 'Chrome did not return the trace in time';
    if (this.traceProblem !== '') return undefined;
    const url = frames[0]?.url ?? '';
    const traceFilter = {
      frames: frames.map(({ frameId }) => ({ id: frameId, url: this.#frameStartUrls.get(frameId) ?? '' })),
      origin: URL.canParse(url) ? new URL(url).origin : '',
      isForbidden: (address: string) => isFrameForbidden(address, args),
    };
    const eventJsonTexts: string[] = [];
    let characterCount = 0;
    for (const event of selectEvents(this.#traceEvents, traceFilter)) {
      const eventJson = JSON.stringify(event);
      characterCount += eventJson.length + 2;
      if (characterCount > MaxFileCharacters) {
        this.#hasLostEvents = true;
        break;
      }
      eventJsonTexts.push(eventJson);
    }
    const traceHeader = JSON.stringify({
      metadata: { source: 'opentabs', startTime: new Date(this.#startMs).toISOString() },
      traceEvents: [],
    });
    const traceJson = `${traceHeader.slice(0, -']}'.length)}\n${eventJsonTexts.join(',\n')}\n]}\n`;
    return { extension: 'json', mimeType: 'application/json', text: traceJson };
  }

  #send(childId: string, method: string, params: Fields = {}): Promise<Fields> {
    return this.#session.send(method, params, undefined, childId);
  }
}

// trace.ts selects the trace events that an agent is allowed to read. Chrome traces whole processes, which may contain
// frames that the user has forbidden, and other pages of the same site.

import { type Fields, isRecord } from '../../../record.ts';
import { maskBody, maskHeader, maskUrl } from '../network/masking.ts';
import { toFields } from './debugged-frames.ts';

export interface TraceFrame {
  readonly id: string;
  /**
   * The field `url` is the URL of the frame's document when the recording started. If the page added the frame during
   * the recording, `url` is empty.
   */
  readonly url: string;
}

export interface TraceFilter {
  /**
   * The field `frames` contains the frames that the agent is allowed to read at the end of the recording, starting with
   * the top frame.
   */
  readonly frames: readonly TraceFrame[];
  /**
   * The field `origin` is the origin of the page at the end of the recording. Trace files omit events of earlier pages
   * from other origins.
   */
  readonly origin: string;
  isForbidden(url: string): boolean;
}

/** DocumentCommit is the moment when a frame replaces its document during a navigation. */
interface DocumentCommit {
  readonly timeUs: number;
  readonly frame: string;
  readonly url: string;
}

/**
 * The trace file omits all metadata events except those in allowedMetadataNames, because other metadata events contain
 * the titles of tabs.
 */
const allowedMetadataNames: ReadonlySet<unknown> = new Set([
  'thread_name',
  'process_name',
  'thread_sort_index',
  'process_sort_index',
]);

/**
 * BrowserProcessId is the process ID that the trace file uses for Chrome's browser process. Chrome omits the events of
 * the browser process from the trace.
 */
const BrowserProcessId = 1;
const frameIdPattern = /^[0-9A-F]{32}$/;
const MaxTextCharacters = 2000;
const MaxDataUrlCharacters = 100;

/**
 * selectEvents returns the trace events that an agent is allowed to read, and masks secrets in URLs, headers and JSON.
 */
export function selectEvents(events: readonly Fields[], traceFilter: TraceFilter): Fields[] {
  const [topTraceFrame] = traceFilter.frames;
  if (!topTraceFrame) return [];
  const documentCommits = readDocumentCommits(events, traceFilter.frames);
  const pages = documentCommits.filter(({ frame }) => frame === topTraceFrame.id);
  const isPageAllowed = (timeUs: number) => {
    const page = pages.findLast((commit) => commit.timeUs <= timeUs) ?? pages[0];
    return page !== undefined && readOrigin(page.url) === traceFilter.origin;
  };
  // Trace events of a page may contain the next page's URL, because the page stays visible when a navigation starts.
  const hiddenOrigins = new Set(
    pages.map(({ url }) => readOrigin(url)).filter((origin) => origin !== traceFilter.origin),
  );
  const isHidden = (url: string) => traceFilter.isForbidden(url) || hiddenOrigins.has(readOrigin(url));
  const forbiddenFrames = new Set(
    documentCommits.filter(({ url }) => traceFilter.isForbidden(url)).map(({ frame }) => frame),
  );
  const frames = new Set(
    traceFilter.frames.map(({ id }) => id).filter((id) => id === topTraceFrame.id || !forbiddenFrames.has(id)),
  );
  const processByFrame = new Map<string, unknown>();
  for (const { pid, args, ts: timestampUs } of events) {
    const frame = findEventFrame(args);
    if (frames.has(frame) && isPageAllowed(Number(timestampUs))) processByFrame.set(frame, pid);
  }
  const allowedProcesses = new Set(processByFrame.values());
  const isAllowed = ({ pid, ph, name, ts: timestampUs, args }: Fields) =>
    allowedProcesses.has(pid) &&
    (ph === 'M'
      ? allowedMetadataNames.has(name)
      : isPageAllowed(Number(timestampUs)) && listNamedFrames(args).every((frame) => frames.has(frame)));
  const shownEvents = events.flatMap((event) => {
    if (!isAllowed(event)) return [];
    const args = redactSecrets(event.args, isHidden);
    return args === undefined && event.args !== undefined ? [] : [{ ...event, args }];
  });
  if (shownEvents.length === 0) return [];
  const shownCommits = documentCommits.filter(
    ({ frame, timeUs: commitTimeUs }) => frames.has(frame) && isPageAllowed(commitTimeUs),
  );
  return [...makeCommitEvents(shownCommits, topTraceFrame.id, processByFrame), ...shownEvents];
}

/**
 * makeCommitEvents returns the events from which trace viewers determine the frames. In a complete trace, these events
 * come from Chrome's browser process.
 */
function makeCommitEvents(
  documentCommits: readonly DocumentCommit[],
  topTraceFrame: string,
  processByFrame: ReadonlyMap<string, unknown>,
): Fields[] {
  const describeDocumentCommit = ({ frame, url }: DocumentCommit) => ({
    frame,
    url: maskUrl(url).slice(0, MaxTextCharacters),
    name: '',
    processId: processByFrame.get(frame),
    ...(frame === topTraceFrame
      ? { isOutermostMainFrame: true, isInPrimaryMainFrame: true }
      : { parent: topTraceFrame }),
  });
  const traceCategory = 'disabled-by-default-devtools.timeline';
  const event = (name: string, timestampUs: number, eventData: object) => ({
    name,
    cat: traceCategory,
    ph: 'I',
    s: 't',
    pid: BrowserProcessId,
    tid: BrowserProcessId,
    ts: timestampUs,
    args: { data: eventData },
  });
  const startUs = documentCommits[0]?.timeUs ?? 0;
  const firstCommits = documentCommits.filter(
    ({ frame }, i) => documentCommits.findIndex((documentCommit) => documentCommit.frame === frame) === i,
  );
  return [
    event('TracingStartedInBrowser', startUs, {
      frameTreeNodeId: 1,
      persistentIds: true,
      frames: firstCommits.map(describeDocumentCommit),
    }),
    ...documentCommits
      .filter(({ timeUs }) => timeUs > startUs)
      .map((documentCommit) =>
        event('FrameCommittedInBrowser', documentCommit.timeUs, describeDocumentCommit(documentCommit)),
      ),
  ];
}

function readDocumentCommits(events: readonly Fields[], frames: readonly TraceFrame[]): DocumentCommit[] {
  const eventTimes = events.filter(({ ph }) => ph !== 'M').map(({ ts: timestampUs }) => Number(timestampUs));
  const startUs = eventTimes.reduce((earliestUs, time) => Math.min(earliestUs, time), eventTimes[0] ?? 0);
  const initialCommits = frames
    .filter(({ url }) => url !== '')
    .map(({ id, url }) => ({ timeUs: startUs, frame: id, url }));
  const laterCommits = events
    .filter(({ name }) => name === 'CommitLoad')
    .map(({ ts: timestampUs, args }) => ({ timeUs: Number(timestampUs), data: toFields(toFields(args).data) }))
    .map(({ timeUs, data: eventData }) => ({ timeUs, frame: String(eventData.frame), url: String(eventData.url) }));
  return [...initialCommits, ...laterCommits.sort((a, b) => a.timeUs - b.timeUs)];
}

function findEventFrame(args: unknown): string {
  const { data: eventData, beginData } = toFields(args);
  return String(toFields(eventData).frame ?? toFields(beginData).frame ?? '');
}

function listNamedFrames(args: unknown): string[] {
  if (!isRecord(args)) return [];
  return Object.entries(args).flatMap(([key, value]) => {
    if (isRecord(value)) return listNamedFrames(value);
    return /frame/i.test(key) && typeof value === 'string' && frameIdPattern.test(value) ? [value] : [];
  });
}

/** If the value contains a URL that isHidden matches, redactSecrets returns undefined. */
function redactSecrets(value: unknown, isHidden: (url: string) => boolean): unknown {
  if (typeof value === 'string') return cleanText(value, isHidden);
  if (Array.isArray(value)) {
    const redactedItems = value.map((item: unknown) => redactSecrets(item, isHidden));
    return redactedItems.includes(undefined) ? undefined : redactedItems;
  }
  if (!isRecord(value)) return value;
  const { name, value: nameText, ...otherMembers } = value;
  if (typeof name === 'string' && typeof nameText === 'string' && Object.keys(otherMembers).length === 0)
    return { name, value: maskHeader(name, nameText) };
  const members = Object.entries(value).map(([key, member]) => [key, redactSecrets(member, isHidden)] as const);
  return members.some(([, member]) => member === undefined) ? undefined : Object.fromEntries(members);
}

function cleanText(nameText: string, isHidden: (url: string) => boolean): string | undefined {
  if (/^(https?|wss?|blob:https?):/i.test(nameText)) {
    if (isHidden(nameText.replace(/^blob:/i, '').replace(/^ws/i, 'http'))) return undefined;
    return maskUrl(nameText).slice(0, MaxTextCharacters);
  }
  if (/^data:/i.test(nameText)) return nameText.slice(0, MaxDataUrlCharacters);
  return maskBody(nameText.slice(0, MaxTextCharacters), '');
}

function readOrigin(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '';
}

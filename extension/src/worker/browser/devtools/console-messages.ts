import type { Fields } from '../../../record.ts';
import { sleep } from '../../../within.ts';
import { readChoice, readFlag, readNumber } from '../arguments.ts';
import type { BrowserCall, BrowserResult } from '../browser-tool.ts';
import type { DebuggerSession, Debuggers } from '../debugger/debuggers.ts';
import {
  type DebuggedFrames,
  type DebuggedFramesBrowser,
  readDebuggedFrames,
  toFields,
  toList,
} from './debugged-frames.ts';

/** messageLevels contains the severity levels of console messages, most severe first. */
const messageLevels = ['error', 'warning', 'info', 'debug'] as const;
type Level = (typeof messageLevels)[number];

const MaxLines = 200;
const MaxMessageCharacters = 600;
/** MaxObjectPreviews limits how many logged objects are shown with their members in one tool result. */
const MaxObjectPreviews = 40;
const MaxPreviewMembers = 10;
/**
 * ReplayQuietMs is how long Chrome must report no console message before the replay of stored messages counts as
 * complete, in milliseconds.
 */
const ReplayQuietMs = 30;
const ReplayTimeoutMs = 2000;

/**
 * ConsoleMessage is a message that a page logged, an uncaught exception, or a message of the browser about the page.
 */
interface ConsoleMessage {
  readonly level: Level;
  readonly atMs: number;
  readonly text: string;
  /**
   * sourcePosition is the position in the code that logged the message, such as https://example.com/app.js:12:5, or
   * empty if the position is unknown.
   */
  readonly sourcePosition: string;
}

/** ConsoleMessages reads the console messages of pages. Chrome stores the last 1,000 console messages of each page. */
export class ConsoleMessages {
  readonly #browser: DebuggedFramesBrowser;
  readonly #debuggers: Debuggers;
  readonly #clearedAt = new Map<string, Map<number, number>>();

  constructor(browser: DebuggedFramesBrowser, debuggers: Debuggers) {
    this.#browser = browser;
    this.#debuggers = debuggers;
  }

  async endSession(session: string): Promise<void> {
    this.#clearedAt.delete(session);
  }

  async read(call: BrowserCall): Promise<BrowserResult> {
    const { args, tabId, session } = call;
    const clearedAt = this.#clearedAt.get(session) ?? new Map<number, number>();
    const level = readChoice(args, 'level', messageLevels) ?? 'info';
    const since = Math.max(readNumber(args, 'since') ?? 0, clearedAt.get(tabId) ?? 0);
    const { messages, leftOut } = await this.#debuggers.use(tabId, ['children'], async (debuggerSession) => {
      const frames = await readDebuggedFrames(debuggerSession, this.#browser, call);
      const lists = await Promise.all(
        frames.childIds.map((childId) => replayMessages(debuggerSession, frames, childId)),
      );
      return { messages: lists.flat().sort((a, b) => a.atMs - b.atMs), leftOut: frames.leftOutCount };
    });
    call.signal.throwIfAborted();
    const wanted = messages.filter(
      (message) => message.atMs > since && messageLevels.indexOf(message.level) <= messageLevels.indexOf(level),
    );
    const last = messages.at(-1)?.atMs;
    if (readFlag(args, 'clear') && last !== undefined) this.#clearedAt.set(session, clearedAt.set(tabId, last));
    const lines = countRepeated(wanted).map(formatMessage);
    const shown = lines.slice(-MaxLines);
    const words = [
      wanted.length === 0 ? 'No messages.' : `${wanted.length} ${wanted.length === 1 ? 'message' : 'messages'}.`,
      ...(shown.length < lines.length ? [`Only the last ${MaxLines} lines are shown; use level or since.`] : []),
      ...(leftOut > 0 ? ['Messages of frames that the user does not allow are left out.'] : []),
      ...(last === undefined ? [] : [`For later messages, pass {"since":${last}}`]),
    ];
    return { text: words.join(' '), ...(shown.length > 0 ? { content: shown.join('\n') } : {}) };
  }
}

/** replayMessages returns only messages of frames that the agent is allowed to read. */
async function replayMessages(
  session: DebuggerSession,
  frames: DebuggedFrames,
  childId: string,
): Promise<ConsoleMessage[]> {
  const events: { readonly method: string; readonly params: Fields }[] = [];
  const stop = session.onEvent((method, params, id) => {
    if (id === childId) events.push({ method, params });
  });
  const send = (method: string) => session.send(method, {}, undefined, childId);
  try {
    // Chrome reports stored console messages only after the debugger domains Runtime and Log are disabled and enabled
    // again.
    await send('Runtime.disable');
    await send('Log.disable');
    await send('Runtime.enable');
    // Console messages of the browser itself contain no frame ID, so they may belong to a frame on a forbidden site.
    if (!frames.sessionsWithForbiddenFrames.has(childId)) await send('Log.enable');
    for (
      let count = -1, waitedMs = 0;
      count !== events.length && waitedMs < ReplayTimeoutMs;
      waitedMs += ReplayQuietMs
    ) {
      count = events.length;
      await sleep(ReplayQuietMs);
    }
    return await readEvents(session, frames, childId, events);
  } finally {
    stop();
    await Promise.allSettled([send('Runtime.disable'), send('Log.disable')]);
  }
}

async function readEvents(
  session: DebuggerSession,
  frames: DebuggedFrames,
  childId: string,
  events: readonly { readonly method: string; readonly params: Fields }[],
): Promise<ConsoleMessage[]> {
  const frameIds = new Set(frames.frames.map(({ frameId }) => frameId));
  const contexts = new Set<unknown>();
  for (const { method, params } of events) {
    if (method !== 'Runtime.executionContextCreated') continue;
    const { id, auxData } = toFields(params.context);
    const { frameId, type } = toFields(auxData);
    // Skip the isolated worlds of the page, because other browser extensions run their scripts and log messages there.
    if (type === 'default' && typeof frameId === 'string' && frameIds.has(frameId)) contexts.add(id);
  }
  const messages: ConsoleMessage[] = [];
  let previews = 0;
  const previewOf = async (value: Fields): Promise<string> => {
    if (typeof value.objectId !== 'string' || value.type === 'function' || ++previews > MaxObjectPreviews)
      return formatValue(value);
    return await describeObject(session, childId, value);
  };
  for (const { method, params } of events) {
    if (method === 'Runtime.consoleAPICalled' && contexts.has(params.executionContextId)) {
      const texts = await Promise.all(toList(params.args).map((arg) => previewOf(toFields(arg))));
      const type = String(params.type);
      const text = `${type === 'assert' ? 'Assertion failed: ' : ''}${formatTexts(texts)}`;
      if (!['clear', 'endGroup', 'profile', 'profileEnd'].includes(type))
        messages.push({
          level: toLevel(type),
          atMs: toTimeMs(params.timestamp),
          text,
          sourcePosition: formatFirstPosition(params.stackTrace),
        });
    } else if (method === 'Runtime.exceptionThrown') {
      const details = toFields(params.exceptionDetails);
      const { executionContextId } = details;
      const isOfPage =
        executionContextId === undefined
          ? !frames.sessionsWithForbiddenFrames.has(childId)
          : contexts.has(executionContextId);
      if (isOfPage) messages.push(readException(details, params.timestamp));
    } else if (method === 'Log.entryAdded') {
      const { level, text, timestamp, url, lineNumber } = toFields(params.entry);
      const place = typeof url === 'string' ? formatPosition(url, lineNumber, undefined) : '';
      messages.push({
        level: toLevel(String(level)),
        atMs: toTimeMs(timestamp),
        text: String(text),
        sourcePosition: place,
      });
    }
  }
  return messages;
}

function readException(details: Fields, timestamp: unknown): ConsoleMessage {
  const { description, value } = toFields(details.exception);
  const reason = typeof description === 'string' ? description : JSON.stringify(value ?? null);
  const text = description === undefined && value === undefined ? String(details.text) : `Uncaught ${reason}`;
  const place =
    typeof details.url === 'string'
      ? formatPosition(details.url, details.lineNumber, details.columnNumber)
      : formatFirstPosition(details.stackTrace);
  return { level: 'error', atMs: toTimeMs(timestamp), text, sourcePosition: place };
}

/** describeObject formats the members of a logged object as text, without calling the page's getters. */
async function describeObject(session: DebuggerSession, childId: string, value: Fields): Promise<string> {
  const { objectId, subtype } = value;
  const isList = subtype === 'array' || subtype === 'typedarray';
  if (subtype !== undefined && !isList) return formatValue(value);
  const answer = await session
    .send('Runtime.getProperties', { objectId, ownProperties: true }, undefined, childId)
    .catch(() => undefined);
  if (!answer) return formatValue(value);
  const members = toList(answer.result)
    .map(toFields)
    .filter((member) => member.enumerable === true);
  const shown = members.slice(0, MaxPreviewMembers).map(({ name, value: member }) => {
    const text = member === undefined ? '(getter)' : formatValue(toFields(member));
    return isList ? text : `${String(name)}: ${text}`;
  });
  if (members.length > MaxPreviewMembers) shown.push('…');
  if (isList) return `[${shown.join(', ')}]`;
  const { className } = value;
  return `${className === 'Object' ? '' : `${String(className)} `}{${shown.join(', ')}}`;
}

/**
 * If the first argument of a console message contains placeholders such as %s, the other arguments replace the
 * placeholders.
 */
function formatTexts([first = '', ...others]: readonly string[]): string {
  const text = first.replaceAll(/%[sdifoOc%]/g, (placeholder) => {
    if (placeholder === '%%') return '%';
    const replacement = others.shift();
    if (replacement === undefined) return placeholder;
    return placeholder === '%c' ? '' : replacement;
  });
  return [text, ...others].join(' ');
}

function formatValue({ type, value, unserializableValue, description }: Fields): string {
  if (type === 'string') return String(value);
  if (type === 'undefined') return 'undefined';
  if (typeof unserializableValue === 'string') return unserializableValue;
  return typeof description === 'string' ? description : String(value);
}

function toLevel(type: string): Level {
  if (type === 'error' || type === 'assert') return 'error';
  if (type === 'warning') return 'warning';
  return type === 'debug' || type === 'verbose' ? 'debug' : 'info';
}

function toTimeMs(timestamp: unknown): number {
  return typeof timestamp === 'number' && Number.isFinite(timestamp) ? timestamp : 0;
}

function formatFirstPosition(stackTrace: unknown): string {
  const { url, lineNumber, columnNumber } = toFields(toList(toFields(stackTrace).callFrames)[0]);
  return typeof url === 'string' ? formatPosition(url, lineNumber, columnNumber) : '';
}

/** The debugger counts lines and columns from 0. */
function formatPosition(url: string, line: unknown, column: unknown): string {
  if (url === '' || typeof line !== 'number') return url;
  return typeof column === 'number' ? `${url}:${line + 1}:${column + 1}` : `${url}:${line + 1}`;
}

interface CountedMessage extends ConsoleMessage {
  readonly count: number;
}

function countRepeated(messages: readonly ConsoleMessage[]): CountedMessage[] {
  const counted: CountedMessage[] = [];
  for (const message of messages) {
    const last = counted.at(-1);
    if (
      last &&
      last.text === message.text &&
      last.level === message.level &&
      last.sourcePosition === message.sourcePosition
    )
      counted[counted.length - 1] = { ...last, count: last.count + 1 };
    else counted.push({ ...message, count: 1 });
  }
  return counted;
}

function formatMessage({ level, atMs, text, sourcePosition: place, count }: CountedMessage): string {
  const time = new Date(atMs).toISOString().slice(11, 23);
  const cut = text.length > MaxMessageCharacters ? `${text.slice(0, MaxMessageCharacters)}…` : text;
  return `${time} ${level}${count > 1 ? ` (${count} times)` : ''}: ${cut}${place === '' ? '' : ` (${place})`}`;
}

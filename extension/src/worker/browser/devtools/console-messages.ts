import type { Fields } from '../../../record.ts';
import { sleep } from '../../../within.ts';
import { readChoice, readFlag, readNumber } from '../arguments.ts';
import type { BrowserCall, BrowserResult } from '../browser-tool.ts';
import type { DebuggerSession, Debuggers } from '../debugger/debuggers.ts';
import {
  type DebuggedFrames,
  type DebuggedFramesBrowser,
  readDebuggedFrames,
  toArrayOrEmpty,
  toFields,
} from './debugged-frames.ts';

/** messageLevels contains the severity levels of console messages, most severe first. */
const messageLevels = ['error', 'warning', 'info', 'debug'] as const;
type MessageLevel = (typeof messageLevels)[number];

const MaxLines = 200;
const MaxMessageCharacters = 600;
/** MaxObjectPreviews limits how many logged objects are shown with their members in one tool result. */
const MaxObjectPreviews = 40;
const MaxPreviewMembers = 10;
/**
 * ReplayIdleMs is how long Chrome must report no console message before the replay of stored messages counts as
 * complete, in milliseconds.
 */
const ReplayIdleMs = 30;
const ReplayTimeoutMs = 2000;

/**
 * ConsoleMessage is a message that a page logged, an uncaught exception, or a message of the browser about the page.
 */
interface ConsoleMessage {
  readonly level: MessageLevel;
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
  readonly #clearTimesBySession = new Map<string, Map<number, number>>();

  constructor(browser: DebuggedFramesBrowser, debuggers: Debuggers) {
    this.#browser = browser;
    this.#debuggers = debuggers;
  }

  async endSession(session: string): Promise<void> {
    this.#clearTimesBySession.delete(session);
  }

  async read(call: BrowserCall): Promise<BrowserResult> {
    const { args, tabId, session } = call;
    const clearTimesByTab = this.#clearTimesBySession.get(session) ?? new Map<number, number>();
    const messageLevel = readChoice(args, 'level', messageLevels) ?? 'info';
    const sinceMs = Math.max(readNumber(args, 'since') ?? 0, clearTimesByTab.get(tabId) ?? 0);
    const { messages: consoleMessages, leftOut } = await this.#debuggers.use(
      tabId,
      ['children'],
      async (debuggerSession) => {
        const frames = await readDebuggedFrames(debuggerSession, this.#browser, call);
        const previewLists = await Promise.all(
          frames.childIds.map((childId) => replayMessages(debuggerSession, frames, childId)),
        );
        return { messages: previewLists.flat().sort((a, b) => a.atMs - b.atMs), leftOut: frames.omittedFrameCount };
      },
    );
    call.signal.throwIfAborted();
    const matchingMessages = consoleMessages.filter(
      (consoleMessage) =>
        consoleMessage.atMs > sinceMs &&
        messageLevels.indexOf(consoleMessage.level) <= messageLevels.indexOf(messageLevel),
    );
    const lastMessageMs = consoleMessages.at(-1)?.atMs;
    if (readFlag(args, 'clear') && lastMessageMs !== undefined)
      this.#clearTimesBySession.set(session, clearTimesByTab.set(tabId, lastMessageMs));
    const messageLines = countRepeatedMessages(matchingMessages).map(formatMessage);
    const shownLines = messageLines.slice(-MaxLines);
    const resultSentences = [
      matchingMessages.length === 0
        ? 'No messages.'
        : `${matchingMessages.length} ${matchingMessages.length === 1 ? 'message' : 'messages'}.`,
      ...(shownLines.length < messageLines.length
        ? [`Only the last ${MaxLines} lines are shown; use level or since.`]
        : []),
      ...(leftOut > 0 ? ['Messages of frames that the user does not allow are left out.'] : []),
      ...(lastMessageMs === undefined ? [] : [`For later messages, pass {"since":${lastMessageMs}}`]),
    ];
    return { text: resultSentences.join(' '), ...(shownLines.length > 0 ? { content: shownLines.join('\n') } : {}) };
  }
}

/** replayMessages returns only messages of frames that the agent is allowed to read. */
async function replayMessages(
  session: DebuggerSession,
  frames: DebuggedFrames,
  childId: string,
): Promise<ConsoleMessage[]> {
  const events: { readonly method: string; readonly params: Fields }[] = [];
  const stopListening = session.onEvent((method, params, id) => {
    if (id === childId) events.push({ method, params });
  });
  const sendToChild = (method: string) => session.send(method, {}, undefined, childId);
  try {
    // Chrome reports stored console messages only after the debugger domains Runtime and Log are disabled and enabled
    // again.
    await sendToChild('Runtime.disable');
    await sendToChild('Log.disable');
    await sendToChild('Runtime.enable');
    // Console messages of the browser itself contain no frame ID, so they may belong to a frame on a forbidden site.
    if (!frames.sessionsWithForbiddenFrames.has(childId)) await sendToChild('Log.enable');
    for (
      let count = -1, waitedMs = 0;
      count !== events.length && waitedMs < ReplayTimeoutMs;
      waitedMs += ReplayIdleMs
    ) {
      count = events.length;
      await sleep(ReplayIdleMs);
    }
    return await readEvents(session, frames, childId, events);
  } finally {
    stopListening();
    await Promise.allSettled([sendToChild('Runtime.disable'), sendToChild('Log.disable')]);
  }
}

async function readEvents(
  session: DebuggerSession,
  frames: DebuggedFrames,
  childId: string,
  events: readonly { readonly method: string; readonly params: Fields }[],
): Promise<ConsoleMessage[]> {
  const frameIds = new Set(frames.frames.map(({ frameId }) => frameId));
  const contextIds = new Set<unknown>();
  for (const { method, params } of events) {
    if (method !== 'Runtime.executionContextCreated') continue;
    const { id, auxData } = toFields(params.context);
    const { frameId, type } = toFields(auxData);
    // Skip the isolated worlds of the page, because other browser extensions run their scripts and log messages there.
    if (type === 'default' && typeof frameId === 'string' && frameIds.has(frameId)) contextIds.add(id);
  }
  const consoleMessages: ConsoleMessage[] = [];
  let previewCount = 0;
  const formatPreview = async (value: Fields): Promise<string> => {
    if (typeof value.objectId !== 'string' || value.type === 'function' || ++previewCount > MaxObjectPreviews)
      return formatValue(value);
    return await describeObject(session, childId, value);
  };
  for (const { method, params } of events) {
    if (method === 'Runtime.consoleAPICalled' && contextIds.has(params.executionContextId)) {
      const argumentTexts = await Promise.all(toArrayOrEmpty(params.args).map((arg) => formatPreview(toFields(arg))));
      const type = String(params.type);
      const messageText = `${type === 'assert' ? 'Assertion failed: ' : ''}${fillPlaceholders(argumentTexts)}`;
      if (!['clear', 'endGroup', 'profile', 'profileEnd'].includes(type))
        consoleMessages.push({
          level: toLevel(type),
          atMs: toTimeMs(params.timestamp),
          text: messageText,
          sourcePosition: formatFirstPosition(params.stackTrace),
        });
    } else if (method === 'Runtime.exceptionThrown') {
      const exceptionDetails = toFields(params.exceptionDetails);
      const { executionContextId } = exceptionDetails;
      const isAllowedContext =
        executionContextId === undefined
          ? !frames.sessionsWithForbiddenFrames.has(childId)
          : contextIds.has(executionContextId);
      if (isAllowedContext) consoleMessages.push(readException(exceptionDetails, params.timestamp));
    } else if (method === 'Log.entryAdded') {
      const { level: messageLevel, text: messageText, timestamp, url, lineNumber } = toFields(params.entry);
      const positionText = typeof url === 'string' ? formatPosition(url, lineNumber, undefined) : '';
      consoleMessages.push({
        level: toLevel(String(messageLevel)),
        atMs: toTimeMs(timestamp),
        text: String(messageText),
        sourcePosition: positionText,
      });
    }
  }
  return consoleMessages;
}

function readException(exceptionDetails: Fields, timestamp: unknown): ConsoleMessage {
  const { description, value } = toFields(exceptionDetails.exception);
  const reason = typeof description === 'string' ? description : JSON.stringify(value ?? null);
  const messageText =
    description === undefined && value === undefined ? String(exceptionDetails.text) : `Uncaught ${reason}`;
  const positionText =
    typeof exceptionDetails.url === 'string'
      ? formatPosition(exceptionDetails.url, exceptionDetails.lineNumber, exceptionDetails.columnNumber)
      : formatFirstPosition(exceptionDetails.stackTrace);
  return { level: 'error', atMs: toTimeMs(timestamp), text: messageText, sourcePosition: positionText };
}

/** describeObject formats the members of a logged object as text, without calling the page's getters. */
async function describeObject(session: DebuggerSession, childId: string, value: Fields): Promise<string> {
  const { objectId, subtype } = value;
  const isList = subtype === 'array' || subtype === 'typedarray';
  if (subtype !== undefined && !isList) return formatValue(value);
  const evaluateAnswer = await session
    .send('Runtime.getProperties', { objectId, ownProperties: true }, undefined, childId)
    .catch(() => undefined);
  if (!evaluateAnswer) return formatValue(value);
  const memberTexts = toArrayOrEmpty(evaluateAnswer.result)
    .map(toFields)
    .filter((member) => member.enumerable === true);
  const shownLines = memberTexts.slice(0, MaxPreviewMembers).map(({ name, value: member }) => {
    const messageText = member === undefined ? '(getter)' : formatValue(toFields(member));
    return isList ? messageText : `${String(name)}: ${messageText}`;
  });
  if (memberTexts.length > MaxPreviewMembers) shownLines.push('…');
  if (isList) return `[${shownLines.join(', ')}]`;
  const { className } = value;
  return `${className === 'Object' ? '' : `${String(className)} `}{${shownLines.join(', ')}}`;
}

/**
 * If the first argument of a console message contains placeholders such as %s, the other arguments replace the
 * placeholders.
 */
function fillPlaceholders([firstText = '', ...otherTexts]: readonly string[]): string {
  const messageText = firstText.replaceAll(/%[sdifoOc%]/g, (placeholder) => {
    if (placeholder === '%%') return '%';
    const replacement = otherTexts.shift();
    if (replacement === undefined) return placeholder;
    return placeholder === '%c' ? '' : replacement;
  });
  return [messageText, ...otherTexts].join(' ');
}

function formatValue({ type, value, unserializableValue, description }: Fields): string {
  if (type === 'string') return String(value);
  if (type === 'undefined') return 'undefined';
  if (typeof unserializableValue === 'string') return unserializableValue;
  return typeof description === 'string' ? description : String(value);
}

function toLevel(type: string): MessageLevel {
  if (type === 'error' || type === 'assert') return 'error';
  if (type === 'warning') return 'warning';
  return type === 'debug' || type === 'verbose' ? 'debug' : 'info';
}

function toTimeMs(timestamp: unknown): number {
  return typeof timestamp === 'number' && Number.isFinite(timestamp) ? timestamp : 0;
}

function formatFirstPosition(stackTrace: unknown): string {
  const { url, lineNumber, columnNumber } = toFields(toArrayOrEmpty(toFields(stackTrace).callFrames)[0]);
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

function countRepeatedMessages(consoleMessages: readonly ConsoleMessage[]): CountedMessage[] {
  const countedMessages: CountedMessage[] = [];
  for (const consoleMessage of consoleMessages) {
    const lastMessage = countedMessages.at(-1);
    if (
      lastMessage &&
      lastMessage.text === consoleMessage.text &&
      lastMessage.level === consoleMessage.level &&
      lastMessage.sourcePosition === consoleMessage.sourcePosition
    )
      countedMessages[countedMessages.length - 1] = { ...lastMessage, count: lastMessage.count + 1 };
    else countedMessages.push({ ...consoleMessage, count: 1 });
  }
  return countedMessages;
}

function formatMessage({
  level: messageLevel,
  atMs,
  text: messageText,
  sourcePosition: positionText,
  count,
}: CountedMessage): string {
  const time = new Date(atMs).toISOString().slice(11, 23);
  const cut =
    messageText.length > MaxMessageCharacters ? `${messageText.slice(0, MaxMessageCharacters)}…` : messageText;
  return `${time} ${messageLevel}${count > 1 ? ` (${count} times)` : ''}: ${cut}${positionText === '' ? '' : ` (${positionText})`}`;
}

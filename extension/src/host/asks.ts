import { MaxAnswerBytes, MaxMessageChars } from '../../../wire/wire.gen.ts';
import { detach } from './detach.ts';
import { abortedError, messageOf, toolError, toolErrorOf } from './failure.ts';
import { bytesOf, writeJson } from './json.ts';
import {
  abortedOf,
  addEventListener,
  apply,
  bare,
  isFiniteNumber,
  isObject,
  lookup,
  reasonOf,
  removeEventListener,
  toJson,
} from './primordials.ts';
import { type Deferred, makeDeferred } from './promise.ts';
import { cut } from './report.ts';

/** MaxOpen is how many asks of one call may be open, MaxAll how many it may make; the server has the same limits. */
const MaxOpen = 64;
const MaxAll = 1000;
/** MaxNameChars is the longest name of a tool and the longest title, in UTF-16 units. */
const MaxNameChars = 200;

/** WITHDRAWN is the body of an ask whose tool does not wait for it any more. */
const WITHDRAWN = '{"withdrawn":true}';

/** Asks are what one call has asked the server for and has no answer to. */
export interface Asks {
  /** callTool is context.call: a promise of what another tool returns. */
  callTool(tool: unknown, input: unknown, options: unknown): object;
  /** waitForUser is context.waitForUser: a promise that a person has done what was asked. */
  waitForUser(options: unknown): object;
  /** answer settles an ask; value is the output, or a wire.CallError if ok is false. */
  answer(ask: number, ok: boolean, value: unknown): void;
  /** close rejects all that is open and all that comes with what why returns. The first close counts. */
  close(why: () => unknown): void;
}

/** Open is an ask without an answer. */
interface Open {
  readonly kind: 'call' | 'user';
  readonly settled: Deferred;
  /** unlisten takes the listener from the signal that withdraws the ask. */
  unlisten(): void;
}

/** makeAsks returns the asks of a call that begins; send sends one with its number, from 1, and JSON text. */
export function makeAsks(send: (ask: number, body: string) => void): Asks {
  const table = bare();
  let last = 0;
  let open = 0;
  let closed: (() => unknown) | undefined;

  const take = (ask: number): Open | undefined => {
    const entry = table[ask];
    if (!isOpen(entry)) return undefined;
    delete table[ask];
    open--;
    entry.unlisten();
    return entry;
  };

  const ask = (kind: Open['kind'], body: string, signal: object | undefined): object => {
    const settled = makeDeferred();
    if (closed) {
      settled.reject(closed());
      return settled.promise;
    }
    if (signal && apply(abortedOf, signal, []) === true) {
      settled.reject(abortedError(apply(reasonOf, signal, [])));
      return settled.promise;
    }
    if (last >= MaxAll) {
      settled.reject(toolError(`this call has asked ${MaxAll} times, as often as one may`, 'nested_too_deep'));
      return settled.promise;
    }
    if (open >= MaxOpen) {
      settled.reject(
        toolError(`this call waits for ${MaxOpen} answers already: let some come first`, 'nested_too_deep'),
      );
      return settled.promise;
    }
    const number = ++last;
    open++;
    const withdraw = () => {
      if (!signal || apply(abortedOf, signal, []) !== true || !take(number)) return;
      send(number, WITHDRAWN);
      settled.reject(abortedError(apply(reasonOf, signal, [])));
    };
    if (signal) apply(addEventListener, signal, ['abort', withdraw]);
    const unlisten = () => {
      if (signal) apply(removeEventListener, signal, ['abort', withdraw]);
    };
    const entry: Open = { kind, settled, unlisten };
    table[number] = entry;
    send(number, body);
    return settled.promise;
  };
  /** asked turns what the tool passed into an ask; what can't be sent is a rejection. */
  const asked = (kind: Open['kind'], read: () => string, options: unknown): object => {
    try {
      const body = read();
      return ask(kind, body, signalOfOptions(options));
    } catch (error) {
      const refused = makeDeferred();
      refused.reject(error);
      return refused.promise;
    }
  };

  return {
    callTool: (tool, input, options) => asked('call', () => callBody(tool, input, options), options),
    waitForUser: (options) => asked('user', () => userBody(options), undefined),
    answer: (number, ok, value) => {
      const entry = take(number);
      if (!entry) return;
      if (!ok) entry.settled.reject(toolErrorOf(value, entry.kind === 'user'));
      else entry.settled.resolve(entry.kind === 'user' ? undefined : detach(value));
    },
    close: (why) => {
      closed ??= why;
      for (const number in table) take(+number)?.settled.reject(closed());
    },
  };
}

function isOpen(value: unknown): value is Open {
  return isObject(value);
}

/** callBody returns the JSON text of an ask for another tool. It throws a tool error for what can't be one. */
function callBody(tool: unknown, input: unknown, options: unknown): string {
  if (typeof tool !== 'string' || tool === '' || tool.length > MaxNameChars) {
    throw wrong('context.call(tool, input): tool must be the name of a tool');
  }
  const tabId = isObject(options) ? lookup(options, 'tabId') : undefined;
  if (tabId !== undefined && !isId(tabId)) throw wrong('context.call(): tabId must be a positive integer');
  const args = input === undefined || input === null ? '{}' : argsText(input);
  const tab = tabId === undefined ? '' : `,"tabId":${tabId}`;
  return `{"call":{"tool":${toJson(tool)}${tab},"args":${args}}}`;
}

function argsText(input: unknown): string {
  let text: string | undefined;
  try {
    text = writeJson(input);
  } catch (error) {
    throw wrong(`context.call(): JSON can't carry the input: ${messageOf(error)}`);
  }
  if (text?.[0] !== '{') throw wrong('context.call(tool, input): input must be an object');
  const bytes = bytesOf(text, MaxAnswerBytes);
  if (bytes > MaxAnswerBytes) {
    throw wrong(`context.call(): the input has ${bytes} bytes, the limit is ${MaxAnswerBytes} bytes`);
  }
  return text;
}

/** userBody returns the JSON text of an ask for a person. It throws a tool error for what can't be one. */
function userBody(options: unknown): string {
  const reason = isObject(options) ? lookup(options, 'reason') : undefined;
  const title = isObject(options) ? lookup(options, 'title') : undefined;
  if (typeof reason !== 'string' || reason === '') {
    throw wrong('context.waitForUser({reason}): reason must be a sentence that tells the person what to do');
  }
  const head = typeof title === 'string' && title !== '' ? `,"title":${toJson(cut(title, MaxNameChars))}` : '';
  return `{"user":{"reason":${toJson(cut(reason, MaxMessageChars))}${head}}}`;
}

/** signalOfOptions returns the signal of options, if there is one. It throws a tool error for what is none. */
function signalOfOptions(options: unknown): object | undefined {
  const signal = isObject(options) ? lookup(options, 'signal') : undefined;
  if (signal === undefined || signal === null) return undefined;
  try {
    if (isObject(signal) && typeof apply(abortedOf, signal, []) === 'boolean') return signal;
  } catch {
    // The browser's own getter refuses what is no AbortSignal.
  }
  throw wrong('context.call(): signal must be an AbortSignal');
}

function isId(value: unknown): value is number {
  return typeof value === 'number' && isFiniteNumber(value) && value > 0 && value % 1 === 0;
}

function wrong(message: string): object {
  return toolError(message, 'invalid_arguments');
}

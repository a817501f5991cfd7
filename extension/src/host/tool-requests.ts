import { MaxAnswerBytes, MaxMessageChars } from '../../../wire/wire.gen.ts';
import { detachFromPage } from './detach.ts';
import { makeAbortedError, makeSimpleToolError, readMessage, toToolError } from './failure.ts';
import { countUtf8Bytes, makeObjectText, writeJson } from './json.ts';
import {
  abortedGetter,
  addEventListener,
  apply,
  isFiniteNumber,
  isObject,
  lookup,
  makeBareObject,
  reasonGetter,
  removeEventListener,
  toJson,
} from './primordials.ts';
import { type Deferred, makeDeferred } from './promise.ts';
import { truncateMessage } from './report.ts';

/** The server enforces the limits MaxOpenToolRequests and MaxRequestsPerCall again. */
const MaxOpenToolRequests = 64;
const MaxRequestsPerCall = 1000;
/** MaxNameChars is the maximum length of a tool name and of a title, in UTF-16 units. */
const MaxNameChars = 200;

/** WITHDRAWN_REQUEST is the JSON text by which a tool withdraws a request after its signal was aborted. */
const WITHDRAWN_REQUEST = makeObjectText<'ToolAskParams'>({ withdrawn: 'true' });

/** ToolRequests manages the requests of one call to the server: calls of other tools, and waits for the user. */
export interface ToolRequests {
  /** callTool implements context.call, and returns a promise for the result of the called tool. */
  callTool(tool: unknown, input: unknown, options: unknown): object;
  /** waitForUser implements context.waitForUser, and returns a promise that resolves when the user has confirmed. */
  waitForUser(options: unknown): object;
  /** `value` is the output of the request, or a wire.CallError if `ok` is false. */
  answer(ask: number, ok: boolean, value: unknown): void;
  /**
   * The method `close` rejects all unanswered requests, and all later requests, with the error that makeError returns.
   */
  close(makeError: () => unknown): void;
}

interface OpenRequest {
  readonly kind: 'call' | 'user';
  readonly deferred: Deferred;
  removeAbortListener(): void;
}

/** The arguments of `send` are the request's number, counted from 1, and the JSON text of the request. */
export function makeToolRequests(send: (ask: number, body: string) => void): ToolRequests {
  const openRequests = makeBareObject();
  let lastNumber = 0;
  let openCount = 0;
  let closedError: (() => unknown) | undefined;

  const remove = (ask: number): OpenRequest | undefined => {
    const entry = openRequests[ask];
    if (!isOpenRequest(entry)) return undefined;
    delete openRequests[ask];
    openCount--;
    entry.removeAbortListener();
    return entry;
  };

  const sendRequest = (kind: OpenRequest['kind'], body: string, signal: object | undefined): object => {
    const deferred = makeDeferred();
    if (closedError) {
      deferred.reject(closedError());
      return deferred.promise;
    }
    if (signal && apply(abortedGetter, signal, []) === true) {
      deferred.reject(makeAbortedError(apply(reasonGetter, signal, [])));
      return deferred.promise;
    }
    if (lastNumber >= MaxRequestsPerCall) {
      deferred.reject(
        makeSimpleToolError(
          `this call has made ${MaxRequestsPerCall} requests to the server, the maximum`,
          'nested_too_deep',
        ),
      );
      return deferred.promise;
    }
    if (openCount >= MaxOpenToolRequests) {
      deferred.reject(
        makeSimpleToolError(
          `this call has ${MaxOpenToolRequests} open requests to the server, the maximum`,
          'nested_too_deep',
        ),
      );
      return deferred.promise;
    }
    const number = ++lastNumber;
    openCount++;
    const withdraw = () => {
      if (!signal || apply(abortedGetter, signal, []) !== true || !remove(number)) return;
      send(number, WITHDRAWN_REQUEST);
      deferred.reject(makeAbortedError(apply(reasonGetter, signal, [])));
    };
    if (signal) apply(addEventListener, signal, ['abort', withdraw]);
    const unlisten = () => {
      if (signal) apply(removeEventListener, signal, ['abort', withdraw]);
    };
    const entry: OpenRequest = { kind, deferred, removeAbortListener: unlisten };
    openRequests[number] = entry;
    send(number, body);
    return deferred.promise;
  };
  const startRequest = (kind: OpenRequest['kind'], readBody: () => string, options: unknown): object => {
    try {
      const body = readBody();
      return sendRequest(kind, body, readSignalOption(options));
    } catch (error) {
      const deferred = makeDeferred();
      deferred.reject(error);
      return deferred.promise;
    }
  };

  return {
    callTool: (tool, input, options) => startRequest('call', () => makeNestedCallBody(tool, input, options), options),
    waitForUser: (options) => startRequest('user', () => makeUserRequestBody(options), undefined),
    answer: (number, ok, value) => {
      const entry = remove(number);
      if (!entry) return;
      if (!ok) entry.deferred.reject(toToolError(value, entry.kind === 'user'));
      else entry.deferred.resolve(entry.kind === 'user' ? undefined : detachFromPage(value));
    },
    close: (makeError) => {
      closedError ??= makeError;
      for (const number in openRequests) remove(+number)?.deferred.reject(closedError());
    },
  };
}

function isOpenRequest(value: unknown): value is OpenRequest {
  return isObject(value);
}

function makeNestedCallBody(tool: unknown, input: unknown, options: unknown): string {
  if (typeof tool !== 'string' || tool === '' || tool.length > MaxNameChars) {
    throw makeInvalidArgumentsError('context.call(tool, input): tool must be the name of a tool');
  }
  const tabId = isObject(options) ? lookup(options, 'tabId') : undefined;
  if (tabId !== undefined && !isPositiveInteger(tabId))
    throw makeInvalidArgumentsError('context.call(): tabId must be a positive integer');
  const args = input === undefined || input === null ? '{}' : encodeArguments(input);
  const tab = tabId === undefined ? undefined : `${tabId}`;
  return makeObjectText<'ToolAskParams'>({ call: makeObjectText<'AskCall'>({ tool: toJson(tool), tabId: tab, args }) });
}

function encodeArguments(input: unknown): string {
  let text: string | undefined;
  try {
    text = writeJson(input);
  } catch (error) {
    throw makeInvalidArgumentsError(`context.call(): the input cannot be written as JSON: ${readMessage(error)}`);
  }
  if (text?.[0] !== '{') throw makeInvalidArgumentsError('context.call(tool, input): input must be an object');
  const bytes = countUtf8Bytes(text, MaxAnswerBytes);
  if (bytes > MaxAnswerBytes) {
    throw makeInvalidArgumentsError(
      `context.call(): the input has ${bytes} bytes, the limit is ${MaxAnswerBytes} bytes`,
    );
  }
  return text;
}

function makeUserRequestBody(options: unknown): string {
  const reason = isObject(options) ? lookup(options, 'reason') : undefined;
  const title = isObject(options) ? lookup(options, 'title') : undefined;
  if (typeof reason !== 'string' || reason === '') {
    throw makeInvalidArgumentsError(
      'context.waitForUser({reason}): reason must be a sentence that describes what the user must do',
    );
  }
  const user = makeObjectText<'AskUser'>({
    reason: toJson(truncateMessage(reason, MaxMessageChars)),
    title: typeof title === 'string' && title !== '' ? toJson(truncateMessage(title, MaxNameChars)) : undefined,
  });
  return makeObjectText<'ToolAskParams'>({ user });
}

function readSignalOption(options: unknown): object | undefined {
  const signal = isObject(options) ? lookup(options, 'signal') : undefined;
  if (signal === undefined || signal === null) return undefined;
  try {
    if (isObject(signal) && typeof apply(abortedGetter, signal, []) === 'boolean') return signal;
  } catch {
    // The browser's native getter throws if its `this` value is not an AbortSignal.
  }
  throw makeInvalidArgumentsError('context.call(): signal must be an AbortSignal');
}

function isPositiveInteger(value: unknown): value is number {
  return typeof value === 'number' && isFiniteNumber(value) && value > 0 && value % 1 === 0;
}

function makeInvalidArgumentsError(message: string): object {
  return makeSimpleToolError(message, 'invalid_arguments');
}

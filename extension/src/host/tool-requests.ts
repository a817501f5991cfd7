import { MaxAnswerBytes, MaxMessageChars } from '../../../wire/wire.gen.ts';
import { detachFromPagePrototypes } from './detach.ts';
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

/** The limits MaxOpenToolRequests and MaxRequestsPerCall are also enforced by the server. */
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
  /** `value` is the output of the tool request, or a wire.CallError if `isSuccess` is false. */
  answer(askId: number, isSuccess: boolean, value: unknown): void;
  /** The method `close` rejects all unanswered and all later tool requests with the error that makeError returns. */
  close(makeError: () => unknown): void;
}

interface OpenRequest {
  readonly kind: 'call' | 'user';
  readonly deferredAnswer: Deferred;
  removeAbortListener(): void;
}

/** The arguments of `sendToolRequest` are the request's number, counted from 1, and the JSON text of the request. */
export function makeToolRequests(sendToolRequest: (askId: number, requestBody: string) => void): ToolRequests {
  const openRequests = makeBareObject();
  let lastNumber = 0;
  let openRequestCount = 0;
  let closedError: (() => unknown) | undefined;

  const removeRequest = (askId: number): OpenRequest | undefined => {
    const openRequest = openRequests[askId];
    if (!isOpenRequest(openRequest)) return undefined;
    delete openRequests[askId];
    openRequestCount--;
    openRequest.removeAbortListener();
    return openRequest;
  };

  const sendRequest = (kind: OpenRequest['kind'], requestBody: string, signal: object | undefined): object => {
    const deferredAnswer = makeDeferred();
    if (closedError) {
      deferredAnswer.reject(closedError());
      return deferredAnswer.promise;
    }
    if (signal && apply(abortedGetter, signal, []) === true) {
      deferredAnswer.reject(makeAbortedError(apply(reasonGetter, signal, [])));
      return deferredAnswer.promise;
    }
    if (lastNumber >= MaxRequestsPerCall) {
      deferredAnswer.reject(
        makeSimpleToolError(
          `this call has made ${MaxRequestsPerCall} requests to the server, the maximum`,
          'nested_too_deep',
        ),
      );
      return deferredAnswer.promise;
    }
    if (openRequestCount >= MaxOpenToolRequests) {
      deferredAnswer.reject(
        makeSimpleToolError(
          `this call has ${MaxOpenToolRequests} open requests to the server, the maximum`,
          'nested_too_deep',
        ),
      );
      return deferredAnswer.promise;
    }
    const requestNumber = ++lastNumber;
    openRequestCount++;
    const withdrawRequest = () => {
      if (!signal || apply(abortedGetter, signal, []) !== true || !removeRequest(requestNumber)) return;
      sendToolRequest(requestNumber, WITHDRAWN_REQUEST);
      deferredAnswer.reject(makeAbortedError(apply(reasonGetter, signal, [])));
    };
    if (signal) apply(addEventListener, signal, ['abort', withdrawRequest]);
    const removeAbortListener = () => {
      if (signal) apply(removeEventListener, signal, ['abort', withdrawRequest]);
    };
    const openRequest: OpenRequest = { kind, deferredAnswer, removeAbortListener };
    openRequests[requestNumber] = openRequest;
    sendToolRequest(requestNumber, requestBody);
    return deferredAnswer.promise;
  };
  const startRequest = (kind: OpenRequest['kind'], readBody: () => string, options: unknown): object => {
    try {
      const requestBody = readBody();
      return sendRequest(kind, requestBody, readSignalOption(options));
    } catch (error) {
      const deferredAnswer = makeDeferred();
      deferredAnswer.reject(error);
      return deferredAnswer.promise;
    }
  };

  return {
    callTool: (tool, input, options) => startRequest('call', () => makeNestedCallBody(tool, input, options), options),
    waitForUser: (options) => startRequest('user', () => makeUserRequestBody(options), undefined),
    answer: (requestNumber, isSuccess, value) => {
      const openRequest = removeRequest(requestNumber);
      if (!openRequest) return;
      if (!isSuccess) openRequest.deferredAnswer.reject(toToolError(value, openRequest.kind === 'user'));
      else
        openRequest.deferredAnswer.resolve(openRequest.kind === 'user' ? undefined : detachFromPagePrototypes(value));
    },
    close: (makeError) => {
      closedError ??= makeError;
      for (const requestNumber in openRequests) removeRequest(+requestNumber)?.deferredAnswer.reject(closedError());
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
  let requestJson: string | undefined;
  try {
    requestJson = writeJson(input);
  } catch (error) {
    throw makeInvalidArgumentsError(`context.call(): the input cannot be written as JSON: ${readMessage(error)}`);
  }
  if (requestJson?.[0] !== '{') throw makeInvalidArgumentsError('context.call(tool, input): input must be an object');
  const bytes = countUtf8Bytes(requestJson, MaxAnswerBytes);
  if (bytes > MaxAnswerBytes) {
    throw makeInvalidArgumentsError(
      `context.call(): the input has ${bytes} bytes, the limit is ${MaxAnswerBytes} bytes`,
    );
  }
  return requestJson;
}

function makeUserRequestBody(options: unknown): string {
  const reason = isObject(options) ? lookup(options, 'reason') : undefined;
  const title = isObject(options) ? lookup(options, 'title') : undefined;
  if (typeof reason !== 'string' || reason === '') {
    throw makeInvalidArgumentsError(
      'context.waitForUser({reason}): reason must be a sentence that describes what the user must do',
    );
  }
  const askUserText = makeObjectText<'AskUser'>({
    reason: toJson(truncateMessage(reason, MaxMessageChars)),
    title: typeof title === 'string' && title !== '' ? toJson(truncateMessage(title, MaxNameChars)) : undefined,
  });
  return makeObjectText<'ToolAskParams'>({ user: askUserText });
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

function makeInvalidArgumentsError(errorMessage: string): object {
  return makeSimpleToolError(errorMessage, 'invalid_arguments');
}

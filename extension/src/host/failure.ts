import type { ErrorCode } from '../../../wire/wire.gen.ts';
import { makeObjectText } from './json.ts';
import {
  apply,
  dataProperty,
  defineProperty,
  ErrorPrototype,
  errorKind,
  exceptionMessageGetter,
  hasOwn,
  hiddenProperty,
  isArray,
  isFiniteNumber,
  isObject,
  lookup,
  setPrototypeOf,
  toJson,
} from './primordials.ts';
import { truncateMessage } from './report.ts';

/** MaxErrorChars is the maximum length of an error message, in UTF-16 units. */
const MaxErrorChars = 16 * 1024;

export function makeFailureText(code: ErrorCode, message: string): string {
  return makeErrorText(code, message, undefined);
}

function makeErrorText(code: ErrorCode, message: string, tool: string | undefined): string {
  return makeObjectText<'CallError'>({
    code: `"${code}"`,
    message: toJson(truncateMessage(message, MaxErrorChars)),
    tool,
  });
}

/** makeThrownText returns the JSON text of a wire.CallError for a value that a tool threw, and never throws. */
export function makeThrownText(thrown: unknown): string {
  return makeErrorText('tool_error', readMessage(thrown), makeToolErrorText(thrown));
}

/** readMessage returns the message of a thrown value, and never throws. */
export function readMessage(thrown: unknown): string {
  if (typeof thrown === 'string' && thrown !== '') return thrown;
  const message = isObject(thrown) ? readField(thrown, 'message') : undefined;
  if (typeof message === 'string' && message !== '') return message;
  const ownName = isObject(thrown) ? readField(thrown, 'name') : undefined;
  const name = typeof ownName === 'string' && ownName !== '' ? ownName : isObject(thrown) ? readErrorClass(thrown) : '';
  if (name !== '') return `the tool threw a ${name} without a message`;
  if (typeof thrown === 'number' || typeof thrown === 'boolean') return `the tool threw ${thrown}`;
  return 'the tool threw a value without a message';
}

function readErrorClass(thrown: object): string {
  try {
    return errorKind(thrown);
  } catch {
    return ''; // reading a field of a revoked proxy throws
  }
}

function readField(thrown: object, field: string): unknown {
  try {
    if (field === 'message' && !hasOwn(thrown, field)) {
      const exceptionMessage = readExceptionMessage(thrown);
      if (exceptionMessage !== undefined) return exceptionMessage;
    }
    return lookup(thrown, field);
  } catch {
    return undefined;
  }
}

/** readExceptionMessage reads the message of a DOMException by the browser's original getter. */
function readExceptionMessage(thrown: object): unknown {
  try {
    return apply(exceptionMessageGetter, thrown, []);
  } catch {
    return undefined;
  }
}

function makeToolErrorText(thrown: unknown): string | undefined {
  if (!isObject(thrown)) return undefined;
  const code = readField(thrown, 'code');
  if (typeof code !== 'string' || code === '') return undefined;
  const category = readField(thrown, 'category');
  const retryAfterMs = readField(thrown, 'retryAfterMs');
  const hasRetryAfter = typeof retryAfterMs === 'number' && isFiniteNumber(retryAfterMs) && retryAfterMs >= 0;
  return makeObjectText<'ToolErrorInfo'>({
    code: toJson(truncateMessage(code, 200)),
    category: typeof category === 'string' && category !== '' ? toJson(truncateMessage(category, 200)) : undefined,
    retryable: readField(thrown, 'retryable') === true ? 'true' : 'false',
    retryAfterMs: hasRetryAfter ? `${retryAfterMs}` : undefined,
  });
}

/** formatIssues formats the issues of a zod error, one "path: message" per line. */
export function formatIssues(error: unknown): string {
  const issues = isObject(error) ? readField(error, 'issues') : undefined;
  if (!isObject(issues) || !isArray(issues)) return readMessage(error);
  let text = '';
  for (let i = 0; i < issues.length && i < 100; i++) {
    const issue: unknown = hasOwn(issues, i) ? issues[i] : undefined;
    if (!isObject(issue)) continue;
    const message = readField(issue, 'message');
    const line = `${formatIssuePath(readField(issue, 'path'))}: ${typeof message === 'string' ? message : 'invalid'}`;
    text += text === '' ? line : `\n${line}`;
  }
  return text === '' ? readMessage(error) : text;
}

/** formatIssuePath formats the path ["a", 0, "b"] as "a[0].b". */
function formatIssuePath(path: unknown): string {
  if (!isObject(path) || !isArray(path) || path.length === 0) return 'arguments';
  let text = '';
  for (let i = 0; i < path.length; i++) {
    const step: unknown = hasOwn(path, i) ? path[i] : undefined;
    if (typeof step === 'number') text += `[${step}]`;
    else if (typeof step === 'string') text += text === '' ? step : `.${step}`;
  }
  return text;
}

/** makeSimpleToolError returns an error with the same fields as ToolError of the SDK. */
export function makeSimpleToolError(message: string, code: string): object {
  return makeToolError(message, code, undefined, false, undefined);
}

function makeToolError(
  message: string,
  code: string,
  category: unknown,
  retryable: boolean,
  retryAfterMs: unknown,
): object {
  // makeToolError does not use `new Error()`, because the page's Error.prepareStackTrace would then receive the error
  // and its stack.
  const error = {};
  setPrototypeOf(error, ErrorPrototype);
  const defineHidden = (name: string, value: unknown) => defineProperty(error, name, hiddenProperty(value));
  defineHidden('name', 'ToolError');
  defineHidden('message', message);
  defineHidden('stack', `ToolError: ${message}`);
  const defineOwnProperty = (name: string, value: unknown) => defineProperty(error, name, dataProperty(value));
  defineOwnProperty('code', code);
  defineOwnProperty('retryable', retryable);
  // Missing error fields are defined as undefined, because the page could define fields of these names on
  // Error.prototype.
  defineOwnProperty('category', typeof category === 'string' ? category : undefined);
  defineOwnProperty('retryAfterMs', typeof retryAfterMs === 'number' ? retryAfterMs : undefined);
  return error;
}

/** makeAbortedError returns the error of an aborted operation, with the same fields as ToolError.aborted of the SDK. */
export function makeAbortedError(reason: unknown): object {
  const why = typeof reason === 'string' ? reason : isObject(reason) ? readField(reason, 'message') : undefined;
  const error = makeSimpleToolError(typeof why === 'string' && why !== '' ? `aborted: ${why}` : 'aborted', 'aborted');
  defineProperty(error, 'cause', hiddenProperty(reason));
  return error;
}

/**
 * toToolError converts the wire.CallError of a failed tool request to a tool error. `isUserRequest` is true if the
 * failed request came from context.waitForUser.
 */
export function toToolError(failure: unknown, isUserRequest: boolean): object {
  const fieldOf = (name: string) => (isObject(failure) ? readField(failure, name) : undefined);
  const text = readMessage(failure);
  const otherError = fieldOf('tool');
  const otherCode = isObject(otherError) ? readField(otherError, 'code') : undefined;
  if (isObject(otherError) && typeof otherCode === 'string') {
    const retryable = readField(otherError, 'retryable') === true;
    return makeToolError(
      text,
      otherCode,
      readField(otherError, 'category'),
      retryable,
      readField(otherError, 'retryAfterMs'),
    );
  }
  const code = fieldOf('code');
  if (isUserRequest && code === 'denied') return makeSimpleToolError(text, 'user_denied');
  if (isUserRequest && code === 'approval_timeout') return makeSimpleToolError(text, 'user_timeout');
  return makeSimpleToolError(text, typeof code === 'string' ? code : 'internal');
}

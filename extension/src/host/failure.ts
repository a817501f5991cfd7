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

export function makeFailureText(code: ErrorCode, errorMessage: string): string {
  return makeErrorText(code, errorMessage, undefined);
}

function makeErrorText(code: ErrorCode, errorMessage: string, tool: string | undefined): string {
  return makeObjectText<'CallError'>({
    code: `"${code}"`,
    message: toJson(truncateMessage(errorMessage, MaxErrorChars)),
    tool,
  });
}

/** makeThrownText returns the JSON text of a wire.CallError for a value that a tool threw, and never throws. */
export function makeThrownText(thrownValue: unknown): string {
  return makeErrorText('tool_error', readMessage(thrownValue), makeToolErrorText(thrownValue));
}

/** readMessage returns the message of a thrown value, and never throws. */
export function readMessage(thrownValue: unknown): string {
  if (typeof thrownValue === 'string' && thrownValue !== '') return thrownValue;
  const errorMessage = isObject(thrownValue) ? readField(thrownValue, 'message') : undefined;
  if (typeof errorMessage === 'string' && errorMessage !== '') return errorMessage;
  const errorName = isObject(thrownValue) ? readField(thrownValue, 'name') : undefined;
  const name =
    typeof errorName === 'string' && errorName !== ''
      ? errorName
      : isObject(thrownValue)
        ? readErrorClass(thrownValue)
        : '';
  if (name !== '') return `the tool threw a ${name} without a message`;
  if (typeof thrownValue === 'number' || typeof thrownValue === 'boolean') return `the tool threw ${thrownValue}`;
  return 'the tool threw a value without a message';
}

function readErrorClass(thrownValue: object): string {
  try {
    return errorKind(thrownValue);
  } catch {
    return ''; // reading a field of a revoked proxy throws
  }
}

function readField(thrownValue: object, fieldName: string): unknown {
  try {
    if (fieldName === 'message' && !hasOwn(thrownValue, fieldName)) {
      const exceptionMessage = readExceptionMessage(thrownValue);
      if (exceptionMessage !== undefined) return exceptionMessage;
    }
    return lookup(thrownValue, fieldName);
  } catch {
    return undefined;
  }
}

/** readExceptionMessage reads the message of a DOMException by the browser's original getter. */
function readExceptionMessage(thrownValue: object): unknown {
  try {
    return apply(exceptionMessageGetter, thrownValue, []);
  } catch {
    return undefined;
  }
}

function makeToolErrorText(thrownValue: unknown): string | undefined {
  if (!isObject(thrownValue)) return undefined;
  const code = readField(thrownValue, 'code');
  if (typeof code !== 'string' || code === '') return undefined;
  const errorCategory = readField(thrownValue, 'category');
  const retryAfterMs = readField(thrownValue, 'retryAfterMs');
  const hasRetryAfter = typeof retryAfterMs === 'number' && isFiniteNumber(retryAfterMs) && retryAfterMs >= 0;
  return makeObjectText<'ToolErrorInfo'>({
    code: toJson(truncateMessage(code, 200)),
    category:
      typeof errorCategory === 'string' && errorCategory !== ''
        ? toJson(truncateMessage(errorCategory, 200))
        : undefined,
    retryable: readField(thrownValue, 'retryable') === true ? 'true' : 'false',
    retryAfterMs: hasRetryAfter ? `${retryAfterMs}` : undefined,
  });
}

/** formatIssues formats the issues of a zod error, one "path: message" per line. */
export function formatIssues(error: unknown): string {
  const zodIssues = isObject(error) ? readField(error, 'issues') : undefined;
  if (!isObject(zodIssues) || !isArray(zodIssues)) return readMessage(error);
  let failureText = '';
  for (let i = 0; i < zodIssues.length && i < 100; i++) {
    const zodIssue: unknown = hasOwn(zodIssues, i) ? zodIssues[i] : undefined;
    if (!isObject(zodIssue)) continue;
    const errorMessage = readField(zodIssue, 'message');
    const line = `${formatIssuePath(readField(zodIssue, 'path'))}: ${typeof errorMessage === 'string' ? errorMessage : 'invalid'}`;
    failureText += failureText === '' ? line : `\n${line}`;
  }
  return failureText === '' ? readMessage(error) : failureText;
}

/** formatIssuePath formats the path ["a", 0, "b"] as "a[0].b". */
function formatIssuePath(path: unknown): string {
  if (!isObject(path) || !isArray(path) || path.length === 0) return 'arguments';
  let failureText = '';
  for (let i = 0; i < path.length; i++) {
    const pathStep: unknown = hasOwn(path, i) ? path[i] : undefined;
    if (typeof pathStep === 'number') failureText += `[${pathStep}]`;
    else if (typeof pathStep === 'string') failureText += failureText === '' ? pathStep : `.${pathStep}`;
  }
  return failureText;
}

/** makeSimpleToolError returns an error with the same fields as ToolError of the SDK. */
export function makeSimpleToolError(errorMessage: string, code: string): object {
  return makeToolError(errorMessage, code, undefined, false, undefined);
}

function makeToolError(
  errorMessage: string,
  code: string,
  errorCategory: unknown,
  isRetryable: boolean,
  retryAfterMs: unknown,
): object {
  // makeToolError does not use `new Error()`, because the page's Error.prepareStackTrace would then receive the error
  // and its stack.
  const error = {};
  setPrototypeOf(error, ErrorPrototype);
  const defineHidden = (name: string, value: unknown) => defineProperty(error, name, hiddenProperty(value));
  defineHidden('name', 'ToolError');
  defineHidden('message', errorMessage);
  defineHidden('stack', `ToolError: ${errorMessage}`);
  const defineOwnProperty = (name: string, value: unknown) => defineProperty(error, name, dataProperty(value));
  defineOwnProperty('code', code);
  defineOwnProperty('retryable', isRetryable);
  // Missing error fields are defined as undefined, because the page could define fields of these names on
  // Error.prototype.
  defineOwnProperty('category', typeof errorCategory === 'string' ? errorCategory : undefined);
  defineOwnProperty('retryAfterMs', typeof retryAfterMs === 'number' ? retryAfterMs : undefined);
  return error;
}

/** makeAbortedError returns the error of an aborted operation, with the same fields as ToolError.aborted of the SDK. */
export function makeAbortedError(reason: unknown): object {
  const reasonText = typeof reason === 'string' ? reason : isObject(reason) ? readField(reason, 'message') : undefined;
  const error = makeSimpleToolError(
    typeof reasonText === 'string' && reasonText !== '' ? `aborted: ${reasonText}` : 'aborted',
    'aborted',
  );
  defineProperty(error, 'cause', hiddenProperty(reason));
  return error;
}

/**
 * toToolError converts the wire.CallError of a failed tool request to a tool error. `isUserRequest` is true if the
 * failed request came from context.waitForUser.
 */
export function toToolError(failure: unknown, isUserRequest: boolean): object {
  const readFailureField = (name: string) => (isObject(failure) ? readField(failure, name) : undefined);
  const failureText = readMessage(failure);
  const toolError = readFailureField('tool');
  const toolErrorCode = isObject(toolError) ? readField(toolError, 'code') : undefined;
  if (isObject(toolError) && typeof toolErrorCode === 'string') {
    const isRetryable = readField(toolError, 'retryable') === true;
    return makeToolError(
      failureText,
      toolErrorCode,
      readField(toolError, 'category'),
      isRetryable,
      readField(toolError, 'retryAfterMs'),
    );
  }
  const code = readFailureField('code');
  if (isUserRequest && code === 'denied') return makeSimpleToolError(failureText, 'user_denied');
  if (isUserRequest && code === 'approval_timeout') return makeSimpleToolError(failureText, 'user_timeout');
  return makeSimpleToolError(failureText, typeof code === 'string' ? code : 'internal');
}

import type { ErrorCode } from '../../../wire/wire.gen.ts';
import { objectText } from './json.ts';
import {
  apply,
  dataProperty,
  defineProperty,
  ErrorPrototype,
  errorKind,
  exceptionMessageOf,
  hasOwn,
  hiddenProperty,
  isArray,
  isFiniteNumber,
  isObject,
  lookup,
  setPrototypeOf,
  toJson,
} from './primordials.ts';
import { truncate } from './report.ts';

/** MaxErrorChars is the maximum length of an error message, in UTF-16 units. */
const MaxErrorChars = 16 * 1024;

/** failureText returns the JSON text of a wire.CallError. */
export function failureText(code: ErrorCode, message: string): string {
  return errorText(code, message, undefined);
}

function errorText(code: ErrorCode, message: string, tool: string | undefined): string {
  return objectText<'CallError'>({ code: `"${code}"`, message: toJson(truncate(message, MaxErrorChars)), tool });
}

/**
 * thrownText returns the JSON text of a wire.CallError for a value that a tool threw. thrownText itself never throws.
 */
export function thrownText(thrown: unknown): string {
  return errorText('tool_error', messageOf(thrown), toolText(thrown));
}

/** messageOf returns the message of a thrown value. messageOf itself never throws. */
export function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string' && thrown !== '') return thrown;
  const message = isObject(thrown) ? readField(thrown, 'message') : undefined;
  if (typeof message === 'string' && message !== '') return message;
  const own = isObject(thrown) ? readField(thrown, 'name') : undefined;
  const name = typeof own === 'string' && own !== '' ? own : isObject(thrown) ? kindOf(thrown) : '';
  if (name !== '') return `the tool threw a ${name} without a message`;
  if (typeof thrown === 'number' || typeof thrown === 'boolean') return `the tool threw ${thrown}`;
  return 'the tool threw a value without a message';
}

/** kindOf returns the name of the built-in error class of a thrown object, or the empty string. */
function kindOf(thrown: object): string {
  try {
    return errorKind(thrown);
  } catch {
    return ''; // a revoked proxy
  }
}

/** readField returns a field of a thrown object; undefined if the field cannot be read. */
function readField(thrown: object, field: string): unknown {
  try {
    if (field === 'message' && !hasOwn(thrown, field)) {
      const message = ofException(thrown);
      if (message !== undefined) return message;
    }
    return lookup(thrown, field);
  } catch {
    return undefined;
  }
}

/** ofException reads the message of a DOMException with the browser's getter, which throws for any other value. */
function ofException(thrown: object): unknown {
  try {
    return apply(exceptionMessageOf, thrown, []);
  } catch {
    return undefined;
  }
}

/**
 * toolText returns the JSON text of a wire.ToolErrorInfo. toolText returns undefined for a value without a string
 * `code`.
 */
function toolText(thrown: unknown): string | undefined {
  if (!isObject(thrown)) return undefined;
  const code = readField(thrown, 'code');
  if (typeof code !== 'string' || code === '') return undefined;
  const category = readField(thrown, 'category');
  const retryAfterMs = readField(thrown, 'retryAfterMs');
  const hasRetryAfter = typeof retryAfterMs === 'number' && isFiniteNumber(retryAfterMs) && retryAfterMs >= 0;
  return objectText<'ToolErrorInfo'>({
    code: toJson(truncate(code, 200)),
    category: typeof category === 'string' && category !== '' ? toJson(truncate(category, 200)) : undefined,
    retryable: readField(thrown, 'retryable') === true ? 'true' : 'false',
    retryAfterMs: hasRetryAfter ? `${retryAfterMs}` : undefined,
  });
}

/** issuesText formats the issues of a zod error, one "path: message" per line. */
export function issuesText(error: unknown): string {
  const issues = isObject(error) ? readField(error, 'issues') : undefined;
  if (!isObject(issues) || !isArray(issues)) return messageOf(error);
  let text = '';
  for (let i = 0; i < issues.length && i < 100; i++) {
    const issue: unknown = hasOwn(issues, i) ? issues[i] : undefined;
    if (!isObject(issue)) continue;
    const message = readField(issue, 'message');
    const line = `${pathText(readField(issue, 'path'))}: ${typeof message === 'string' ? message : 'invalid'}`;
    text += text === '' ? line : `\n${line}`;
  }
  return text === '' ? messageOf(error) : text;
}

/** pathText formats the path ["a", 0, "b"] as "a[0].b". */
function pathText(path: unknown): string {
  if (!isObject(path) || !isArray(path) || path.length === 0) return 'arguments';
  let text = '';
  for (let i = 0; i < path.length; i++) {
    const step: unknown = hasOwn(path, i) ? path[i] : undefined;
    if (typeof step === 'number') text += `[${step}]`;
    else if (typeof step === 'string') text += text === '' ? step : `.${step}`;
  }
  return text;
}

/**
 * toolError returns an error like the SDK's ToolError. If a handler rethrows this error, the call fails with the
 * error's code.
 */
export function toolError(message: string, code: string): object {
  return adviceError(message, code, undefined, false, undefined);
}

function adviceError(
  message: string,
  code: string,
  category: unknown,
  retryable: boolean,
  retryAfterMs: unknown,
): object {
  // The error is not created with `new Error()`, because the page's Error.prepareStackTrace would then receive the
  // error and its stack.
  const error = {};
  setPrototypeOf(error, ErrorPrototype);
  const hidden = (name: string, value: unknown) => defineProperty(error, name, hiddenProperty(value));
  hidden('name', 'ToolError');
  hidden('message', message);
  hidden('stack', `ToolError: ${message}`);
  const own = (name: string, value: unknown) => defineProperty(error, name, dataProperty(value));
  own('code', code);
  own('retryable', retryable);
  // Even undefined fields are defined on the error, because the page could define the same fields on Error.prototype.
  own('category', typeof category === 'string' ? category : undefined);
  own('retryAfterMs', typeof retryAfterMs === 'number' ? retryAfterMs : undefined);
  return error;
}

/** abortedError returns the error of an aborted operation, like the SDK's ToolError.aborted. */
export function abortedError(reason: unknown): object {
  const why = typeof reason === 'string' ? reason : isObject(reason) ? readField(reason, 'message') : undefined;
  const error = toolError(typeof why === 'string' && why !== '' ? `aborted: ${why}` : 'aborted', 'aborted');
  defineProperty(error, 'cause', hiddenProperty(reason));
  return error;
}

/**
 * toolErrorOf converts the wire.CallError of a failed ask to a tool error: the error of the other tool, or the reason
 * why that tool could not run. user is true if the ask is a context.waitForUser.
 */
export function toolErrorOf(failure: unknown, user: boolean): object {
  const field = (name: string) => (isObject(failure) ? readField(failure, name) : undefined);
  const text = messageOf(failure);
  const thrown = field('tool');
  const own = isObject(thrown) ? readField(thrown, 'code') : undefined;
  if (isObject(thrown) && typeof own === 'string') {
    const retryable = readField(thrown, 'retryable') === true;
    return adviceError(text, own, readField(thrown, 'category'), retryable, readField(thrown, 'retryAfterMs'));
  }
  const code = field('code');
  if (user && code === 'denied') return toolError(text, 'user_denied');
  if (user && code === 'approval_timeout') return toolError(text, 'user_timeout');
  return toolError(text, typeof code === 'string' ? code : 'internal');
}

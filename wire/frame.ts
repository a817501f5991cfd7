// Decodes, validates and encodes the JSON-RPC message frames between the extension and the server. frame.go is the Go
// counterpart of frame.ts; the tests of frame.go and frame.ts read the same files in testdata.

import {
  type BrowserHops,
  type CallError,
  CodeCallFailed,
  CodeInvalidParams,
  CodeMethodNotFound,
  Enums,
  type Method,
  type NotificationMethod,
  NotificationMethods,
  type Notifications,
  type RequestMethod,
  RequestMethods,
  type Requests,
  type RPCError,
  Shapes,
  type Types,
} from './wire.gen.ts';

/** RequestFrame is a JSON-RPC request with method M, or with any method if M is omitted. */
export type RequestFrame<M extends RequestMethod = RequestMethod> = {
  [K in M]: {
    readonly kind: 'request';
    readonly id: string;
    readonly method: K;
    readonly params: Requests[K]['params'];
  };
}[M];

/** NotificationFrame is a JSON-RPC notification with method M, or with any method if M is omitted. */
export type NotificationFrame<M extends NotificationMethod = NotificationMethod> = {
  [K in M]: { readonly kind: 'notification'; readonly method: K; readonly params: Notifications[K] };
}[M];

/**
 * ResultFrame is the response to a successful JSON-RPC request. parseFrame does not validate the result, because its
 * type depends on the request's method. Callers validate the result with checkResult.
 */
export interface ResultFrame {
  readonly kind: 'result';
  readonly id: string;
  readonly result: unknown;
}

/** ErrorFrame is the response to a failed JSON-RPC request. */
export interface ErrorFrame {
  readonly kind: 'error';
  readonly id: string;
  readonly error: RPCError;
}

/**
 * InvalidFrame is a malformed message frame. If the malformed frame is a request with an ID, `reply` is the error
 * response that the receiver sends.
 */
export interface InvalidFrame {
  readonly kind: 'invalid';
  readonly formatProblem: string;
  readonly reply?: string;
}

export type Frame = RequestFrame | NotificationFrame | ResultFrame | ErrorFrame | InvalidFrame;

/**
 * longIntegerPattern matches JSON that may contain an integer greater than 2^53, which a JavaScript number would round.
 */
const longIntegerPattern = /\d{16}/;

/**
 * keepExactInteger is a reviver for JSON.parse that preserves large integers. An integer that a JavaScript number would
 * round becomes a JSON.rawJSON object, which JSON.stringify writes with all digits. In Chrome before version 114,
 * keepExactInteger does nothing.
 */
function keepExactInteger(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !source || !/^-?\d+$/.test(source)) return value;
  const rawJSON: unknown = Reflect.get(JSON, 'rawJSON');
  return typeof rawJSON === 'function' ? Reflect.apply(rawJSON, JSON, [source]) : value;
}

/**
 * parseFrame decodes a message frame, and validates its method and each field of its params. parseFrame never throws.
 */
export function parseFrame(frameText: string): Frame {
  let value: unknown;
  try {
    value = longIntegerPattern.test(frameText) ? JSON.parse(frameText, keepExactInteger) : JSON.parse(frameText);
  } catch {
    return makeInvalidFrame('not a frame: not JSON');
  }
  if (!isObject(value)) return makeInvalidFrame('not a frame: not an object');
  const { jsonrpc, id, method, error } = value;
  const hasResult = Object.hasOwn(value, 'result');
  const hasError = error !== undefined && error !== null;
  if (jsonrpc !== '2.0') return makeInvalidFrame('not a frame: "jsonrpc" is not "2.0"');
  if (id !== undefined && typeof id !== 'string') return makeInvalidFrame('not a frame: "id" is not a string');
  if (method !== undefined && typeof method !== 'string')
    return makeInvalidFrame('not a frame: "method" is not a string');
  if (method) {
    if (hasResult || hasError) return makeInvalidFrame('not a frame: both a method and an answer');
    return id ? readRequest(id, method, value.params) : readNotification(method, value.params);
  }
  if (!id) return makeInvalidFrame('not a frame: neither a method nor an id');
  if (hasResult === hasError) return makeInvalidFrame('not a frame: an answer needs one of result and error');
  return hasResult ? { kind: 'result', id, result: value.result } : readError(id, error);
}

/** ValidationResult is the outcome of a validation: a typed value, or a description of the first problem. */
export type ValidationResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly formatProblem: string };

/** checkResult validates the result of a JSON-RPC request with the given method. */
export function checkResult<M extends RequestMethod>(
  method: M,
  resultValue: unknown,
): ValidationResult<Requests[M]['result']> {
  const formatProblem = findProblem(resultTypes.get(method) ?? '', resultValue, 'result');
  // findProblem uses shapes that are generated from the TypeScript types, so a result in which findProblem finds no
  // problem has the right type.
  const isValid = (v: unknown): v is Requests[M]['result'] => v === resultValue && formatProblem === undefined;
  return isValid(resultValue)
    ? { ok: true, value: resultValue }
    : { ok: false, formatProblem: formatProblem ?? 'result: invalid' };
}

/** checkType validates a value against a named type of the wire protocol, such as `ToolAskParams`. */
export function checkType<N extends keyof Types>(name: N, value: unknown): ValidationResult<Types[N]> {
  const formatProblem = findProblem(name, value, name);
  const isValid = (v: unknown): v is Types[N] => v === value && formatProblem === undefined;
  return isValid(value) ? { ok: true, value } : { ok: false, formatProblem: formatProblem ?? `${name}: invalid` };
}

/** encodeRequest encodes a JSON-RPC request as JSON text. */
export function encodeRequest<M extends RequestMethod>(id: string, method: M, params: Requests[M]['params']): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

/** encodeNotification encodes a JSON-RPC notification as JSON text. */
export function encodeNotification<M extends NotificationMethod>(method: M, params: Notifications[M]): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}

/** encodeResult encodes the response to a successful JSON-RPC request as JSON text. */
export function encodeResult<M extends RequestMethod>(
  id: string,
  _method: M,
  resultValue: Requests[M]['result'],
): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result: resultValue });
}

/** encodeError encodes the response to a failed JSON-RPC request as JSON text. */
export function encodeError(id: string, error: RPCError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error });
}

/**
 * encodeCallError encodes the response to a tool.dispatch request whose call failed. hops is undefined for a call that
 * is not traced or that its page did not run.
 */
export function encodeCallError(id: string, error: CallError, browserHops?: BrowserHops): string {
  const rpcError = { code: CodeCallFailed, message: error.message, data: error };
  return encodeError(id, browserHops ? { ...rpcError, hops: browserHops } : rpcError);
}

/**
 * encodeRawResult encodes the response to a tool.dispatch request. outputText is the tool's result as JSON text, which
 * is copied without parsing, or undefined if the tool returned undefined. hops is undefined for a call that is not
 * traced.
 */
export function encodeRawResult(id: string, outputText: string | undefined, browserHops?: BrowserHops): string {
  const output = outputText === undefined ? '' : `"output":${outputText}`;
  const separator = output !== '' && browserHops ? ',' : '';
  const browserHopsJson = browserHops ? `${separator}"hops":${JSON.stringify(browserHops)}` : '';
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${output}${browserHopsJson}}}`;
}

/**
 * encodeRawProgress encodes a tool.progress notification. reportsText is an array of progress reports as JSON text,
 * which is copied without parsing.
 */
export function encodeRawProgress(dispatchId: string, seq: number, reportsText: string, skipped: number): string {
  const paramsPrefix = `{"dispatchId":${JSON.stringify(dispatchId)},"seq":${seq}`;
  const skippedCountJson = skipped > 0 ? `,"skipped":${skipped}` : '';
  return `{"jsonrpc":"2.0","method":"tool.progress","params":${paramsPrefix},"reports":${reportsText}${skippedCountJson}}}`;
}

/**
 * encodeRawAsk encodes a tool.ask notification. bodyText is a ToolAskParams without dispatchId and ask, as JSON text
 * from the page. The JSON text is copied unchanged, because a JavaScript number would round large integers.
 * encodeRawAsk returns undefined if bodyText is invalid, which happens if an attacker controls the page's process.
 */
export function encodeRawAsk(dispatchId: string, askId: number, bodyText: string): string | undefined {
  let frameBody: unknown;
  try {
    frameBody = JSON.parse(bodyText);
  } catch {
    return undefined;
  }
  // The body from the page must have exactly one member, `call`, `user` or `withdrawn`, so that a page cannot override
  // dispatchId and ask.
  if (!isObject(frameBody) || Object.keys(frameBody).length !== 1) return undefined;
  if (!('call' in frameBody || 'user' in frameBody || 'withdrawn' in frameBody)) return undefined;
  if (!checkType('ToolAskParams', { ...frameBody, dispatchId, ask: askId }).ok) return undefined;
  const paramsPrefix = `{"dispatchId":${JSON.stringify(dispatchId)},"ask":${askId},`;
  return `{"jsonrpc":"2.0","method":"tool.ask","params":${paramsPrefix}${bodyText.trim().slice(1)}}`;
}

function readRequest(id: string, method: string, params: unknown): Frame {
  const knownMethod = requestMethods.get(method);
  if (!knownMethod) {
    const formatProblem = `unknown request "${truncateText(method)}"`;
    return makeInvalidFrame(formatProblem, encodeError(id, { code: CodeMethodNotFound, message: formatProblem }));
  }
  const frameBody = params ?? {};
  const formatProblem = findProblem(paramsTypes.get(knownMethod) ?? '', frameBody, 'params');
  if (formatProblem !== undefined) {
    return makeInvalidFrame(
      `${method}: ${formatProblem}`,
      encodeError(id, { code: CodeInvalidParams, message: formatProblem }),
    );
  }
  const frame = { kind: 'request', id, method: knownMethod, params: frameBody } as const;
  const isValid = (f: object): f is RequestFrame => f === frame;
  return isValid(frame) ? frame : makeInvalidFrame(`${method}: invalid`);
}

function readNotification(method: string, params: unknown): Frame {
  const knownMethod = notificationMethods.get(method);
  if (!knownMethod) return makeInvalidFrame(`unknown notification "${truncateText(method)}"`);
  const frameBody = params ?? {};
  const formatProblem = findProblem(paramsTypes.get(knownMethod) ?? '', frameBody, 'params');
  if (formatProblem !== undefined) return makeInvalidFrame(`${method}: ${formatProblem}`);
  const frame = { kind: 'notification', method: knownMethod, params: frameBody } as const;
  const isValid = (f: object): f is NotificationFrame => f === frame;
  return isValid(frame) ? frame : makeInvalidFrame(`${method}: invalid`);
}

/**
 * readError decodes the response to a failed JSON-RPC request. Error data in an unknown format is dropped, because the
 * request has failed in any case.
 */
function readError(id: string, error: unknown): Frame {
  const checkResult = checkType('RPCError', error);
  if (checkResult.ok) return { kind: 'error', id, error: checkResult.value };
  if (!isObject(error)) return makeInvalidFrame('not a frame: "error" is not an object');
  const { code, message } = error;
  if (typeof code !== 'number' || !Number.isInteger(code) || typeof message !== 'string') {
    return makeInvalidFrame('not a frame: "error" needs a code and a message');
  }
  return { kind: 'error', id, error: { code, message } };
}

function makeInvalidFrame(formatProblem: string, reply?: string): InvalidFrame {
  return reply === undefined ? { kind: 'invalid', formatProblem } : { kind: 'invalid', formatProblem, reply };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function truncateText(frameText: string): string {
  return frameText.length > 80 ? `${frameText.slice(0, 80)}...` : frameText;
}

const requestMethods: ReadonlyMap<string, RequestMethod> = new Map(RequestMethods.map((method) => [method, method]));
const notificationMethods: ReadonlyMap<string, NotificationMethod> = new Map(
  NotificationMethods.map((method) => [method, method]),
);

/** paramsTypes and resultTypes are computed only once, because the validation of each frame needs a type name. */
const paramsTypes = new Map([...RequestMethods, ...NotificationMethods].map((m) => [m, `${makeTypePrefix(m)}Params`]));
const resultTypes = new Map(RequestMethods.map((method) => [method, `${makeTypePrefix(method)}Result`]));

function makeTypePrefix(method: Method): string {
  return method
    .split('.')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

const shapesByName: Readonly<Record<string, Readonly<Record<string, string | readonly [string]>>>> = Shapes;
const enumValuesByName: Readonly<Record<string, readonly string[]>> = Enums;

interface ShapeField {
  readonly name: string;
  readonly isOptional: boolean;
  readonly isList: boolean;
  /** For a list, `type` is the name of the items' type. */
  readonly type: string;
}

const fieldsByShape = new Map(
  Object.entries(shapesByName).map(([name, shape]) => [name, Object.entries(shape).map(readField)]),
);

function readField([key, expectedType]: [string, string | readonly [string]]): ShapeField {
  const isOptional = key.endsWith('?');
  return {
    name: isOptional ? key.slice(0, -1) : key,
    isOptional,
    isList: typeof expectedType !== 'string',
    type: typeof expectedType === 'string' ? expectedType : expectedType[0],
  };
}

/** findProblem ignores fields that the type does not list. */
function findProblem(name: string, value: unknown, path: string): string | undefined {
  const formatProblem = findTypeProblem(name, value);
  return formatProblem && path + formatProblem;
}

/**
 * findTypeProblem omits the value's path from the problem: the caller adds the path only if there is a problem, because
 * most values are valid.
 */
function findTypeProblem(name: string, value: unknown): string | undefined {
  const shapeFields = fieldsByShape.get(name);
  if (!shapeFields) return findScalarProblem(name, value);
  if (!isObject(value)) return `: must be an object, got ${describeValueType(value)}`;
  for (const shapeField of shapeFields) {
    if (!Object.hasOwn(value, shapeField.name)) {
      if (shapeField.isOptional) continue;
      return `.${shapeField.name}: missing`;
    }
    const fieldValue = value[shapeField.name];
    const formatProblem = shapeField.isList
      ? findListProblem(shapeField.type, fieldValue)
      : findTypeProblem(shapeField.type, fieldValue);
    if (formatProblem !== undefined) return `.${shapeField.name}${formatProblem}`;
  }
  return undefined;
}

function findListProblem(name: string, value: unknown): string | undefined {
  if (!Array.isArray(value)) return `: must be an array, got ${describeValueType(value)}`;
  for (const [i, item] of value.entries()) {
    const formatProblem = findTypeProblem(name, item);
    if (formatProblem !== undefined) return `[${i}]${formatProblem}`;
  }
  return undefined;
}

function findScalarProblem(name: string, value: unknown): string | undefined {
  const enumValues = enumValuesByName[name];
  if (enumValues) {
    if (typeof value === 'string' && enumValues.includes(value)) return undefined;
    return `: must be one of ${enumValues.join(', ')}, got ${typeof value === 'string' ? `"${truncateText(value)}"` : describeValueType(value)}`;
  }
  switch (name) {
    case 'unknown':
      return undefined;
    case 'integer':
      return Number.isSafeInteger(value) ? undefined : `: must be an integer, got ${describeValueType(value)}`;
    default:
      return typeof value === name ? undefined : `: must be a ${name}, got ${describeValueType(value)}`;
  }
}

function describeValueType(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}

// The single place that turns bytes from outside into typed frames, and typed
// values into frames. The Go side is frame.go; both read testdata/.

import {
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

/** RequestFrame is a frame that wants an answer. Without M it is the union over all methods. */
export type RequestFrame<M extends RequestMethod = RequestMethod> = {
  [K in M]: {
    readonly kind: 'request';
    readonly id: string;
    readonly method: K;
    readonly params: Requests[K]['params'];
  };
}[M];

/** NotificationFrame is a frame that wants none. Without M it is the union over all methods. */
export type NotificationFrame<M extends NotificationMethod = NotificationMethod> = {
  [K in M]: { readonly kind: 'notification'; readonly method: K; readonly params: Notifications[K] };
}[M];

/** ResultFrame answers a request. Its result is unchecked: readResult checks it by the method that was asked. */
export interface ResultFrame {
  readonly kind: 'result';
  readonly id: string;
  readonly result: unknown;
}

/** ErrorFrame answers a request that failed. */
export interface ErrorFrame {
  readonly kind: 'error';
  readonly id: string;
  readonly error: RPCError;
}

/**
 * InvalidFrame is what could not be read. If the sender waits for an answer, reply is the frame to send back; a
 * problem never throws.
 */
export interface InvalidFrame {
  readonly kind: 'invalid';
  readonly problem: string;
  readonly reply?: string;
}

export type Frame = RequestFrame | NotificationFrame | ResultFrame | ErrorFrame | InvalidFrame;

/** longDigits finds what may be an integer beyond 2^53. */
const longDigits = /\d{16}/;

/**
 * exactInteger is a reviver that keeps integers which a number would round as JSON.rawJSON objects: JSON.stringify writes
 * them as they came. (Both need Chrome 114; elsewhere numbers are as JSON.parse makes them.)
 */
function exactInteger(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !source || !/^-?\d+$/.test(source)) return value;
  const rawJSON: unknown = Reflect.get(JSON, 'rawJSON');
  return typeof rawJSON === 'function' ? Reflect.apply(rawJSON, JSON, [source]) : value;
}

/** parseFrame reads one frame and checks it: the envelope, the method, and the params field by field. */
export function parseFrame(text: string): Frame {
  let value: unknown;
  try {
    value = longDigits.test(text) ? JSON.parse(text, exactInteger) : JSON.parse(text);
  } catch {
    return invalid('not a frame: not JSON');
  }
  if (!isObject(value)) return invalid('not a frame: not an object');
  const { jsonrpc, id, method, error } = value;
  const answered = Object.hasOwn(value, 'result');
  const failed = error !== undefined && error !== null;
  if (jsonrpc !== '2.0') return invalid('not a frame: "jsonrpc" is not "2.0"');
  if (id !== undefined && typeof id !== 'string') return invalid('not a frame: "id" is not a string');
  if (method !== undefined && typeof method !== 'string') return invalid('not a frame: "method" is not a string');
  if (method) {
    if (answered || failed) return invalid('not a frame: both a method and an answer');
    return id ? readRequest(id, method, value.params) : readNotification(method, value.params);
  }
  if (!id) return invalid('not a frame: neither a method nor an id');
  if (answered === failed) return invalid('not a frame: an answer needs one of result and error');
  return answered ? { kind: 'result', id, result: value.result } : readError(id, error);
}

/** Read is a value that was checked, or what is wrong with it. */
export type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** readResult checks the result of a request that this side made. */
export function readResult<M extends RequestMethod>(method: M, result: unknown): Read<Requests[M]['result']> {
  const problem = shapeProblem(`${typeBase(method)}Result`, result, 'result');
  // The shape was generated from the type, so a value without a problem has the type.
  const fits = (v: unknown): v is Requests[M]['result'] => v === result && problem === undefined;
  return fits(result) ? { ok: true, value: result } : { ok: false, problem: problem ?? 'result: not readable' };
}

/** readAs checks any value against one frame body, such as what crossed a port inside the extension. */
export function readAs<N extends keyof Types>(name: N, value: unknown): Read<Types[N]> {
  const problem = shapeProblem(name, value, name);
  const fits = (v: unknown): v is Types[N] => v === value && problem === undefined;
  return fits(value) ? { ok: true, value } : { ok: false, problem: problem ?? `${name}: not readable` };
}

/** request returns the text of a request. */
export function request<M extends RequestMethod>(id: string, method: M, params: Requests[M]['params']): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

/** notification returns the text of a notification. */
export function notification<M extends NotificationMethod>(method: M, params: Notifications[M]): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}

/** resultFrame returns the text of an answer to a request of the given method. */
export function resultFrame<M extends RequestMethod>(id: string, _method: M, result: Requests[M]['result']): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}

/** errorFrame returns the text of an answer to a request that failed. */
export function errorFrame(id: string, error: RPCError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error });
}

/** callErrorFrame answers tool.dispatch with why the call failed. */
export function callErrorFrame(id: string, error: CallError): string {
  return errorFrame(id, { code: CodeCallFailed, message: error.message, data: error });
}

/**
 * rawResultFrame answers tool.dispatch with a result that is JSON text already, which is not parsed here. Without a
 * text the tool returned undefined.
 */
export function rawResultFrame(id: string, outputText: string | undefined): string {
  const result = outputText === undefined ? '{}' : `{"output":${outputText}}`;
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

/**
 * rawProgressFrame returns a tool.progress notification for reports that are the JSON text of an array already, which
 * is not parsed here.
 */
export function rawProgressFrame(dispatchId: string, seq: number, reportsText: string, skipped: number): string {
  const head = `{"dispatchId":${JSON.stringify(dispatchId)},"seq":${seq}`;
  const tail = skipped > 0 ? `,"skipped":${skipped}` : '';
  return `{"jsonrpc":"2.0","method":"tool.progress","params":${head},"reports":${reportsText}${tail}}}`;
}

function readRequest(id: string, method: string, params: unknown): Frame {
  const known = RequestMethods.find((m) => m === method);
  if (!known) {
    const problem = `unknown request "${clip(method)}"`;
    return invalid(problem, errorFrame(id, { code: CodeMethodNotFound, message: problem }));
  }
  const body = params ?? {};
  const problem = shapeProblem(`${typeBase(known)}Params`, body, 'params');
  if (problem !== undefined) {
    return invalid(`${method}: ${problem}`, errorFrame(id, { code: CodeInvalidParams, message: problem }));
  }
  const frame = { kind: 'request', id, method: known, params: body } as const;
  const fits = (f: object): f is RequestFrame => f === frame;
  return fits(frame) ? frame : invalid(`${method}: not readable`);
}

function readNotification(method: string, params: unknown): Frame {
  const known = NotificationMethods.find((m) => m === method);
  if (!known) return invalid(`unknown notification "${clip(method)}"`);
  const body = params ?? {};
  const problem = shapeProblem(`${typeBase(known)}Params`, body, 'params');
  if (problem !== undefined) return invalid(`${method}: ${problem}`);
  const frame = { kind: 'notification', method: known, params: body } as const;
  const fits = (f: object): f is NotificationFrame => f === frame;
  return fits(frame) ? frame : invalid(`${method}: not readable`);
}

/** readError keeps an error whose data this version does not know, without the data: the request has failed anyway. */
function readError(id: string, error: unknown): Frame {
  const whole = readAs('RPCError', error);
  if (whole.ok) return { kind: 'error', id, error: whole.value };
  if (!isObject(error)) return invalid('not a frame: "error" is not an object');
  const { code, message } = error;
  if (typeof code !== 'number' || !Number.isInteger(code) || typeof message !== 'string') {
    return invalid('not a frame: "error" needs a code and a message');
  }
  return { kind: 'error', id, error: { code, message } };
}

function invalid(problem: string, reply?: string): InvalidFrame {
  return reply === undefined ? { kind: 'invalid', problem } : { kind: 'invalid', problem, reply };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** clip keeps what a peer sent from filling a log line. */
function clip(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}

/** typeBase turns "tool.dispatch" into "ToolDispatch", as the generator does. */
function typeBase(method: Method): string {
  return method
    .split('.')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

const shapes: Readonly<Record<string, Readonly<Record<string, string | readonly [string]>>>> = Shapes;
const enums: Readonly<Record<string, readonly string[]>> = Enums;

/** shapeProblem says what keeps value from having the named shape; fields it does not know are left alone. */
function shapeProblem(name: string, value: unknown, where: string): string | undefined {
  const shape = shapes[name];
  if (!shape) return scalarProblem(name, value, where);
  if (!isObject(value)) return `${where}: want an object, got ${kindOf(value)}`;
  for (const [key, want] of Object.entries(shape)) {
    const optional = key.endsWith('?');
    const field = optional ? key.slice(0, -1) : key;
    const here = `${where}.${field}`;
    if (!Object.hasOwn(value, field)) {
      if (optional) continue;
      return `${here}: missing`;
    }
    const problem =
      typeof want === 'string' ? shapeProblem(want, value[field], here) : listProblem(want[0], value[field], here);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function listProblem(name: string, value: unknown, where: string): string | undefined {
  if (!Array.isArray(value)) return `${where}: want an array, got ${kindOf(value)}`;
  for (const [i, item] of value.entries()) {
    const problem = shapeProblem(name, item, `${where}[${i}]`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function scalarProblem(name: string, value: unknown, where: string): string | undefined {
  const values = enums[name];
  if (values) {
    if (typeof value === 'string' && values.includes(value)) return undefined;
    return `${where}: want one of ${values.join(', ')}, got ${typeof value === 'string' ? `"${clip(value)}"` : kindOf(value)}`;
  }
  switch (name) {
    case 'unknown':
      return undefined;
    case 'integer':
      return Number.isSafeInteger(value) ? undefined : `${where}: want an integer, got ${kindOf(value)}`;
    default:
      return typeof value === name ? undefined : `${where}: want a ${name}, got ${kindOf(value)}`;
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}

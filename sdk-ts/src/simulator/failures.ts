import { makeFailureHint, makeLossHint, makeMissingResultHint } from '../runtime/hints.ts';
import { hasProperties, isMethod, type Properties, readMessage } from '../runtime/value.ts';

/** A tool call of the current test that failed because its handler threw an error. */
export interface FailedCall {
  readonly tool: string;
  readonly message: string;
  readonly stack: string;
}

export interface CallDiagnostics {
  readonly failedCalls: readonly FailedCall[];
  readonly hints: readonly string[];
}

const maxFailedCalls = 3;
const maxHints = 5;

let failedCalls: FailedCall[] = [];
let hints: string[] = [];

export function drainCallNotes(): CallDiagnostics {
  const notes = { failedCalls, hints };
  failedCalls = [];
  hints = [];
  return notes;
}

export function addHint(hint: string): void {
  if (hints.length < maxHints && !hints.includes(hint)) hints.push(hint);
}

export function addThrownError(tool: string, error: unknown): void {
  const message = readMessage(error);
  const hint = makeFailureHint(error, message);
  if (hint !== '') addHint(`${tool}: ${hint}`);
  const stack = hasProperties(error) && typeof error.stack === 'string' ? error.stack : '';
  if (failedCalls.length < maxFailedCalls) failedCalls.push({ tool, message, stack });
}

/** findJsonLosses throws a TypeError if the tool's result contains a circular reference. */
export function findJsonLosses(tool: string, value: unknown, outputSchema: unknown): readonly string[] {
  const losses: string[] = [];
  const hint = value === undefined ? makeMissingResultHint(outputSchema) : '';
  if (hint !== '') losses.push(`${tool}: the handler ${hint}`);
  collectLosses(value, '', [], (path, loss) => losses.push(`${tool}: ${path === '' ? 'the result' : path} ${loss}`));
  return losses;
}

function collectLosses(
  value: unknown,
  path: string,
  ancestors: readonly object[],
  onLoss: (path: string, hint: string) => void,
) {
  if (!hasProperties(value) || (isConvertedByJson(value) && !isDomNode(value))) return;
  if (ancestors.includes(value))
    throw new TypeError(
      `${path} is circular: it refers back to an object that contains it; copy only the fields that agents need`,
    );
  const hint = Array.isArray(value) || isPlainObject(value) ? '' : makeLossHint(value);
  if (hint !== '') onLoss(path, hint);
  if (isMethod(value) || isDomNode(value)) return;
  const keyPath = (key: string) => {
    if (Array.isArray(value)) return `${path === '' ? 'result' : path}[${key}]`;
    return path === '' ? key : `${path}.${key}`;
  };
  for (const key of Object.keys(value)) collectLosses(value[key], keyPath(key), [...ancestors, value], onLoss);
}

function isConvertedByJson(value: Properties): boolean {
  return (
    isMethod(value.toJSON) || value instanceof Date || [String, Number, Boolean].some((type) => value instanceof type)
  );
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isDomNode(value: Properties): boolean {
  return typeof value.nodeType === 'number' && typeof value.nodeName === 'string';
}

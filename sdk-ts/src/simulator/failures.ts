import { makeFailureHint, makeJsonLossHint, makeMissingResultHint } from '../runtime/hints.ts';
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
let pendingHints: string[] = [];

export function drainCallDiagnostics(): CallDiagnostics {
  const notes = { failedCalls, hints: pendingHints };
  failedCalls = [];
  pendingHints = [];
  return notes;
}

export function addFailureHint(hintText: string): void {
  if (pendingHints.length < maxHints && !pendingHints.includes(hintText)) pendingHints.push(hintText);
}

export function addThrownError(tool: string, error: unknown): void {
  const message = readMessage(error);
  const hintText = makeFailureHint(error, message);
  if (hintText !== '') addFailureHint(`${tool}: ${hintText}`);
  const stack = hasProperties(error) && typeof error.stack === 'string' ? error.stack : '';
  if (failedCalls.length < maxFailedCalls) failedCalls.push({ tool, message, stack });
}

/** findJsonLosses throws a TypeError if the tool's result contains a circular reference. */
export function findJsonLosses(tool: string, value: unknown, outputSchema: unknown): readonly string[] {
  const jsonLossTexts: string[] = [];
  const hintText = value === undefined ? makeMissingResultHint(outputSchema) : '';
  if (hintText !== '') jsonLossTexts.push(`${tool}: the handler ${hintText}`);
  collectJsonLosses(value, '', [], (path, jsonLossText) =>
    jsonLossTexts.push(`${tool}: ${path === '' ? 'the result' : path} ${jsonLossText}`),
  );
  return jsonLossTexts;
}

function collectJsonLosses(
  value: unknown,
  path: string,
  ancestors: readonly object[],
  onLoss: (path: string, hintText: string) => void,
) {
  if (!hasProperties(value) || (isConvertedByJson(value) && !isDomNode(value))) return;
  if (ancestors.includes(value))
    throw new TypeError(
      `${path} is circular: it refers back to an object that contains it; copy only the fields that agents need`,
    );
  const hintText = Array.isArray(value) || isPlainObject(value) ? '' : makeJsonLossHint(value);
  if (hintText !== '') onLoss(path, hintText);
  if (isMethod(value) || isDomNode(value)) return;
  const makeKeyPath = (key: string) => {
    if (Array.isArray(value)) return `${path === '' ? 'result' : path}[${key}]`;
    return path === '' ? key : `${path}.${key}`;
  };
  for (const key of Object.keys(value)) collectJsonLosses(value[key], makeKeyPath(key), [...ancestors, value], onLoss);
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

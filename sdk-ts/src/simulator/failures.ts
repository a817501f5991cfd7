import { failureHint, lossHint, missingResultHint } from '../runtime/hints.ts';
import { hasProperties, isMethod, messageOf, type Properties } from '../runtime/value.ts';

// Collects notes for the author about the calls of a test, for the report of a failed test.

/** FailedCall is a call of the current test that failed because its tool threw an error. */
export interface FailedCall {
  readonly tool: string;
  readonly message: string;
  readonly stack: string;
}

/** Contains the notes and the errors of the calls of one test. */
export interface CallNotes {
  readonly failedCalls: readonly FailedCall[];
  /** Contains advice about the calls of a test, one text for each mistake. */
  readonly hints: readonly string[];
}

/** Limits the notes about one test, in number and length. */
const maxFailedCalls = 3;
const maxHints = 5;

let failedCalls: FailedCall[] = [];
let hints: string[] = [];

/** Returns the notes that were collected since the last call of this function. */
export function takeCallNotes(): CallNotes {
  const notes = { failedCalls, hints };
  failedCalls = [];
  hints = [];
  return notes;
}

/** Adds advice to the notes about the current test. */
export function addHint(hint: string): void {
  if (hints.length < maxHints && !hints.includes(hint)) hints.push(hint);
}

/** Adds an error that a tool threw to the notes about the current test. */
export function addThrown(tool: string, error: unknown): void {
  const message = messageOf(error);
  const hint = failureHint(error, message);
  if (hint !== '') addHint(`${tool}: ${hint}`);
  const stack = hasProperties(error) && typeof error.stack === 'string' ? error.stack : '';
  if (failedCalls.length < maxFailedCalls) failedCalls.push({ tool, message, stack });
}

/**
 * Returns advice about each part of a result that JSON loses, such as `get_items: items[3].el is a DOM node`.
 * Throws a TypeError for a result with a circular reference.
 */
export function findLosses(tool: string, value: unknown, outputSchema: unknown): readonly string[] {
  const losses: string[] = [];
  const hint = value === undefined ? missingResultHint(outputSchema) : '';
  if (hint !== '') losses.push(`${tool}: the handler ${hint}`);
  visit(value, '', [], (path, loss) => losses.push(`${tool}: ${path === '' ? 'the result' : path} ${loss}`));
  return losses;
}

function visit(value: unknown, path: string, parents: readonly object[], onLoss: (path: string, hint: string) => void) {
  if (!hasProperties(value) || (isConverted(value) && !isNode(value))) return;
  if (parents.includes(value))
    throw new TypeError(
      `${path} is circular: it refers back to an object that contains it; copy only the fields that agents need`,
    );
  const hint = Array.isArray(value) || isPlain(value) ? '' : lossHint(value);
  if (hint !== '') onLoss(path, hint);
  if (isMethod(value) || isNode(value)) return;
  const keyPath = (key: string) => {
    if (Array.isArray(value)) return `${path === '' ? 'result' : path}[${key}]`;
    return path === '' ? key : `${path}.${key}`;
  };
  for (const key of Object.keys(value)) visit(value[key], keyPath(key), [...parents, value], onLoss);
}

/** Reports whether JSON.stringify writes another value in place of `value`. */
function isConverted(value: Properties): boolean {
  return (
    isMethod(value.toJSON) || value instanceof Date || [String, Number, Boolean].some((type) => value instanceof type)
  );
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isNode(value: Properties): boolean {
  return typeof value.nodeType === 'number' && typeof value.nodeName === 'string';
}

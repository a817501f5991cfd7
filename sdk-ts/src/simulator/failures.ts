import { failureHint, lossHint, missingResultHint } from '../runtime/hints.ts';
import { hasProperties, isMethod, messageOf, type Properties } from '../runtime/value.ts';

// Collects errors and advice about a test's tool calls, which `opentabs plugin test` prints if the test fails.

/** A tool call of the current test that failed because its handler threw an error. */
export interface FailedCall {
  readonly tool: string;
  readonly message: string;
  readonly stack: string;
}

/** Errors and advice about the tool calls of one test. */
export interface CallNotes {
  readonly failedCalls: readonly FailedCall[];
  /** Advice for the plugin's author, one text for each mistake. */
  readonly hints: readonly string[];
}

/** Limits for what the report of one failed test prints about its tool calls. */
const maxFailedCalls = 3;
const maxHints = 5;

let failedCalls: FailedCall[] = [];
let hints: string[] = [];

/** Returns the errors and advice that were collected since the last call of takeCallNotes. */
export function takeCallNotes(): CallNotes {
  const notes = { failedCalls, hints };
  failedCalls = [];
  hints = [];
  return notes;
}

/** Adds advice for the plugin's author to the report of the current test. */
export function addHint(hint: string): void {
  if (hints.length < maxHints && !hints.includes(hint)) hints.push(hint);
}

/** Adds an error that a tool's handler threw to the report of the current test. */
export function addThrown(tool: string, error: unknown): void {
  const message = messageOf(error);
  const hint = failureHint(error, message);
  if (hint !== '') addHint(`${tool}: ${hint}`);
  const stack = hasProperties(error) && typeof error.stack === 'string' ? error.stack : '';
  if (failedCalls.length < maxFailedCalls) failedCalls.push({ tool, message, stack });
}

/**
 * Returns advice about each part of a tool's result that JSON cannot represent, such as `get_items: items[3].el is a
 * DOM node`. Throws a TypeError if the tool's result is circular.
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

/**
 * Reports whether JSON.stringify converts `value` before writing it, as it does for dates and objects with `toJSON`.
 */
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

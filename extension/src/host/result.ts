import { failureText, messageOf } from './failure.ts';
import { utf8LengthOf, writeJson } from './json.ts';
import type { OnLoss } from './plain.ts';

/**
 * Outcome is how a call ended: with the JSON text of a result, with the JSON text of an error, or without a text if the
 * tool returned undefined.
 */
export type Outcome =
  | { readonly kind: 'result'; readonly text: string }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'error'; readonly text: string };

/**
 * outcomeOf converts the return value of a tool to an Outcome, and never throws. `onLoss` is called for each part of
 * the value that JSON cannot represent.
 */
export function outcomeOf(tool: string, value: unknown, maxBytes: number, onLoss?: OnLoss): Outcome {
  if (value === undefined) return { kind: 'nothing' };
  let text: string | undefined;
  try {
    text = writeJson(value, onLoss);
  } catch (error) {
    return invalidResult(tool, messageOf(error));
  }
  if (text === undefined) return invalidResult(tool, `JSON has no ${typeof value}`);
  const bytes = utf8LengthOf(text, maxBytes);
  if (bytes > maxBytes) {
    const message = `the result of ${tool} has ${formatSize(bytes)}, the limit is ${formatSize(maxBytes)}`;
    return { kind: 'error', text: failureText('result_too_large', message) };
  }
  return { kind: 'result', text };
}

function invalidResult(tool: string, reason: string): Outcome {
  const message = `the tool ${tool} returned a value that JSON cannot represent: ${reason}`;
  return { kind: 'error', text: failureText('invalid_result', message) };
}

/** formatSize formats a number of bytes, such as "12 bytes", "3.4 KB" or "1.2 MB". */
function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const kb = bytes / 1024;
  return kb < 1024 ? `${roundUpToTenths(kb)} KB` : `${roundUpToTenths(kb / 1024)} MB`;
}

/** roundUpToTenths rounds up to one decimal, so that a size above a limit never looks equal to the limit. */
function roundUpToTenths(value: number): string {
  const whole = (value * 10) % 1 === 0 ? value * 10 : value * 10 - ((value * 10) % 1) + 1;
  return `${whole / 10}`;
}

import { failureText, messageOf } from './failure.ts';
import { bytesOf, writeJson } from './json.ts';

/** Outcome is what a call sends: the result's JSON text, nothing for undefined, or an error's JSON text. */
export type Outcome =
  | { readonly kind: 'result'; readonly text: string }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'error'; readonly text: string };

/** outcomeOf turns what a tool returned into what is sent. It never throws. */
export function outcomeOf(tool: string, value: unknown, maxBytes: number): Outcome {
  if (value === undefined) return { kind: 'nothing' };
  let text: string | undefined;
  try {
    text = writeJson(value);
  } catch (error) {
    return invalid(tool, messageOf(error));
  }
  if (text === undefined) return invalid(tool, `JSON has no way to write a ${typeof value}`);
  const bytes = bytesOf(text, maxBytes);
  if (bytes > maxBytes) {
    const message = `the result of ${tool} has ${size(bytes)}, the limit is ${size(maxBytes)}`;
    return { kind: 'error', text: failureText('result_too_large', message) };
  }
  return { kind: 'result', text };
}

function invalid(tool: string, why: string): Outcome {
  const message = `the tool ${tool} returned what JSON can't carry: ${why}`;
  return { kind: 'error', text: failureText('invalid_result', message) };
}

/** size writes a number of bytes for people. */
function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const kb = bytes / 1024;
  return kb < 1024 ? `${tenths(kb)} KB` : `${tenths(kb / 1024)} MB`;
}

/** tenths rounds up, so that a size over a limit never reads like the limit. */
function tenths(value: number): string {
  const whole = (value * 10) % 1 === 0 ? value * 10 : value * 10 - ((value * 10) % 1) + 1;
  return `${whole / 10}`;
}

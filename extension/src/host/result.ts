import { makeFailureText, readMessage } from './failure.ts';
import { countUtf8Bytes, writeJson } from './json.ts';
import type { JsonLossCallback } from './plain.ts';

/** CallOutcome is the ending of a call: a result, an error, or no text if the tool returned undefined. */
export type CallOutcome =
  | { readonly kind: 'result'; readonly text: string }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'error'; readonly text: string };

/** makeResultOutcome converts the return value of a tool to a CallOutcome, and never throws. */
export function makeResultOutcome(
  tool: string,
  value: unknown,
  maxBytes: number,
  onJsonLoss?: JsonLossCallback,
): CallOutcome {
  if (value === undefined) return { kind: 'nothing' };
  let resultJson: string | undefined;
  try {
    resultJson = writeJson(value, onJsonLoss);
  } catch (error) {
    return makeInvalidResult(tool, readMessage(error));
  }
  if (resultJson === undefined) return makeInvalidResult(tool, `JSON has no ${typeof value}`);
  const bytes = countUtf8Bytes(resultJson, maxBytes);
  if (bytes > maxBytes) {
    const tooLargeMessage = `the result of ${tool} has ${formatSize(bytes)}, the limit is ${formatSize(maxBytes)}`;
    return { kind: 'error', text: makeFailureText('result_too_large', tooLargeMessage) };
  }
  return { kind: 'result', text: resultJson };
}

function makeInvalidResult(tool: string, reason: string): CallOutcome {
  const unserializableMessage = `the tool ${tool} returned a value that JSON cannot represent: ${reason}`;
  return { kind: 'error', text: makeFailureText('invalid_result', unserializableMessage) };
}

/** formatSize formats a number of bytes, such as "12 bytes", "3.4 KB" or "1.2 MB". */
function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const kb = bytes / 1024;
  return kb < 1024 ? `${formatRoundedUp(kb)} KB` : `${formatRoundedUp(kb / 1024)} MB`;
}

/** formatRoundedUp rounds up to one decimal, so that a size above a limit never looks equal to the limit. */
function formatRoundedUp(value: number): string {
  const roundedTenths = (value * 10) % 1 === 0 ? value * 10 : value * 10 - ((value * 10) % 1) + 1;
  return `${roundedTenths / 10}`;
}

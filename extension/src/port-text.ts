// Encodes a list of port messages as one string, and decodes the string. Chrome transfers a string between extension
// scripts faster than an object with the same content. The first line of the encoded string contains the messages as
// JSON. Long strings follow unescaped after the first line, because most long strings are JSON text, which is slow to
// escape.

import type { FromBridge, ToBridge } from './port-message.ts';
import { type Fields, isRecord } from './record.ts';

const longTextFields = ['args', 'reports', 'text', 'error', 'body', 'entries', 'output'] as const;

export function encodeMessages(messages: readonly (FromBridge | ToBridge)[]): string {
  let texts = '';
  const headers = messages.map((message: Fields) => {
    const head: Record<string, unknown> = { ...message };
    for (const field of longTextFields) {
      const text = head[field];
      if (typeof text !== 'string') continue;
      head[field] = text.length;
      texts += text;
    }
    return head;
  });
  return `${JSON.stringify(headers)}\n${texts}`;
}

/** decodeMessages drops invalid messages, and never throws. */
export function decodeMessages<M>(text: unknown, read: (message: unknown) => M | undefined): M[] {
  if (typeof text !== 'string') return [];
  let position = text.indexOf('\n') + 1;
  const messages: M[] = [];
  for (const message of parseMessageHeaders(text.slice(0, position))) {
    for (const field of longTextFields) {
      const length = message[field];
      if (typeof length !== 'number') continue;
      const end = position + length;
      message[field] = end >= position && end <= text.length ? text.slice(position, end) : undefined;
      position = end;
    }
    const decoded = read(message);
    if (decoded !== undefined) messages.push(decoded);
  }
  return messages;
}

function parseMessageHeaders(line: string): readonly Record<string, unknown>[] {
  try {
    const headers: unknown = JSON.parse(line);
    return Array.isArray(headers) ? headers.filter(isRecord) : [];
  } catch {
    return [];
  }
}

export function countMessageChars(message: FromBridge | ToBridge): number {
  const fields: Fields = message;
  return longTextFields.reduce((sum, field) => {
    const text = fields[field];
    return typeof text === 'string' ? sum + text.length : sum;
  }, 0);
}

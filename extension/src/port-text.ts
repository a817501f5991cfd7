// Encodes a list of port messages as one string, and decodes the string. Chrome transfers a string between extension
// scripts faster than an object with the same content. The first line of the encoded string contains the messages as
// JSON. Long strings follow unescaped after the first line, because most long strings are JSON text, which is slow to
// escape.

import type { FromBridge, ToBridge } from './port-message.ts';
import { type Fields, isRecord } from './record.ts';

const longTextFields = ['args', 'reports', 'text', 'error', 'body', 'entries', 'output'] as const;

export function encodeMessages(messages: readonly (FromBridge | ToBridge)[]): string {
  let joinedTexts = '';
  const headers = messages.map((message: Fields) => {
    const messageHeader: Record<string, unknown> = { ...message };
    for (const field of longTextFields) {
      const fieldText = messageHeader[field];
      if (typeof fieldText !== 'string') continue;
      messageHeader[field] = fieldText.length;
      joinedTexts += fieldText;
    }
    return messageHeader;
  });
  return `${JSON.stringify(headers)}\n${joinedTexts}`;
}

/** decodeMessages drops invalid messages, and never throws. */
export function decodeMessages<M>(fieldText: unknown, read: (message: unknown) => M | undefined): M[] {
  if (typeof fieldText !== 'string') return [];
  let position = fieldText.indexOf('\n') + 1;
  const messages: M[] = [];
  for (const message of parseMessageHeaders(fieldText.slice(0, position))) {
    for (const field of longTextFields) {
      const length = message[field];
      if (typeof length !== 'number') continue;
      const end = position + length;
      message[field] = end >= position && end <= fieldText.length ? fieldText.slice(position, end) : undefined;
      position = end;
    }
    const decoded = read(message);
    if (decoded !== undefined) messages.push(decoded);
  }
  return messages;
}

function parseMessageHeaders(headerLine: string): readonly Record<string, unknown>[] {
  try {
    const headers: unknown = JSON.parse(headerLine);
    return Array.isArray(headers) ? headers.filter(isRecord) : [];
  } catch {
    return [];
  }
}

export function countMessageChars(message: FromBridge | ToBridge): number {
  const fields: Fields = message;
  return longTextFields.reduce((sum, field) => {
    const fieldText = fields[field];
    return typeof fieldText === 'string' ? sum + fieldText.length : sum;
  }, 0);
}

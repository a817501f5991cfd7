// Encodes a list of port messages as one string, and decodes the string. Chrome transfers a string between extension
// scripts faster than an object with the same content. The first line of the encoded string contains the messages as
// JSON. Long strings follow unescaped after the first line, because most long strings are JSON text, which is slow to
// escape.

import type { BridgeToWorkerMessage, WorkerToBridgeMessage } from './port-message.ts';
import { type Fields, isRecord } from './record.ts';

const longTextFields = ['args', 'reports', 'text', 'error', 'body', 'entries', 'output'] as const;

export function encodeMessages(portMessages: readonly (BridgeToWorkerMessage | WorkerToBridgeMessage)[]): string {
  let joinedLongTexts = '';
  const headers = portMessages.map((portMessage: Fields) => {
    const messageHeader: Record<string, unknown> = { ...portMessage };
    for (const textField of longTextFields) {
      const fieldText = messageHeader[textField];
      if (typeof fieldText !== 'string') continue;
      messageHeader[textField] = fieldText.length;
      joinedLongTexts += fieldText;
    }
    return messageHeader;
  });
  return `${JSON.stringify(headers)}\n${joinedLongTexts}`;
}

/** decodeMessages drops invalid messages, and never throws. */
export function decodeMessages<M>(fieldText: unknown, readPortMessage: (portMessage: unknown) => M | undefined): M[] {
  if (typeof fieldText !== 'string') return [];
  let textPosition = fieldText.indexOf('\n') + 1;
  const portMessages: M[] = [];
  for (const portMessage of parseMessageHeaders(fieldText.slice(0, textPosition))) {
    for (const textField of longTextFields) {
      const fieldLength = portMessage[textField];
      if (typeof fieldLength !== 'number') continue;
      const fieldEnd = textPosition + fieldLength;
      portMessage[textField] =
        fieldEnd >= textPosition && fieldEnd <= fieldText.length ? fieldText.slice(textPosition, fieldEnd) : undefined;
      textPosition = fieldEnd;
    }
    const decodedMessage = readPortMessage(portMessage);
    if (decodedMessage !== undefined) portMessages.push(decodedMessage);
  }
  return portMessages;
}

function parseMessageHeaders(headerLine: string): readonly Record<string, unknown>[] {
  try {
    const headers: unknown = JSON.parse(headerLine);
    return Array.isArray(headers) ? headers.filter(isRecord) : [];
  } catch {
    return [];
  }
}

export function countMessageChars(portMessage: BridgeToWorkerMessage | WorkerToBridgeMessage): number {
  const messageFields: Fields = portMessage;
  return longTextFields.reduce((sum, textField) => {
    const fieldText = messageFields[textField];
    return typeof fieldText === 'string' ? sum + fieldText.length : sum;
  }, 0);
}

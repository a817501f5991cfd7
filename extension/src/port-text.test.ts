import assert from 'node:assert/strict';
import test from 'node:test';
import {
  type BridgeToWorkerMessage,
  readMessageFromBridge,
  readMessageToBridge,
  type WorkerToBridgeMessage,
} from './port-message.ts';
import { countMessageChars, decodeMessages, encodeMessages } from './port-text.ts';

const longText = 'a "quoted" line\nand a second line, \u{1f600} and half a pair \ud83d';
const messagesFromBridge: BridgeToWorkerMessage[] = [
  { op: 'progress', id: 'x', seq: 0, skipped: 0, reports: longText },
  { op: 'pong', ping: 3 },
  { op: 'part', id: 'x', seq: 0, text: longText },
  { op: 'result', id: 'x', text: '' },
  { op: 'result', id: 'x' },
  { op: 'error', id: 'x', error: longText },
  { op: 'toolRequest', id: 'x', ask: 1, body: longText },
  { op: 'log', plugin: 'p', entries: longText, dropped: 0 },
];
const bridgeMessages: WorkerToBridgeMessage[] = [
  { op: 'call', id: 'x', plugin: 'p', tool: 'line\nbreak', maxBytes: 1, args: longText },
  { op: 'answer', id: 'x', ask: 1, output: longText },
  { op: 'answer', id: 'x', ask: 1, error: longText },
  { op: 'answer', id: 'x', ask: 1 },
];

test('decodeMessages returns the encoded messages in order', () => {
  assert.deepEqual(decodeMessages(encodeMessages(messagesFromBridge), readMessageFromBridge), messagesFromBridge);
  assert.deepEqual(decodeMessages(encodeMessages(bridgeMessages), readMessageToBridge), bridgeMessages);
  assert.deepEqual(decodeMessages(encodeMessages([]), readMessageToBridge), []);
});

test('encodeMessages writes a long text without escapes', () => {
  const repeatedQuotes = '"'.repeat(1000);
  assert.ok(encodeMessages([{ op: 'result', id: 'x', text: repeatedQuotes }]).endsWith(`\n${repeatedQuotes}`));
});

test('decodeMessages drops invalid messages and keeps the others', () => {
  const validMessage: BridgeToWorkerMessage = { op: 'error', id: 'y', error: '{}' };
  const invalidTexts = [
    { op: 'reboot' },
    { op: 'result', id: '', text: 4 },
    { op: 'error', id: 'x', error: -1 },
    { op: 'error', id: 'x', error: 1e9 },
    { op: 'error', id: 'x', error: 1.5 },
    { op: 'error', id: 'x' },
    'text',
    null,
    ['list'],
  ];
  assert.deepEqual(
    decodeMessages(
      `${JSON.stringify([{ ...validMessage, error: 2 }, ...invalidTexts])}\n{}text`,
      readMessageFromBridge,
    ),
    [validMessage],
  );
});

test('decodeMessages returns no messages for anything that is not an encoded list', () => {
  for (const splitText of [
    undefined,
    7,
    [messagesFromBridge[1]],
    '',
    '\n',
    '{}',
    '{}\n',
    '[',
    '[{"op":"pong","ping":1}]',
    'null\n',
  ]) {
    assert.deepEqual(decodeMessages(splitText, readMessageFromBridge), [], JSON.stringify(splitText));
  }
});

test('countMessageChars returns the length of the long texts of a message', () => {
  for (const portMessage of [...messagesFromBridge, ...bridgeMessages]) {
    const isLong = Object.values(portMessage).includes(longText);
    assert.equal(countMessageChars(portMessage), isLong ? longText.length : 0, portMessage.op);
  }
});

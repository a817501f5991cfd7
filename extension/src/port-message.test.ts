import assert from 'node:assert/strict';
import test from 'node:test';
import {
  type BridgeToWorkerMessage,
  readMessageFromBridge,
  readMessageToBridge,
  type WorkerToBridgeMessage,
} from './port-message.ts';

const messagesFromBridge: BridgeToWorkerMessage[] = [
  {
    op: 'documentState',
    plugins: [
      { name: 'a', hash: 'h' },
      { name: 'b', hash: 'h', problem: 'p' },
      { name: 'c', hash: 'h', ready: false },
    ],
    running: [{ id: 'x', plugin: 'a' }],
  },
  { op: 'progress', id: 'x', seq: 0, skipped: 0, reports: '[{}]' },
  { op: 'part', id: 'x', seq: 0, text: 't' },
  { op: 'result', id: 'x', text: '1' },
  { op: 'result', id: 'x', parts: 2 },
  { op: 'result', id: 'x' },
  { op: 'error', id: 'x', error: '{}' },
  { op: 'cancelled', id: 'x', outcome: 'aborted' },
  { op: 'toolRequest', id: 'x', ask: 1, body: '{}' },
  { op: 'answerReceived', id: 'x', ask: 1, taken: false },
  { op: 'leaving', begunCalls: ['x', 'y'] },
  { op: 'navigating', on: true },
  { op: 'ready', plugin: 'p', ready: false },
  { op: 'log', plugin: 'p', entries: '[{}]', dropped: 2 },
  { op: 'scheduleWake', ms: 1000 },
  { op: 'adapterReplaced', plugin: 'p', hash: 'h' },
  { op: 'adapterReplaced', plugin: 'p', hash: 'h', problem: 'p' },
];
const bridgeMessages: WorkerToBridgeMessage[] = [
  { op: 'call', id: 'x', plugin: 'p', tool: 't', maxBytes: 1, args: '{"a":null}' },
  { op: 'call', id: 'x', plugin: 'p', tool: 't', maxBytes: 1, args: '{}', prompt: true, decision: 'null' },
  { op: 'cancel', id: 'x', reason: 'r' },
  { op: 'answer', id: 'x', ask: 1, output: '1' },
  { op: 'answer', id: 'x', ask: 1, error: '{}' },
  { op: 'answer', id: 'x', ask: 1 },
  { op: 'resync', id: 'x', type: 't' },
  { op: 'partSent' },
  { op: 'wake' },
  { op: 'confirmEndings', ids: ['x', 'y'] },
  { op: 'settings', plugin: 'p', settings: { values: { key: 'v' }, urls: { at: { main: 'https://a.b' } } } },
  { op: 'probe', plugin: 'p' },
  { op: 'replaceAdapter', plugin: 'p', hash: 'h', nonce: 'n', waitMs: 1 },
  { op: 'removePlugin', plugin: 'p' },
];

test('the readers return valid port messages unchanged, but without unknown fields', () => {
  for (const portMessage of messagesFromBridge)
    assert.deepEqual(readMessageFromBridge({ ...portMessage, extra: 1 }), portMessage);
  for (const portMessage of bridgeMessages)
    assert.deepEqual(readMessageToBridge({ ...portMessage, extra: 1 }), portMessage);
});

test('the readers reject invalid port messages', () => {
  const malformedMessages: unknown[] = [
    undefined,
    null,
    'text',
    [],
    {},
    { op: 'documentState', plugins: [] },
    { op: 'documentState', plugins: [{ name: 'a' }], running: [] },
    { op: 'documentState', plugins: [], running: ['x'] },
    { op: 'progress', id: 'x', skipped: 0, reports: '[]' },
    { op: 'progress', id: 'x', seq: -1, skipped: 0, reports: '[]' },
    { op: 'progress', id: 'x', seq: 0, skipped: 0.5, reports: '[]' },
    { op: 'progress', id: 'x', seq: 0, skipped: 0, reports: [] },
    { op: 'part', id: 'x', seq: '0', text: 't' },
    { op: 'error', id: 'x', error: {} },
    { op: 'leaving', begunCalls: ['x', 1] },
    { op: 'cancelled', id: 'x', outcome: 'maybe' },
    { op: 'result', id: '' },
    { op: 'result', id: 5, text: '1' },
    { op: 'toolRequest', id: 'x', ask: -1, body: '{}' },
    { op: 'toolRequest', id: 'x', ask: 1, body: {} },
    { op: 'answerReceived', id: 'x', ask: 1 },
    { op: 'answerReceived', id: 'x', ask: -1, taken: true },
    { op: 'navigating', on: 'yes' },
    { op: 'ready', plugin: 'p' },
    { op: 'ready', plugin: '', ready: true },
    { op: 'log', plugin: 'p', entries: [], dropped: 0 },
    { op: 'log', plugin: 'p', entries: '[]', dropped: -1 },
    { op: 'adapterReplaced', plugin: 'p' },
    { op: 'settings', plugin: 'p', settings: [] },
    { op: 'replaceAdapter', plugin: 'p', hash: 'h' },
    { op: 'probe' },
    { op: 'answer', id: 'x' },
    { op: 'resync', id: 'x', type: 1 },
    { op: 'reboot', id: 'x' },
  ];
  for (const portMessage of malformedMessages) {
    assert.equal(readMessageFromBridge(portMessage), undefined, JSON.stringify(portMessage));
    assert.equal(readMessageToBridge(portMessage), undefined, JSON.stringify(portMessage));
  }
  assert.equal(readMessageToBridge({ op: 'call', id: 'x', plugin: 'p', tool: 't', maxBytes: 'many' }), undefined);
  assert.equal(readMessageToBridge({ op: 'confirmEndings', ids: ['x', 1] }), undefined);
});

test('the readers reject a scheduleWake message whose delay exceeds the limit of browser timers', () => {
  for (const ms of [undefined, -1, 0.5, 2 ** 31])
    assert.equal(readMessageFromBridge({ op: 'scheduleWake', ms }), undefined);
});

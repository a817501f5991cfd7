import assert from 'node:assert/strict';
import test from 'node:test';
import type { CallView } from '../../../wire/wire.gen.ts';
import { placeCalls } from './tree.ts';

const call = (callId: string, parentCallId?: string): CallView => ({
  callId,
  plugin: 'p',
  tool: 't',
  status: 'running',
  runMs: 0,
  ...(parentCallId === undefined ? {} : { parentCallId }),
});

test('placeCalls sorts calls behind their parents', () => {
  const calls = [
    call('a'),
    call('b'),
    call('a1', 'a'),
    call('c', 'gone'),
    call('a1x', 'a1'),
    call('b1', 'b'),
    call('a2', 'a'),
  ];
  assert.deepEqual(
    placeCalls(calls).map(({ call, depth }) => `${depth} ${call.callId}`),
    ['0 a', '1 a1', '2 a1x', '1 a2', '0 b', '1 b1', '0 c'],
  );
});

test('placeCalls keeps a call that is its own parent', () => {
  assert.equal(placeCalls([call('a', 'a')]).length, 1);
  assert.deepEqual(placeCalls([]), []);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import type { CallView } from '../../../wire/wire.gen.ts';
import { placed } from './tree.ts';

const call = (callId: string, parentCallId?: string): CallView => ({
  callId,
  plugin: 'p',
  tool: 't',
  status: 'running',
  runMs: 0,
  ...(parentCallId === undefined ? {} : { parentCallId }),
});

test('calls stand behind the call that made them', () => {
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
    placed(calls).map(({ call, depth }) => `${depth} ${call.callId}`),
    ['0 a', '1 a1', '2 a1x', '1 a2', '0 b', '1 b1', '0 c'],
  );
});

test('a call that is said to be its own parent is shown', () => {
  assert.equal(placed([call('a', 'a')]).length, 1);
  assert.deepEqual(placed([]), []);
});

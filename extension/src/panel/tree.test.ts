import assert from 'node:assert/strict';
import test from 'node:test';
import type { CallView } from '../../../wire/wire.gen.ts';
import { listCallTree } from './tree.ts';

const makeCall = (callId: string, parentCallId?: string): CallView => ({
  callId,
  plugin: 'p',
  tool: 't',
  status: 'running',
  runMs: 0,
  ...(parentCallId === undefined ? {} : { parentCallId }),
});

test('listCallTree lists each nested call after its parent', () => {
  const calls = [
    makeCall('a'),
    makeCall('b'),
    makeCall('a1', 'a'),
    makeCall('c', 'gone'),
    makeCall('a1x', 'a1'),
    makeCall('b1', 'b'),
    makeCall('a2', 'a'),
  ];
  assert.deepEqual(
    listCallTree(calls).map(({ call, depth }) => `${depth} ${call.callId}`),
    ['0 a', '1 a1', '2 a1x', '1 a2', '0 b', '1 b1', '0 c'],
  );
});

test('listCallTree keeps a call that is its own parent', () => {
  assert.equal(listCallTree([makeCall('a', 'a')]).length, 1);
  assert.deepEqual(listCallTree([]), []);
});

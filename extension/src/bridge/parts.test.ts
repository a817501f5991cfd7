import assert from 'node:assert/strict';
import test from 'node:test';
import type { FromBridge } from '../port-message.ts';
import { makeParts, OnTheWay } from './parts.ts';

function makeBench() {
  const posted: string[] = [];
  const port = { open: true };
  const parts = makeParts((message) => {
    if (port.open)
      posted.push(message.op === 'part' ? `${message.id}${message.seq}` : `${message.op} ${Object(message).id}`);
    return port.open;
  });
  return { parts, posted, port };
}

const ending = (id: string, count: number): FromBridge[] => [
  ...Array.from({ length: count }, (_, seq): FromBridge => ({ op: 'part', id, seq, text: '' })),
  { op: 'result', id, parts: count },
];

test('only so many parts are on their way; each one taken lets the next go, and the answer goes with the last', () => {
  const { parts, posted } = makeBench();
  parts.begin('a', ending('a', OnTheWay + 2));
  assert.equal(posted.length, OnTheWay);
  parts.taken();
  parts.taken();
  assert.deepEqual(posted.slice(OnTheWay), [`a${OnTheWay}`, `a${OnTheWay + 1}`, 'result a']);
  for (let i = 0; i < OnTheWay; i++) parts.taken();
  assert.equal(posted.length, OnTheWay + 3);
});

test('what is shortest goes first, and every fourth part is one of the oldest', () => {
  const { parts, posted } = makeBench();
  parts.begin('a', ending('a', 100));
  parts.begin('b', ending('b', 50));
  parts.begin('c', ending('c', 3));
  posted.splice(0);
  for (let i = 0; i < 9; i++) parts.taken();
  assert.deepEqual(posted, ['c0', 'c1', 'c2', 'result c', 'a8', 'b0', 'b1', 'b2', 'a9', 'b3']);
});

test('on a new port every result begins again, with all the room there is', () => {
  const { parts, posted, port } = makeBench();
  parts.begin('a', ending('a', 3));
  parts.begin('b', ending('b', 100));
  port.open = false;
  parts.taken();
  parts.taken();
  posted.splice(0);
  port.open = true;
  parts.restart();
  assert.equal(posted.length, OnTheWay + 1);
  assert.deepEqual(posted.slice(0, 4), ['a0', 'a1', 'a2', 'result a']);
});

test('a result that nobody wants any more makes room', () => {
  const { parts, posted } = makeBench();
  parts.begin('a', ending('a', 100));
  parts.begin('b', ending('b', 1));
  parts.drop('a');
  posted.splice(0);
  parts.taken();
  parts.taken();
  assert.deepEqual(posted, ['b0', 'result b']);
});

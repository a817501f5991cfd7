import assert from 'node:assert/strict';
import test from 'node:test';
import type { FromBridge } from '../port-message.ts';
import { MaxPartsInFlight, PartSender } from './parts.ts';

function makeFixture() {
  const posted: string[] = [];
  const port = { open: true };
  const parts = new PartSender((message) => {
    if (port.open)
      posted.push(message.op === 'part' ? `${message.id}${message.seq}` : `${message.op} ${Object(message).id}`);
    return port.open;
  });
  return { parts, posted, port };
}

const makeEnding = (id: string, count: number): FromBridge[] => [
  ...Array.from({ length: count }, (_, seq): FromBridge => ({ op: 'part', id, seq, text: '' })),
  { op: 'result', id, parts: count },
];

test('parts in flight are limited, and each acknowledgement sends the next', () => {
  const { parts, posted } = makeFixture();
  parts.begin('a', makeEnding('a', MaxPartsInFlight + 2));
  assert.equal(posted.length, MaxPartsInFlight);
  parts.confirmPart();
  parts.confirmPart();
  assert.deepEqual(posted.slice(MaxPartsInFlight), [`a${MaxPartsInFlight}`, `a${MaxPartsInFlight + 1}`, 'result a']);
  for (let i = 0; i < MaxPartsInFlight; i++) parts.confirmPart();
  assert.equal(posted.length, MaxPartsInFlight + 3);
});

test('the shortest result goes first, and every fourth part is one of the oldest', () => {
  const { parts, posted } = makeFixture();
  parts.begin('a', makeEnding('a', 100));
  parts.begin('b', makeEnding('b', 50));
  parts.begin('c', makeEnding('c', 3));
  posted.splice(0);
  for (let i = 0; i < 9; i++) parts.confirmPart();
  assert.deepEqual(posted, ['c0', 'c1', 'c2', 'result c', 'a8', 'b0', 'b1', 'b2', 'a9', 'b3']);
});

test('a new port restarts every result', () => {
  const { parts, posted, port } = makeFixture();
  parts.begin('a', makeEnding('a', 3));
  parts.begin('b', makeEnding('b', 100));
  port.open = false;
  parts.confirmPart();
  parts.confirmPart();
  posted.splice(0);
  port.open = true;
  parts.restart();
  assert.equal(posted.length, MaxPartsInFlight + 1);
  assert.deepEqual(posted.slice(0, 4), ['a0', 'a1', 'a2', 'result a']);
});

test('after a result is dropped, parts of other results are sent', () => {
  const { parts, posted } = makeFixture();
  parts.begin('a', makeEnding('a', 100));
  parts.begin('b', makeEnding('b', 1));
  parts.drop('a');
  posted.splice(0);
  parts.confirmPart();
  parts.confirmPart();
  assert.deepEqual(posted, ['b0', 'result b']);
});

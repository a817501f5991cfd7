import assert from 'node:assert/strict';
import test from 'node:test';
import type { FromBridge } from '../port-message.ts';
import { MaxPartsInFlight, PartSender } from './parts.ts';

function makeFixture() {
  const postedParts: string[] = [];
  const port = { open: true };
  const partSender = new PartSender((partMessage) => {
    if (port.open)
      postedParts.push(
        partMessage.op === 'part'
          ? `${partMessage.id}${partMessage.seq}`
          : `${partMessage.op} ${Object(partMessage).id}`,
      );
    return port.open;
  });
  return { partSender, postedParts, port };
}

const makeEnding = (id: string, count: number): FromBridge[] => [
  ...Array.from({ length: count }, (_, seq): FromBridge => ({ op: 'part', id, seq, text: '' })),
  { op: 'result', id, parts: count },
];

test('parts in flight are limited, and each acknowledgement sends the next', () => {
  const { partSender, postedParts } = makeFixture();
  partSender.begin('a', makeEnding('a', MaxPartsInFlight + 2));
  assert.equal(postedParts.length, MaxPartsInFlight);
  partSender.confirmPart();
  partSender.confirmPart();
  assert.deepEqual(postedParts.slice(MaxPartsInFlight), [
    `a${MaxPartsInFlight}`,
    `a${MaxPartsInFlight + 1}`,
    'result a',
  ]);
  for (let i = 0; i < MaxPartsInFlight; i++) partSender.confirmPart();
  assert.equal(postedParts.length, MaxPartsInFlight + 3);
});

test('the shortest result goes first, and every fourth part is one of the oldest', () => {
  const { partSender, postedParts } = makeFixture();
  partSender.begin('a', makeEnding('a', 100));
  partSender.begin('b', makeEnding('b', 50));
  partSender.begin('c', makeEnding('c', 3));
  postedParts.splice(0);
  for (let i = 0; i < 9; i++) partSender.confirmPart();
  assert.deepEqual(postedParts, ['c0', 'c1', 'c2', 'result c', 'a8', 'b0', 'b1', 'b2', 'a9', 'b3']);
});

test('a new port sends every unfinished result again', () => {
  const { partSender, postedParts, port } = makeFixture();
  partSender.begin('a', makeEnding('a', 3));
  partSender.begin('b', makeEnding('b', 100));
  port.open = false;
  partSender.confirmPart();
  partSender.confirmPart();
  postedParts.splice(0);
  port.open = true;
  partSender.restart();
  assert.equal(postedParts.length, MaxPartsInFlight + 1);
  assert.deepEqual(postedParts.slice(0, 4), ['a0', 'a1', 'a2', 'result a']);
});

test('after a result is dropped, parts of other results are sent', () => {
  const { partSender, postedParts } = makeFixture();
  partSender.begin('a', makeEnding('a', 100));
  partSender.begin('b', makeEnding('b', 1));
  partSender.drop('a');
  postedParts.splice(0);
  partSender.confirmPart();
  partSender.confirmPart();
  assert.deepEqual(postedParts, ['b0', 'result b']);
});

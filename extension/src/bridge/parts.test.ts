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

const makeResultMessages = (id: string, count: number): FromBridge[] => [
  ...Array.from({ length: count }, (_, seq): FromBridge => ({ op: 'part', id, seq, text: '' })),
  { op: 'result', id, parts: count },
];

test('few parts are unacknowledged at a time, and each acknowledgment releases the next part', () => {
  const { partSender, postedParts } = makeFixture();
  partSender.sendResult('a', makeResultMessages('a', MaxPartsInFlight + 2));
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

test('parts of the shortest result are sent first, but every fourth part belongs to the oldest result', () => {
  const { partSender, postedParts } = makeFixture();
  partSender.sendResult('a', makeResultMessages('a', 100));
  partSender.sendResult('b', makeResultMessages('b', 50));
  partSender.sendResult('c', makeResultMessages('c', 3));
  postedParts.splice(0);
  for (let i = 0; i < 9; i++) partSender.confirmPart();
  assert.deepEqual(postedParts, ['c0', 'c1', 'c2', 'result c', 'a8', 'b0', 'b1', 'b2', 'a9', 'b3']);
});

test('after a reconnection, every unfinished result is sent again from its first part', () => {
  const { partSender, postedParts, port } = makeFixture();
  partSender.sendResult('a', makeResultMessages('a', 3));
  partSender.sendResult('b', makeResultMessages('b', 100));
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
  partSender.sendResult('a', makeResultMessages('a', 100));
  partSender.sendResult('b', makeResultMessages('b', 1));
  partSender.drop('a');
  postedParts.splice(0);
  partSender.confirmPart();
  partSender.confirmPart();
  assert.deepEqual(postedParts, ['b0', 'result b']);
});

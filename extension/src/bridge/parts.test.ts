import assert from 'node:assert/strict';
import test from 'node:test';
import type { BridgeToWorkerMessage } from '../port-message.ts';
import { MaxUnconfirmedParts, ResultPartSender } from './parts.ts';

function makeFixture() {
  const postedParts: string[] = [];
  const port = { open: true };
  const resultPartSender = new ResultPartSender((partMessage) => {
    if (port.open)
      postedParts.push(
        partMessage.op === 'part'
          ? `${partMessage.id}${partMessage.seq}`
          : `${partMessage.op} ${Object(partMessage).id}`,
      );
    return port.open;
  });
  return { partSender: resultPartSender, postedParts, port };
}

const makeResultMessages = (id: string, count: number): BridgeToWorkerMessage[] => [
  ...Array.from({ length: count }, (_, seq): BridgeToWorkerMessage => ({ op: 'part', id, seq, text: '' })),
  { op: 'result', id, parts: count },
];

test('few parts are unacknowledged at a time, and each acknowledgment releases the next part', () => {
  const { partSender, postedParts } = makeFixture();
  partSender.sendResult('a', makeResultMessages('a', MaxUnconfirmedParts + 2));
  assert.equal(postedParts.length, MaxUnconfirmedParts);
  partSender.confirmPart();
  partSender.confirmPart();
  assert.deepEqual(postedParts.slice(MaxUnconfirmedParts), [
    `a${MaxUnconfirmedParts}`,
    `a${MaxUnconfirmedParts + 1}`,
    'result a',
  ]);
  for (let i = 0; i < MaxUnconfirmedParts; i++) partSender.confirmPart();
  assert.equal(postedParts.length, MaxUnconfirmedParts + 3);
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
  assert.equal(postedParts.length, MaxUnconfirmedParts + 1);
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

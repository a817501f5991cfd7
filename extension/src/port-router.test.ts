import assert from 'node:assert/strict';
import test from 'node:test';
import { type PortHandlers, type PortReaders, readMessage, routeMessage } from './port-router.ts';

type TestMessage = { readonly op: 'add'; readonly n: number } | { readonly op: 'reset' };

test("routeMessage calls the handler of the message's operation with the message and the context", () => {
  const sumByName = new Map<string, number>();
  const handlers: PortHandlers<TestMessage, [key: string], number> = {
    add: ({ n: addedNumber }, key) => {
      sumByName.set(key, (sumByName.get(key) ?? 0) + addedNumber);
      return sumByName.get(key) ?? 0;
    },
    reset: (_, key) => {
      sumByName.delete(key);
      return 0;
    },
  };
  const portMessages: TestMessage[] = [{ op: 'add', n: 2 }, { op: 'add', n: 3 }, { op: 'reset' }, { op: 'add', n: 1 }];
  assert.deepEqual(
    portMessages.map((portMessage) => routeMessage(handlers, portMessage.op, portMessage, 'a')),
    [2, 5, 0, 1],
  );
});

test("readMessage validates a message with the reader of the message's operation", () => {
  const messageReaders: PortReaders<TestMessage> = {
    add: ({ n: addedNumber }) => (typeof addedNumber === 'number' ? { op: 'add', n: addedNumber } : undefined),
    reset: () => ({ op: 'reset' }),
  };
  assert.deepEqual(readMessage(messageReaders, { op: 'add', n: 1, other: 2 }), { op: 'add', n: 1 });
  assert.deepEqual(readMessage(messageReaders, { op: 'reset' }), { op: 'reset' });
  const invalid = [undefined, 'add', [], {}, { op: 1 }, { op: 'add' }, { op: 'toString' }, { op: 'subtract', n: 1 }];
  for (const value of invalid) assert.equal(readMessage(messageReaders, value), undefined, JSON.stringify(value));
});

test('the compiler rejects a table that lacks a handler or a reader for an operation', () => {
  // @ts-expect-error: reset has no handler
  const handlers: PortHandlers<TestMessage> = { add: () => undefined };
  // @ts-expect-error: reset has no reader
  const messageReaders: PortReaders<TestMessage> = { add: () => undefined };
  assert.deepEqual(['reset' in handlers, 'reset' in messageReaders], [false, false]);
});

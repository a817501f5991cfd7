import assert from 'node:assert/strict';
import test from 'node:test';
import { makeBatcher, makeTaskScheduler } from './batch.ts';

function makeFixture() {
  const environment = { port: true, alone: false };
  const sent: string[][] = [];
  const works: (() => void)[] = [];
  const batcher = makeBatcher<string>({
    send: (messages) => {
      if (environment.port) sent.push([...messages]);
      return environment.port;
    },
    countChars: (message) => message.length,
    isLikelyLastMessage: () => environment.alone,
    runSoon: (work) => void works.push(work),
  });
  const runScheduledWork = () => {
    for (const work of works.splice(0)) work();
  };
  return { environment, sent, works, batcher, runScheduledWork };
}

test('the first message is sent at once, the following ones as a batch', () => {
  const { sent, batcher, runScheduledWork, works } = makeFixture();
  for (const message of ['a', 'b', 'c']) assert.equal(batcher.post(message), true);
  assert.deepEqual(sent, [['a']]);
  runScheduledWork();
  assert.deepEqual(sent, [['a'], ['b', 'c']]);
  batcher.post('d');
  runScheduledWork();
  assert.deepEqual(sent, [['a'], ['b', 'c'], ['d']]);
  // If no message is waiting, the batcher sends the next message immediately.
  runScheduledWork();
  assert.equal(works.length, 0);
  batcher.post('e');
  assert.deepEqual(sent.at(-1), ['e']);
});

test('after a message that is likely to be the last, no task is scheduled', () => {
  const { environment, sent, works, batcher } = makeFixture();
  environment.alone = true;
  batcher.post('a');
  batcher.post('b');
  assert.deepEqual(sent, [['a'], ['b']]);
  assert.equal(works.length, 0);
});

test('a long message is sent alone, after earlier messages', () => {
  const { sent, batcher, runScheduledWork } = makeFixture();
  const long = 'x'.repeat(16 * 1024);
  for (const message of ['a', 'b', long, 'c']) batcher.post(message);
  assert.deepEqual(sent, [['a'], ['b'], [long]]);
  runScheduledWork();
  assert.deepEqual(sent.at(-1), ['c']);
});

test('the batch size is limited', () => {
  const { sent, batcher } = makeFixture();
  const half = 'x'.repeat(16 * 1024 - 1);
  for (let i = 0; i < 40; i++) batcher.post(half);
  const chars = sent.map((messages) => messages.join('').length);
  assert.ok(sent.length > 1 && Math.max(...chars) < 300 * 1024, `the batches have ${chars} characters`);
});

test('without a port, post drops messages, and queued messages wait for the next port', () => {
  const { environment, sent, batcher, runScheduledWork } = makeFixture();
  batcher.post('a');
  batcher.post('b');
  environment.port = false;
  runScheduledWork();
  assert.equal(batcher.post('c'), false);
  assert.equal(batcher.flush(), false);
  environment.port = true;
  assert.equal(batcher.flush(), true);
  assert.deepEqual(sent, [['a'], ['b']]);
  batcher.post('d');
  assert.deepEqual(sent.at(-1), ['d']);
});

test('dropped messages do not count towards the batch size', () => {
  const { environment, sent, batcher, runScheduledWork } = makeFixture();
  const half = 'x'.repeat(16 * 1024 - 1);
  batcher.post('a');
  environment.port = false;
  for (let i = 0; i < 17; i++) batcher.post(half);
  batcher.drop((message) => message === half);
  environment.port = true;
  runScheduledWork();
  for (const message of ['b', 'c', 'd']) batcher.post(message);
  runScheduledWork();
  assert.deepEqual(sent, [['a'], ['b'], ['c', 'd']]);
});

test('makeTaskScheduler runs work after the tasks that are due', async (t) => {
  const channels: MessageChannel[] = [];
  const Real = MessageChannel;
  globalThis.MessageChannel = class extends Real {
    constructor() {
      super();
      channels.push(this);
    }
  };
  t.after(() => {
    globalThis.MessageChannel = Real;
    for (const { port1 } of channels) port1.close(); // Node does not exit while ports are open.
  });
  const soon = makeTaskScheduler();
  const order: string[] = [];
  await new Promise<void>((resolve) => {
    soon(() => order.push('first'));
    soon(() => {
      order.push('second');
      resolve();
    });
    order.push('now');
  });
  assert.deepEqual(order, ['now', 'first', 'second']);
});

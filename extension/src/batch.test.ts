import assert from 'node:assert/strict';
import test from 'node:test';
import { makeBatcher, makeTaskScheduler } from './batch.ts';

function makeFixture() {
  const environment = { port: true, alone: false };
  const sentBatches: string[][] = [];
  const scheduledTasks: (() => void)[] = [];
  const batcher = makeBatcher<string>({
    sendMessages: (sentMessages) => {
      if (environment.port) sentBatches.push([...sentMessages]);
      return environment.port;
    },
    countChars: (batchMessage) => batchMessage.length,
    isLikelyLastMessage: () => environment.alone,
    scheduleTask: (scheduledTask) => void scheduledTasks.push(scheduledTask),
  });
  const runScheduledTasks = () => {
    for (const scheduledTask of scheduledTasks.splice(0)) scheduledTask();
  };
  return { environment, sentBatches, scheduledWorks: scheduledTasks, batcher, runScheduledWork: runScheduledTasks };
}

test('the first message is sent at once, and the messages after it as one batch', () => {
  const { sentBatches, batcher, runScheduledWork, scheduledWorks } = makeFixture();
  for (const batchMessage of ['a', 'b', 'c']) assert.equal(batcher.post(batchMessage), true);
  assert.deepEqual(sentBatches, [['a']]);
  runScheduledWork();
  assert.deepEqual(sentBatches, [['a'], ['b', 'c']]);
  batcher.post('d');
  runScheduledWork();
  assert.deepEqual(sentBatches, [['a'], ['b', 'c'], ['d']]);
  // If no message is waiting, the batcher sends the next message immediately.
  runScheduledWork();
  assert.equal(scheduledWorks.length, 0);
  batcher.post('e');
  assert.deepEqual(sentBatches.at(-1), ['e']);
});

test('the batcher schedules no task after a message that is likely to be the last', () => {
  const { environment, sentBatches, scheduledWorks, batcher } = makeFixture();
  environment.alone = true;
  batcher.post('a');
  batcher.post('b');
  assert.deepEqual(sentBatches, [['a'], ['b']]);
  assert.equal(scheduledWorks.length, 0);
});

test('a long message is sent alone, after earlier messages', () => {
  const { sentBatches, batcher, runScheduledWork } = makeFixture();
  const longMessage = 'x'.repeat(16 * 1024);
  for (const batchMessage of ['a', 'b', longMessage, 'c']) batcher.post(batchMessage);
  assert.deepEqual(sentBatches, [['a'], ['b'], [longMessage]]);
  runScheduledWork();
  assert.deepEqual(sentBatches.at(-1), ['c']);
});

test('the batcher splits messages over several batches of limited size', () => {
  const { sentBatches, batcher } = makeFixture();
  const longestBatchedText = 'x'.repeat(16 * 1024 - 1);
  for (let i = 0; i < 40; i++) batcher.post(longestBatchedText);
  const batchCharCounts = sentBatches.map((sentMessages) => sentMessages.join('').length);
  assert.ok(
    sentBatches.length > 1 && Math.max(...batchCharCounts) < 300 * 1024,
    `batches of ${batchCharCounts} characters, want several below 300 KiB`,
  );
});

test('without a port, post drops messages, and queued messages wait for the next port', () => {
  const { environment, sentBatches, batcher, runScheduledWork } = makeFixture();
  batcher.post('a');
  batcher.post('b');
  environment.port = false;
  runScheduledWork();
  assert.equal(batcher.post('c'), false);
  assert.equal(batcher.flushMessages(), false);
  environment.port = true;
  assert.equal(batcher.flushMessages(), true);
  assert.deepEqual(sentBatches, [['a'], ['b']]);
  batcher.post('d');
  assert.deepEqual(sentBatches.at(-1), ['d']);
});

test('dropped messages do not count towards the batch size', () => {
  const { environment, sentBatches, batcher, runScheduledWork } = makeFixture();
  const longestBatchedText = 'x'.repeat(16 * 1024 - 1);
  batcher.post('a');
  environment.port = false;
  for (let i = 0; i < 17; i++) batcher.post(longestBatchedText);
  batcher.dropMatching((batchMessage) => batchMessage === longestBatchedText);
  environment.port = true;
  runScheduledWork();
  for (const batchMessage of ['b', 'c', 'd']) batcher.post(batchMessage);
  runScheduledWork();
  assert.deepEqual(sentBatches, [['a'], ['b'], ['c', 'd']]);
});

test('makeTaskScheduler runs work after the tasks that are due', async (t) => {
  const channels: MessageChannel[] = [];
  const RealMessageChannel = MessageChannel;
  globalThis.MessageChannel = class extends RealMessageChannel {
    constructor() {
      super();
      channels.push(this);
    }
  };
  t.after(() => {
    globalThis.MessageChannel = RealMessageChannel;
    for (const { port1 } of channels) port1.close(); // Node does not exit while ports are open.
  });
  const taskScheduler = makeTaskScheduler();
  const callOrder: string[] = [];
  await new Promise<void>((resolve) => {
    taskScheduler(() => callOrder.push('first'));
    taskScheduler(() => {
      callOrder.push('second');
      resolve();
    });
    callOrder.push('now');
  });
  assert.deepEqual(callOrder, ['now', 'first', 'second']);
});

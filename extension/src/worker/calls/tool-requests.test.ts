import assert from 'node:assert/strict';
import test from 'node:test';
import { parseFrame } from '../../../../wire/frame.ts';
import type { WorkerToBridgeMessage } from '../../port-message.ts';
import { makeToolRequests } from './tool-requests.ts';

function makeFixture() {
  const sentFrames: string[] = [];
  const postedMessages: WorkerToBridgeMessage[] = [];
  const toolRequests = makeToolRequests({
    send: (text) => sentFrames.push(text) > 0,
    post: (_id, message) => postedMessages.push(message) > 0,
  });
  return { toolRequests, sentFrames, postedMessages };
}

test('receiveRequest sends a message frame only for a valid body', () => {
  const { toolRequests, sentFrames } = makeFixture();
  const validBodies = [
    '{"call":{"tool":"t","args":{"n":9007199254740993}}}',
    ' {"user":{"reason":"r","title":"t"}} ',
    '{"withdrawn":true}',
  ];
  for (const requestBody of validBodies) toolRequests.receiveRequest('x', 1, requestBody);
  assert.equal(sentFrames.length, 3);
  assert.match(sentFrames[0] ?? '', /"n":9007199254740993/);
  for (const text of sentFrames) {
    const frame = parseFrame(text);
    assert.ok(frame.kind === 'notification' && frame.method === 'tool.ask');
    assert.deepEqual([frame.params.dispatchId, frame.params.ask], ['x', 1]);
  }
  sentFrames.splice(0);
  const malformedBodies = [
    '',
    '[]',
    'null',
    '{}',
    '{"other":1}',
    '{"call":{"tool":"t"}}',
    '{"user":{"reason":"r"},"dispatchId":"other"}',
    '{"user":{"reason":"r"},"withdrawn":true}',
    '{"user":{"reason":"r"}}}',
    '{"user":{"reason":"r"}},"dispatchId":"other",{',
  ];
  for (const requestBody of malformedBodies) toolRequests.receiveRequest('x', 2, requestBody);
  assert.deepEqual(sentFrames, []);
});

test('a repeated tool request gets the stored answer, and each call of answer resolves when confirmed', async () => {
  const { toolRequests, sentFrames, postedMessages } = makeFixture();
  const params = { dispatchId: 'x', ask: 1, output: 5 };
  toolRequests.receiveRequest('x', 1, '{"user":{"reason":"r"}}');
  const answerPromises = [toolRequests.answer(params), toolRequests.answer(params)];
  sentFrames.splice(0);
  postedMessages.splice(0);
  toolRequests.receiveRequest('x', 1, '{"user":{"reason":"r"}}');
  assert.deepEqual(postedMessages, [{ op: 'answer', id: 'x', ask: 1, output: '5' }]);
  assert.deepEqual(sentFrames, []);
  toolRequests.confirmAnswer('x', 1, true);
  assert.deepEqual(await Promise.all(answerPromises), [true, true]);
});

test('the promise of answer resolves with false when the call ends', async () => {
  const { toolRequests } = makeFixture();
  const answer = toolRequests.answer({ dispatchId: 'x', ask: 1 });
  toolRequests.forgetCallRequests('x');
  assert.equal(await answer, false);
});

test('at most 1,000 tool requests per call are stored, and further tool requests are sent only once', () => {
  const { toolRequests, sentFrames } = makeFixture();
  for (let ask = 1; ask <= 1100; ask++) toolRequests.receiveRequest('x', ask, '{"user":{"reason":"r"}}');
  assert.equal(sentFrames.splice(0).length, 1100);
  toolRequests.resume();
  assert.equal(sentFrames.splice(0).length, 1000);
  toolRequests.forgetCallRequests('x');
  toolRequests.resume();
  assert.deepEqual(sentFrames, []);
});

test('at most 64 MiB of unanswered tool requests of running calls are stored', () => {
  const { toolRequests, sentFrames } = makeFixture();
  const requestBody = `{"user":{"reason":"${'x'.repeat(1 << 20)}"}}`;
  const countResentFrames = () => {
    sentFrames.splice(0);
    toolRequests.resume();
    return sentFrames.length;
  };
  for (let ask = 1; ask <= 70; ask++) toolRequests.receiveRequest(`call${ask}`, 1, requestBody);
  assert.equal(countResentFrames(), 63);
  toolRequests.forgetCallRequests('call1');
  void toolRequests.answer({ dispatchId: 'call2', ask: 1 });
  toolRequests.confirmAnswer('call2', 1, true);
  toolRequests.receiveRequest('call3', 1, '{"withdrawn":true}');
  for (let ask = 1; ask <= 9; ask++) toolRequests.receiveRequest('late', ask, requestBody);
  assert.equal(countResentFrames(), 61 + 3);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import { parseFrame } from '../../../../wire/frame.ts';
import type { ToBridge } from '../../port-message.ts';
import { makeToolRequests } from './tool-requests.ts';

function makeFixture() {
  const sentFrames: string[] = [];
  const postedMessages: ToBridge[] = [];
  const toolRequests = makeToolRequests({
    send: (text) => sentFrames.push(text) > 0,
    post: (_id, message) => postedMessages.push(message) > 0,
  });
  return { toolRequests, sentFrames, postedMessages };
}

test('receiveRequest sends a frame for a valid body and nothing for an invalid one', () => {
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

test('a repeated request gets the waiting answer, and each answer resolves with the confirmation', async () => {
  const { toolRequests, sentFrames, postedMessages } = makeFixture();
  const params = { dispatchId: 'x', ask: 1, output: 5 };
  toolRequests.receiveRequest('x', 1, '{"user":{"reason":"r"}}');
  const bothAnswers = [toolRequests.answer(params), toolRequests.answer(params)];
  sentFrames.splice(0);
  postedMessages.splice(0);
  toolRequests.receiveRequest('x', 1, '{"user":{"reason":"r"}}');
  assert.deepEqual(postedMessages, [{ op: 'answer', id: 'x', ask: 1, output: '5' }]);
  assert.deepEqual(sentFrames, []);
  toolRequests.confirmAnswer('x', 1, true);
  assert.deepEqual(await Promise.all(bothAnswers), [true, true]);
});

test('an answer to a call that ends resolves with false', async () => {
  const { toolRequests } = makeFixture();
  const answer = toolRequests.answer({ dispatchId: 'x', ask: 1 });
  toolRequests.forget('x');
  assert.equal(await answer, false);
});

test('1,000 tool requests per call are stored, and further tool requests are sent once', () => {
  const { toolRequests, sentFrames } = makeFixture();
  for (let ask = 1; ask <= 1100; ask++) toolRequests.receiveRequest('x', ask, '{"user":{"reason":"r"}}');
  assert.equal(sentFrames.splice(0).length, 1100);
  toolRequests.resume();
  assert.equal(sentFrames.splice(0).length, 1000);
  toolRequests.forget('x');
  toolRequests.resume();
  assert.deepEqual(sentFrames, []);
});

test('64 MiB of tool requests are stored, not counting answered requests and ended calls', () => {
  const { toolRequests, sentFrames } = makeFixture();
  const requestBody = `{"user":{"reason":"${'x'.repeat(1 << 20)}"}}`;
  const readKeptAnswers = () => {
    sentFrames.splice(0);
    toolRequests.resume();
    return sentFrames.length;
  };
  for (let ask = 1; ask <= 70; ask++) toolRequests.receiveRequest(`call${ask}`, 1, requestBody);
  assert.equal(readKeptAnswers(), 63);
  toolRequests.forget('call1');
  void toolRequests.answer({ dispatchId: 'call2', ask: 1 });
  toolRequests.confirmAnswer('call2', 1, true);
  toolRequests.receiveRequest('call3', 1, '{"withdrawn":true}');
  for (let ask = 1; ask <= 9; ask++) toolRequests.receiveRequest('late', ask, requestBody);
  assert.equal(readKeptAnswers(), 61 + 3);
});

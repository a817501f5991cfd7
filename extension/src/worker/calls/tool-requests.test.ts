import assert from 'node:assert/strict';
import test from 'node:test';
import { parseFrame } from '../../../../wire/frame.ts';
import type { ToBridge } from '../../port-message.ts';
import { makeToolRequests } from './tool-requests.ts';

function makeFixture() {
  const sent: string[] = [];
  const posted: ToBridge[] = [];
  const toolRequests = makeToolRequests({
    send: (text) => sent.push(text) > 0,
    post: (_id, message) => posted.push(message) > 0,
  });
  return { toolRequests, sent, posted };
}

test('receiveRequest sends a frame for a valid body and nothing for an invalid one', () => {
  const { toolRequests, sent } = makeFixture();
  const good = [
    '{"call":{"tool":"t","args":{"n":9007199254740993}}}',
    ' {"user":{"reason":"r","title":"t"}} ',
    '{"withdrawn":true}',
  ];
  for (const body of good) toolRequests.receiveRequest('x', 1, body);
  assert.equal(sent.length, 3);
  assert.match(sent[0] ?? '', /"n":9007199254740993/);
  for (const text of sent) {
    const frame = parseFrame(text);
    assert.ok(frame.kind === 'notification' && frame.method === 'tool.ask');
    assert.deepEqual([frame.params.dispatchId, frame.params.ask], ['x', 1]);
  }
  sent.splice(0);
  const bad = [
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
  for (const body of bad) toolRequests.receiveRequest('x', 2, body);
  assert.deepEqual(sent, []);
});

test('a repeated request gets the waiting answer, and each answer resolves with the confirmation', async () => {
  const { toolRequests, sent, posted } = makeFixture();
  const params = { dispatchId: 'x', ask: 1, output: 5 };
  toolRequests.receiveRequest('x', 1, '{"user":{"reason":"r"}}');
  const both = [toolRequests.answer(params), toolRequests.answer(params)];
  sent.splice(0);
  posted.splice(0);
  toolRequests.receiveRequest('x', 1, '{"user":{"reason":"r"}}');
  assert.deepEqual(posted, [{ op: 'answer', id: 'x', ask: 1, output: '5' }]);
  assert.deepEqual(sent, []);
  toolRequests.confirmAnswer('x', 1, true);
  assert.deepEqual(await Promise.all(both), [true, true]);
});

test('an answer to a call that ends resolves with false', async () => {
  const { toolRequests } = makeFixture();
  const answer = toolRequests.answer({ dispatchId: 'x', ask: 1 });
  toolRequests.forget('x');
  assert.equal(await answer, false);
});

test('1,000 tool requests per call are stored, and further tool requests are sent once', () => {
  const { toolRequests, sent } = makeFixture();
  for (let ask = 1; ask <= 1100; ask++) toolRequests.receiveRequest('x', ask, '{"user":{"reason":"r"}}');
  assert.equal(sent.splice(0).length, 1100);
  toolRequests.resume();
  assert.equal(sent.splice(0).length, 1000);
  toolRequests.forget('x');
  toolRequests.resume();
  assert.deepEqual(sent, []);
});

test('64 MiB of tool requests are stored, not counting answered requests and ended calls', () => {
  const { toolRequests, sent } = makeFixture();
  const body = `{"user":{"reason":"${'x'.repeat(1 << 20)}"}}`;
  const kept = () => {
    sent.splice(0);
    toolRequests.resume();
    return sent.length;
  };
  for (let ask = 1; ask <= 70; ask++) toolRequests.receiveRequest(`call${ask}`, 1, body);
  assert.equal(kept(), 63);
  toolRequests.forget('call1');
  void toolRequests.answer({ dispatchId: 'call2', ask: 1 });
  toolRequests.confirmAnswer('call2', 1, true);
  toolRequests.receiveRequest('call3', 1, '{"withdrawn":true}');
  for (let ask = 1; ask <= 9; ask++) toolRequests.receiveRequest('late', ask, body);
  assert.equal(kept(), 61 + 3);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import { parseFrame } from '../../../../wire/frame.ts';
import type { ToBridge } from '../../port-message.ts';
import { makeAsks } from './asks.ts';

function makeBench() {
  const sent: string[] = [];
  const posted: ToBridge[] = [];
  const asks = makeAsks({
    send: (text) => sent.push(text) > 0,
    post: (_id, message) => posted.push(message) > 0,
  });
  return { asks, sent, posted };
}

test('receiveAsk sends a frame for a valid body and nothing for an invalid one', () => {
  const { asks, sent } = makeBench();
  const good = [
    '{"call":{"tool":"t","args":{"n":9007199254740993}}}',
    ' {"user":{"reason":"r","title":"t"}} ',
    '{"withdrawn":true}',
  ];
  for (const body of good) asks.receiveAsk('x', 1, body);
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
  for (const body of bad) asks.receiveAsk('x', 2, body);
  assert.deepEqual(sent, []);
});

test('a repeated ask gets the waiting answer, and each answer resolves with the confirmation', async () => {
  const { asks, sent, posted } = makeBench();
  const params = { dispatchId: 'x', ask: 1, output: 5 };
  asks.receiveAsk('x', 1, '{"user":{"reason":"r"}}');
  const both = [asks.answer(params), asks.answer(params)];
  sent.splice(0);
  posted.splice(0);
  asks.receiveAsk('x', 1, '{"user":{"reason":"r"}}');
  assert.deepEqual(posted, [{ op: 'answer', id: 'x', ask: 1, output: '5' }]);
  assert.deepEqual(sent, []);
  asks.confirmAnswer('x', 1, true);
  assert.deepEqual(await Promise.all(both), [true, true]);
});

test('an answer to a call that ends resolves with false', async () => {
  const { asks } = makeBench();
  const answer = asks.answer({ dispatchId: 'x', ask: 1 });
  asks.forget('x');
  assert.equal(await answer, false);
});

test('1,000 asks per call are stored, and further asks are sent once', () => {
  const { asks, sent } = makeBench();
  for (let ask = 1; ask <= 1100; ask++) asks.receiveAsk('x', ask, '{"user":{"reason":"r"}}');
  assert.equal(sent.splice(0).length, 1100);
  asks.resume();
  assert.equal(sent.splice(0).length, 1000);
  asks.forget('x');
  asks.resume();
  assert.deepEqual(sent, []);
});

test('64 MiB of asks are stored, not counting answered asks and ended calls', () => {
  const { asks, sent } = makeBench();
  const body = `{"user":{"reason":"${'x'.repeat(1 << 20)}"}}`;
  const kept = () => {
    sent.splice(0);
    asks.resume();
    return sent.length;
  };
  for (let ask = 1; ask <= 70; ask++) asks.receiveAsk(`call${ask}`, 1, body);
  assert.equal(kept(), 63);
  asks.forget('call1');
  void asks.answer({ dispatchId: 'call2', ask: 1 });
  asks.confirmAnswer('call2', 1, true);
  asks.receiveAsk('call3', 1, '{"withdrawn":true}');
  for (let ask = 1; ask <= 9; ask++) asks.receiveAsk('late', ask, body);
  assert.equal(kept(), 61 + 3);
});

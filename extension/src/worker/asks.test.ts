import assert from 'node:assert/strict';
import test from 'node:test';
import { parseFrame } from '../../../wire/frame.ts';
import type { ToBridge } from '../port-message.ts';
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

test('what a document sends as an ask is a frame of its call, or nothing', () => {
  const { asks, sent } = makeBench();
  const good = [
    '{"call":{"tool":"t","args":{"n":9007199254740993}}}',
    ' {"user":{"reason":"r","title":"t"}} ',
    '{"withdrawn":true}',
  ];
  for (const body of good) asks.asked('x', 1, body);
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
  for (const body of bad) asks.asked('x', 2, body);
  assert.deepEqual(sent, []);
});

test('an ask that comes again gets the answer that waits, and each that gave it hears whether it was taken', async () => {
  const { asks, sent, posted } = makeBench();
  const params = { dispatchId: 'x', ask: 1, output: 5 };
  asks.asked('x', 1, '{"user":{"reason":"r"}}');
  const both = [asks.answer(params), asks.answer(params)];
  sent.splice(0);
  posted.splice(0);
  asks.asked('x', 1, '{"user":{"reason":"r"}}');
  assert.deepEqual(posted, [{ op: 'answer', id: 'x', ask: 1, output: '5' }]);
  assert.deepEqual(sent, []);
  asks.answered('x', 1, true);
  assert.deepEqual(await Promise.all(both), [true, true]);
});

test('an answer to a call that ends is not taken', async () => {
  const { asks } = makeBench();
  const answer = asks.answer({ dispatchId: 'x', ask: 1 });
  asks.ended('x');
  assert.equal(await answer, false);
});

test('1,000 asks of a call are kept, and all of them sent once', () => {
  const { asks, sent } = makeBench();
  for (let ask = 1; ask <= 1100; ask++) asks.asked('x', ask, '{"user":{"reason":"r"}}');
  assert.equal(sent.splice(0).length, 1100);
  asks.resume();
  assert.equal(sent.splice(0).length, 1000);
  asks.ended('x');
  asks.resume();
  assert.deepEqual(sent, []);
});

test('64 MiB of asks are kept, those of ended calls and answered ones not among them', () => {
  const { asks, sent } = makeBench();
  const body = `{"user":{"reason":"${'x'.repeat(1 << 20)}"}}`;
  const kept = () => {
    sent.splice(0);
    asks.resume();
    return sent.length;
  };
  for (let ask = 1; ask <= 70; ask++) asks.asked(`call${ask}`, 1, body);
  assert.equal(kept(), 63);
  asks.ended('call1');
  void asks.answer({ dispatchId: 'call2', ask: 1 });
  asks.answered('call2', 1, true);
  asks.asked('call3', 1, '{"withdrawn":true}');
  for (let ask = 1; ask <= 9; ask++) asks.asked('late', ask, body);
  assert.equal(kept(), 61 + 3);
});

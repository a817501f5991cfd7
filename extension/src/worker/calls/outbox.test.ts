import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { Outbox } from './outbox.ts';

function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const sentFrames: string[] = [];
  const deliveredIds: string[] = [];
  const pendingPongs: { ok(): void; bad(): void }[] = [];
  const link = { open: true, pongs: pendingPongs };
  const outbox = new Outbox({
    send: (frameText) => {
      if (link.open) sentFrames.push(frameText);
      return link.open;
    },
    requestConfirmation: () =>
      link.open
        ? new Promise<void>((ok, bad) => link.pongs.push({ ok, bad: () => bad(new Error('lost')) }))
        : Promise.reject(new Error('no link')),
  });
  outbox.deliverySignal.addListener((ids) => deliveredIds.push(...ids));
  const waitUntilIdle = async () => {
    for (let i = 0; i < 10; i++) await Promise.resolve();
  };
  return { outbox, sentFrames, deliveredIds, link, waitUntilIdle };
}

test('while the link is open, messages are sent at once with unchanged text', (t) => {
  const { outbox, sentFrames } = makeFixture(t);
  outbox.addProgress('a', { seq: 0, skipped: 0, reports: '[{"progress":1}]' });
  outbox.addProgress('a', { seq: 4, skipped: 3, reports: '[{}]' });
  outbox.addPart('a', 0, '"x');
  outbox.endWithResult('a', undefined, 1);
  outbox.endWithResult('b', '{"big":12345678901234567890}', undefined);
  outbox.endWithResult('c', undefined, undefined);
  outbox.fail('d', { code: 'tab_closed', message: 'gone' });
  assert.deepEqual(sentFrames, [
    '{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"a","seq":0,"reports":[{"progress":1}]}}',
    '{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"a","seq":4,"reports":[{}],"skipped":3}}',
    '{"jsonrpc":"2.0","method":"tool.part","params":{"dispatchId":"a","seq":0,"text":"\\"x"}}',
    '{"jsonrpc":"2.0","id":"a","result":{"parts":1}}',
    '{"jsonrpc":"2.0","id":"b","result":{"output":{"big":12345678901234567890}}}',
    '{"jsonrpc":"2.0","id":"c","result":{}}',
    '{"jsonrpc":"2.0","id":"d","error":{"code":-32000,"message":"gone","data":{"code":"tab_closed","message":"gone"}}}',
  ]);
});

test('the outbox sends only the first ending of a call', (t) => {
  const { outbox, sentFrames } = makeFixture(t);
  outbox.endWithResult('a', '1', undefined);
  outbox.endWithResult('a', '2', undefined);
  outbox.fail('a', { code: 'navigated', message: 'x' });
  assert.equal(sentFrames.length, 1);
});

test('an ending counts as delivered when the server answers a later ping', async (t) => {
  const { outbox, sentFrames, deliveredIds, link, waitUntilIdle } = makeFixture(t);
  outbox.endWithResult('a', '1', undefined);
  t.mock.timers.tick(1000);
  assert.equal(link.pongs.length, 1);
  // The server's answer to a ping does not confirm a result that the worker sent after the ping.
  outbox.endWithResult('b', '2', undefined);
  link.pongs[0]?.ok();
  await waitUntilIdle();
  assert.deepEqual(deliveredIds, ['a']);
  assert.deepEqual([outbox.isStored('a'), outbox.isStored('b')], [false, true]);
  t.mock.timers.tick(1000);
  link.pongs[1]?.ok();
  await waitUntilIdle();
  assert.deepEqual(deliveredIds, ['a', 'b']);
  t.mock.timers.tick(60_000);
  assert.deepEqual([link.pongs.length, sentFrames.length], [2, 2]);
});

test('frames that a lost link may have dropped are sent again and then delivered', async (t) => {
  const { outbox, sentFrames, deliveredIds, link, waitUntilIdle } = makeFixture(t);
  outbox.addPart('a', 0, 'x');
  outbox.endWithResult('a', undefined, 1);
  t.mock.timers.tick(1000);
  link.open = false;
  link.pongs[0]?.bad();
  await waitUntilIdle();
  t.mock.timers.tick(60_000);
  const framesBeforeReconnect = sentFrames.splice(0);
  link.open = true;
  outbox.resume();
  assert.deepEqual(sentFrames, framesBeforeReconnect);
  t.mock.timers.tick(1000);
  link.pongs[1]?.ok();
  await waitUntilIdle();
  assert.deepEqual(deliveredIds, ['a']);
});

test("without a link, progress reports wait and are then sent before the call's ending", (t) => {
  const { outbox, sentFrames, link } = makeFixture(t);
  link.open = false;
  outbox.addProgress('a', { seq: 0, skipped: 0, reports: '[{"progress":1}]' });
  outbox.addProgress('a', { seq: 1, skipped: 0, reports: '[{"progress":2}]' });
  outbox.endWithResult('a', '1', undefined);
  outbox.addProgress('b', { seq: 0, skipped: 0, reports: '[{"progress":7}]' });
  link.open = true;
  outbox.resume();
  assert.deepEqual(
    sentFrames.map((s) => /"progress":\d|"output":\d/.exec(s)?.[0]),
    ['"progress":1', '"progress":2', '"progress":7', '"output":1'],
  );
});

test('the outbox drops the messages of a call that the server no longer wants', (t) => {
  const { outbox, sentFrames, link } = makeFixture(t);
  link.open = false;
  outbox.addProgress('a', { seq: 0, skipped: 0, reports: '[{}]' });
  outbox.endWithResult('a', '1', undefined);
  outbox.drop('a');
  link.open = true;
  outbox.resume();
  assert.deepEqual(sentFrames, []);
  assert.equal(outbox.isStored('a'), false);
});

test('the outbox replaces a result that is too large to store with an error that contains the reason', (t) => {
  const { outbox, sentFrames, link } = makeFixture(t);
  link.open = false;
  const frameText = 'x'.repeat(1 << 20);
  for (let i = 0; i < 130; i++) outbox.addPart('huge', i, frameText);
  outbox.endWithResult('huge', undefined, 130);
  outbox.endWithResult('small', '1', undefined);
  link.open = true;
  outbox.resume();
  assert.equal(sentFrames.length, 2);
  assert.match(sentFrames[0] ?? '', /"id":"huge","error":.*"link_lost".*too large to be kept/);
  assert.match(sentFrames[1] ?? '', /"id":"small","result"/);
});

test('unconfirmed progress reports are sent again after a lost link, before the ending of their call', async (t) => {
  const { outbox, sentFrames, link, waitUntilIdle } = makeFixture(t);
  const report = (seq: number) => outbox.addProgress('a', { seq, skipped: 0, reports: `[{"progress":${seq}}]` });
  const takeSentSeqNumbers = () =>
    sentFrames.splice(0).map((frameText) => /"seq":(\d+)|"output":1/.exec(frameText)?.[1] ?? 'end');
  report(0);
  t.mock.timers.tick(1000);
  report(1);
  link.pongs[0]?.ok();
  await waitUntilIdle();
  report(2);
  assert.deepEqual(takeSentSeqNumbers(), ['0', '1', '2']);
  link.open = false;
  report(3);
  outbox.endWithResult('a', '1', undefined);
  link.open = true;
  outbox.resume();
  assert.deepEqual(takeSentSeqNumbers(), ['1', '2', '3', 'end']);
  outbox.resume();
  assert.deepEqual(takeSentSeqNumbers(), ['1', '2', '3', 'end']);
  t.mock.timers.tick(1000);
  link.pongs[1]?.ok();
  await waitUntilIdle();
  outbox.resume();
  assert.deepEqual(takeSentSeqNumbers(), []);
  t.mock.timers.tick(60_000);
  assert.equal(link.pongs.length, 2);
});

test('the outbox keeps only the newest 256 Ki UTF-16 units of unconfirmed progress reports', (t) => {
  const { outbox, sentFrames } = makeFixture(t);
  const frameText = `["${'x'.repeat(100 * 1024)}"]`;
  for (let seq = 0; seq < 9; seq++) outbox.addProgress('a', { seq, skipped: 0, reports: frameText });
  sentFrames.splice(0);
  outbox.resume();
  assert.deepEqual(
    sentFrames.map((frame) => /"seq":(\d+)/.exec(frame)?.[1]),
    ['7', '8'],
  );
});

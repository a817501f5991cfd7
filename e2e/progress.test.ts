/** Promise: for any reports of a tool, the result is correct and the notifications conform to the protocol. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { McpClient, Outcome } from './harness/client.ts';
import { type Stack, startStack, transports } from './harness/stack.ts';

let stack: Stack;

before(async () => {
  stack = await startStack();
});
after(() => stack?.close());

function checkProtocol(out: Outcome): void {
  assert.equal(out.isError, false, out.text);
  for (const [i, p] of out.progress.entries()) {
    assert.ok(Number.isFinite(p.progress), `progress ${p.progress}`);
    const previous = out.progress[i - 1];
    if (previous) assert.ok(p.progress > previous.progress, `${p.progress} after ${previous.progress}`);
    if (p.total !== undefined) assert.ok(p.progress <= p.total * (1 + 1e-9), `${p.progress} of ${p.total}`);
  }
  // The limit is ten notifications per second, plus the first and the last report and the final notification. The limit
  // covers the whole call, because a busy machine may deliver the notifications of two seconds within one second.
  const maxCount = out.durationMs / 100 + 3;
  assert.ok(out.progress.length <= maxCount, `${out.progress.length} notifications in ${out.durationMs} ms`);
}

const malformedReports = [
  { progress: 1, total: 10 },
  { progress: 'NaN', message: 'not a number' },
  { progress: 'Infinity', total: 10 },
  { progress: -3 },
  { progress: 1, total: 10 },
  { progress: 0.5, total: 10, message: 'backwards' },
  { progress: 150, total: 100, message: 'too much' },
  {},
  { message: 'words only' },
  { total: 10 },
  { progress: 10, total: 10, message: 'final' },
];

for (const [name, connect] of transports) {
  test(`malformed reports do not harm the call over ${name}`, async () => {
    const client: McpClient = await connect(stack);
    const out = await client.call('messages__reports', { reports: malformedReports });
    checkProtocol(out);
    const last = out.progress.at(-1);
    assert.deepEqual([last?.message, last?.progress], ['final', 10]);
  });

  test(`reports with numbers arrive between reports without numbers over ${name}`, async () => {
    const client: McpClient = await connect(stack);
    const countedReports = [1, 2, 3].map((progress) => ({ progress, total: 3 }));
    const wordReports = ['indexing', 'still indexing', 'sorting'].map((message) => ({ message, audience: 'user' }));
    const reports = [...wordReports, ...countedReports, { message: 'tidying up' }];
    const out = await client.call('messages__reports', { reports, everyMs: 300 });
    checkProtocol(out);
    const lastCounted = out.progress.findIndex((report) => report.progress === 3 && report.total === 3);
    assert.ok(lastCounted > 0, JSON.stringify(out.progress));
    for (const [i, p] of out.progress.entries()) {
      assert.ok(p.progress >= 0.000001, `${p.progress} is too small to be a useful number`);
      assert.equal(
        i < lastCounted ? p.progress < 3 : i === lastCounted || (p.progress > 3 && p.total === undefined),
        true,
        JSON.stringify(p),
      );
    }
    const [first, last] = [out.progress[0], out.progress.at(-1)];
    assert.ok(first && first.progress < 0.001 && /indexing|sorting/.test(first.message ?? ''), JSON.stringify(first));
    assert.deepEqual([last?.message, last?.total], ['tidying up', undefined]);
  });

  test(`100,000 reports in a loop are coalesced and counted over ${name}`, async () => {
    const client: McpClient = await connect(stack);
    const out = await client.call('messages__reports', { loop: 100_000 });
    checkProtocol(out);
    assert.equal(out.progress.at(-1)?.progress, 100_000);
    const record = (await stack.listCalls()).find((call) => call.reports >= 100_000);
    assert.equal(record?.reports, 100_000, 'not every report was counted');
  });
}

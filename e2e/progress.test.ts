/** Whatever progress a tool reports, its result is correct and the progress notifications conform to MCP. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { McpClient, Outcome } from './harness/client.ts';
import { type Stack, startStack, transports } from './harness/stack.ts';

let stack: Stack;

before(async () => {
  stack = await startStack();
});
after(() => stack?.close());

function checkProtocol(outcome: Outcome): void {
  assert.equal(outcome.isError, false, outcome.text);
  for (const [i, p] of outcome.progress.entries()) {
    assert.ok(Number.isFinite(p.progress), `the progress ${p.progress} is not finite`);
    const previous = outcome.progress[i - 1];
    if (previous) assert.ok(p.progress > previous.progress, `progress ${p.progress} came after ${previous.progress}`);
    if (p.total !== undefined)
      assert.ok(p.progress <= p.total * (1 + 1e-9), `progress ${p.progress} is above the total ${p.total}`);
  }
  // A busy machine may deliver the notifications of two seconds in one, so the test checks the average rate.
  const maxCount = outcome.durationMs / 100 + 3;
  assert.ok(
    outcome.progress.length <= maxCount,
    `${outcome.progress.length} notifications in ${outcome.durationMs} ms`,
  );
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
    const outcome = await client.call('messages__reports', { reports: malformedReports });
    checkProtocol(outcome);
    const lastReport = outcome.progress.at(-1);
    assert.deepEqual([lastReport?.message, lastReport?.progress], ['final', 10]);
  });

  test(`reports with numbers arrive between reports without numbers over ${name}`, async () => {
    const client: McpClient = await connect(stack);
    const countedReports = [1, 2, 3].map((progress) => ({ progress, total: 3 }));
    const wordReports = ['indexing', 'still indexing', 'sorting'].map((message) => ({ message, audience: 'user' }));
    const reports = [...wordReports, ...countedReports, { message: 'tidying up' }];
    const outcome = await client.call('messages__reports', { reports, everyMs: 1_000 });
    checkProtocol(outcome);
    const lastCounted = outcome.progress.findIndex((report) => report.progress === 3 && report.total === 3);
    assert.ok(lastCounted > 0, JSON.stringify(outcome.progress));
    for (const [i, p] of outcome.progress.entries()) {
      assert.ok(p.progress >= 0.000001, `${p.progress} is too small to be a useful number`);
      assert.equal(
        i < lastCounted ? p.progress < 3 : i === lastCounted || (p.progress > 3 && p.total === undefined),
        true,
        JSON.stringify(p),
      );
    }
    const [firstReport, lastReport] = [outcome.progress[0], outcome.progress.at(-1)];
    assert.ok(
      firstReport && firstReport.progress < 0.001 && /indexing|sorting/.test(firstReport.message ?? ''),
      JSON.stringify(firstReport),
    );
    assert.deepEqual([lastReport?.message, lastReport?.total], ['tidying up', undefined]);
  });

  test(`100,000 reports in a loop are coalesced and counted over ${name}`, async () => {
    const client: McpClient = await connect(stack);
    const outcome = await client.call('messages__reports', { loop: 100_000 });
    checkProtocol(outcome);
    assert.equal(outcome.progress.at(-1)?.progress, 100_000);
    const record = (await stack.listCalls()).find((call) => call.reports >= 100_000);
    assert.equal(record?.reports, 100_000, 'not every report was counted');
  });
}

/** Whatever progress a tool reports, its result is correct and the progress notifications conform to MCP. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CallOutcome, McpClient } from './harness/client.ts';
import { clientTransports, type Stack, startStack } from './harness/stack.ts';

let stack: Stack;

before(async () => {
  stack = await startStack();
});
after(() => stack?.close());

function assertProgressProtocol(callOutcome: CallOutcome): void {
  assert.equal(callOutcome.isError, false, callOutcome.text);
  for (const [i, progressReport] of callOutcome.progress.entries()) {
    assert.ok(Number.isFinite(progressReport.progress), `the progress ${progressReport.progress} is not finite`);
    const previousReport = callOutcome.progress[i - 1];
    if (previousReport)
      assert.ok(
        progressReport.progress > previousReport.progress,
        `progress ${progressReport.progress} came after ${previousReport.progress}, want increasing numbers`,
      );
    if (progressReport.total !== undefined)
      assert.ok(
        progressReport.progress <= progressReport.total * (1 + 1e-9),
        `progress ${progressReport.progress} is above the total ${progressReport.total}`,
      );
  }
  // A busy machine may deliver the notifications of two seconds in one, so the test checks the average rate.
  const maxCount = callOutcome.durationMs / 100 + 3;
  assert.ok(
    callOutcome.progress.length <= maxCount,
    `${callOutcome.progress.length} notifications in ${callOutcome.durationMs} ms, want at most ${maxCount}`,
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

for (const [name, connectClient] of clientTransports) {
  test(`malformed reports do not harm the call over ${name}`, async () => {
    const client: McpClient = await connectClient(stack);
    const callOutcome = await client.call('messages__reports', { reports: malformedReports });
    assertProgressProtocol(callOutcome);
    const lastReport = callOutcome.progress.at(-1);
    assert.deepEqual([lastReport?.message, lastReport?.progress], ['final', 10]);
  });

  test(`reports with numbers arrive between reports without numbers over ${name}`, async () => {
    const client: McpClient = await connectClient(stack);
    const numberedReports = [1, 2, 3].map((progress) => ({ progress, total: 3 }));
    const textOnlyReports = ['indexing', 'still indexing', 'sorting'].map((reportMessage) => ({
      message: reportMessage,
      audience: 'user',
    }));
    const reports = [...textOnlyReports, ...numberedReports, { message: 'tidying up' }];
    const callOutcome = await client.call('messages__reports', { reports, everyMs: 1_000 });
    assertProgressProtocol(callOutcome);
    const lastCountReportIndex = callOutcome.progress.findIndex(
      (report) => report.progress === 3 && report.total === 3,
    );
    assert.ok(lastCountReportIndex > 0, JSON.stringify(callOutcome.progress));
    for (const [i, progressReport] of callOutcome.progress.entries()) {
      assert.ok(progressReport.progress >= 0.000001, `${progressReport.progress} is too small to be a useful number`);
      assert.equal(
        i < lastCountReportIndex
          ? progressReport.progress < 3
          : i === lastCountReportIndex || (progressReport.progress > 3 && progressReport.total === undefined),
        true,
        JSON.stringify(progressReport),
      );
    }
    const [firstReport, lastReport] = [callOutcome.progress[0], callOutcome.progress.at(-1)];
    assert.ok(
      firstReport && firstReport.progress < 0.001 && /indexing|sorting/.test(firstReport.message ?? ''),
      JSON.stringify(firstReport),
    );
    assert.deepEqual([lastReport?.message, lastReport?.total], ['tidying up', undefined]);
  });

  test(`100,000 reports in a loop are coalesced and counted over ${name}`, async () => {
    const client: McpClient = await connectClient(stack);
    const callOutcome = await client.call('messages__reports', { loop: 100_000 });
    assertProgressProtocol(callOutcome);
    assert.equal(callOutcome.progress.at(-1)?.progress, 100_000);
    const callRecord = (await stack.listCalls()).find((call) => call.reports >= 100_000);
    assert.equal(callRecord?.reports, 100_000, 'every report must be counted');
  });
}

/**
 * Measures the real limits with the official MCP client, in slightly more than 5 min. To run this test, use make soak
 * ONLY=limits.
 *
 * All calls run concurrently in one page. For each call, one line compares the expected and the actual ending and time.
 */
import type { CallOptions, Outcome } from '../harness/client.ts';
import { startStack } from '../harness/stack.ts';

/** LimitCase is a call and its expected ending. */
interface LimitCase {
  readonly name: string;
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly options?: CallOptions;
  /** The expected ending: "ok" or an error code. */
  readonly expectedCode: string;
  readonly atMs: number;
  readonly notifications?: number;
}

const heartbeatArgs = (everyMs: number, forMs: number) => ({ everyMs, forMs });

const limitCases: readonly LimitCase[] = [
  {
    name: 'reports each 10 s for 35 s',
    tool: 'heartbeat',
    args: heartbeatArgs(10_000, 35_000),
    expectedCode: 'ok',
    atMs: 35_000,
  },
  {
    name: 'reports each 10 s for 70 s',
    tool: 'heartbeat',
    args: heartbeatArgs(10_000, 70_000),
    expectedCode: 'ok',
    atMs: 70_000,
  },
  {
    name: 'the same without a progress token',
    tool: 'heartbeat',
    args: heartbeatArgs(10_000, 70_000),
    options: { withoutProgress: true },
    expectedCode: 'ok',
    atMs: 70_000,
    notifications: 0,
  },
  {
    name: 'gaps of 29.5 s',
    tool: 'heartbeat',
    args: heartbeatArgs(29_500, 88_500),
    expectedCode: 'ok',
    atMs: 88_500,
  },
  {
    name: 'silent',
    tool: 'silent',
    args: { forMs: 120_000 },
    expectedCode: 'idle_timeout',
    atMs: 30_000,
    notifications: 0,
  },
  {
    name: 'silent, and ignores the abort',
    tool: 'stubborn',
    args: { forMs: 60_000 },
    expectedCode: 'idle_timeout',
    atMs: 30_000,
  },
  {
    name: 'a gap of 31 s after 10 s',
    tool: 'heartbeat',
    args: heartbeatArgs(31_000, 62_000),
    expectedCode: 'idle_timeout',
    atMs: 30_000,
  },
  {
    name: 'reports each 10 s for ever',
    tool: 'heartbeat',
    args: heartbeatArgs(10_000, 0),
    expectedCode: 'deadline_exceeded',
    atMs: 300_000,
  },
  {
    name: 'reports each second for ever',
    tool: 'heartbeat',
    args: heartbeatArgs(1_000, 0),
    expectedCode: 'deadline_exceeded',
    atMs: 300_000,
  },
];

const toleranceMs = 400;

/** checkLimits makes all calls over HTTP and over stdio, and reports whether each call ended as expected. */
export async function checkLimits(printLine: (line: string) => void): Promise<boolean> {
  const stack = await startStack();
  let failed = 0;
  try {
    const clients = { http: await stack.connectHttp(), stdio: await stack.connectStdio() };
    await Promise.all(
      Object.entries(clients).flatMap(([transport, client]) =>
        limitCases.map(async (row) => {
          const out = await client.call(`messages__${row.tool}`, row.args, row.options);
          const passed = isAsExpected(row, out);
          if (!passed) failed++;
          printLine(
            `${passed ? 'ok  ' : 'FAIL'} ${row.name.padEnd(34)} ${transport.padEnd(5)} ${describeOutcome(row, out)}`,
          );
          if (out.isError) printLine(`       ${out.text}`);
        }),
      ),
    );
    const aborted = await stack.page.evaluate(() => document.documentElement.dataset.aborted);
    printLine(`the last abort reason in the page: ${aborted ?? 'none'}`);
    if (aborted === undefined) failed++;
    const running = (await stack.listCalls()).filter((call) => call.status === 'running' || call.status === 'pending');
    printLine(`${running.length} calls still run`);
    failed += running.length;
  } finally {
    await stack.close();
  }
  printLine(`${limitCases.length * 2 - failed} passed, ${failed} failed`);
  return failed === 0;
}

function codeOf(out: Outcome): string {
  return out.isError ? String(out.code) : 'ok';
}

function isAsExpected(row: LimitCase, out: Outcome): boolean {
  return (
    codeOf(out) === row.expectedCode &&
    Math.abs(out.durationMs - row.atMs) <= toleranceMs &&
    (row.notifications === undefined || row.notifications === out.progress.length)
  );
}

function describeOutcome(row: LimitCase, out: Outcome): string {
  const formatSeconds = (ms: number, digits: number) => `${(ms / 1000).toFixed(digits)} s`;
  return (
    `want ${row.expectedCode} at ${formatSeconds(row.atMs, 1)}, got ${codeOf(out)} at ${formatSeconds(out.durationMs, 2)},` +
    ` ${out.progress.length} notifications`
  );
}

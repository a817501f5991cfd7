/** Measures the real time limits of calls with the official MCP client, in slightly more than 5 min. */
import type { CallOptions, CallOutcome } from '../harness/client.ts';
import { startStack } from '../harness/stack.ts';

interface LimitCase {
  readonly name: string;
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly options?: CallOptions;
  readonly expectedCode: string;
  readonly atMs: number;
  readonly notifications?: number;
}

const makeHeartbeatArgs = (everyMs: number, forMs: number) => ({ everyMs, forMs });

const limitCases: readonly LimitCase[] = [
  {
    name: 'reports each 10 s for 35 s',
    tool: 'heartbeat',
    args: makeHeartbeatArgs(10_000, 35_000),
    expectedCode: 'ok',
    atMs: 35_000,
  },
  {
    name: 'reports each 10 s for 70 s',
    tool: 'heartbeat',
    args: makeHeartbeatArgs(10_000, 70_000),
    expectedCode: 'ok',
    atMs: 70_000,
  },
  {
    name: 'reports for 70 s, no progress token',
    tool: 'heartbeat',
    args: makeHeartbeatArgs(10_000, 70_000),
    options: { omitsProgressToken: true },
    expectedCode: 'ok',
    atMs: 70_000,
    notifications: 0,
  },
  {
    name: 'gaps of 29.5 s',
    tool: 'heartbeat',
    args: makeHeartbeatArgs(29_500, 88_500),
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
    args: makeHeartbeatArgs(31_000, 62_000),
    expectedCode: 'idle_timeout',
    atMs: 30_000,
  },
  {
    name: 'reports each 10 s without end',
    tool: 'heartbeat',
    args: makeHeartbeatArgs(10_000, 0),
    expectedCode: 'deadline_exceeded',
    atMs: 300_000,
  },
  {
    name: 'reports each second without end',
    tool: 'heartbeat',
    args: makeHeartbeatArgs(1_000, 0),
    expectedCode: 'deadline_exceeded',
    atMs: 300_000,
  },
];

const toleranceMs = 400;

export async function checkTimeouts(printLine: (line: string) => void): Promise<boolean> {
  const stack = await startStack();
  let failedCount = 0;
  try {
    const clients = { http: await stack.connectHttp(), stdio: await stack.connectStdio() };
    await Promise.all(
      Object.entries(clients).flatMap(([transportName, client]) =>
        limitCases.map(async (limitCase) => {
          const callOutcome = await client.call(`messages__${limitCase.tool}`, limitCase.args, {
            timeoutMs: 600_000,
            ...limitCase.options,
          });
          const hasPassed = matchesLimitCase(limitCase, callOutcome);
          if (!hasPassed) failedCount++;
          printLine(
            `${hasPassed ? 'ok  ' : 'FAIL'} ${limitCase.name.padEnd(34)} ${transportName.padEnd(5)} ${describeOutcome(limitCase, callOutcome)}`,
          );
          if (callOutcome.isError) printLine(`       ${callOutcome.text}`);
        }),
      ),
    );
    const lastAbortReason = await stack.page.evaluate(() => document.documentElement.dataset.aborted);
    printLine(`the last abort reason in the page: ${lastAbortReason ?? 'none'}`);
    if (lastAbortReason === undefined) failedCount++;
    const runningCalls = (await stack.listCalls()).filter((call) => ['queued', 'running'].includes(call.status));
    printLine(`${runningCalls.length} calls still run`);
    failedCount += runningCalls.length;
  } finally {
    await stack.close();
  }
  printLine(`${limitCases.length * 2 - failedCount} passed, ${failedCount} failed`);
  return failedCount === 0;
}

function readCode(callOutcome: CallOutcome): string {
  return callOutcome.isError ? String(callOutcome.code) : 'ok';
}

function matchesLimitCase(limitCase: LimitCase, callOutcome: CallOutcome): boolean {
  return (
    readCode(callOutcome) === limitCase.expectedCode &&
    Math.abs(callOutcome.durationMs - limitCase.atMs) <= toleranceMs &&
    (limitCase.notifications === undefined || limitCase.notifications === callOutcome.progress.length)
  );
}

function describeOutcome(limitCase: LimitCase, callOutcome: CallOutcome): string {
  const formatSeconds = (ms: number, digits: number) => `${(ms / 1000).toFixed(digits)} s`;
  return (
    `want ${limitCase.expectedCode} at ${formatSeconds(limitCase.atMs, 1)}, got ${readCode(callOutcome)} at ${formatSeconds(callOutcome.durationMs, 2)},` +
    ` ${callOutcome.progress.length} notifications`
  );
}

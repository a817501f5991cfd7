/**
 * Runs one cell of the fault matrix: a fault during a call or between two calls. The result of a cell is a row of the
 * fault table.
 */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { McpClient, Outcome } from '../harness/client.ts';
import { waitFor } from '../harness/wait.ts';
import type { FaultFixture, Tab } from './fault-fixture.ts';

/** rowsFile gets one JSON line per cell of the matrix. main.ts prints the lines of rowsFile as a table. */
export const rowsFile = fileURLToPath(new URL('../out/faults.jsonl', import.meta.url));

/** Row is one line of the table of the fault matrix, with the results of one cell. */
export interface Row {
  readonly fault: string;
  readonly when: string;
  readonly call: string;
  readonly next: string;
  readonly stopReceived: string;
}

/** addRow adds a row to the table. */
export function addRow(row: Row): void {
  mkdirSync(dirname(rowsFile), { recursive: true });
  appendFileSync(rowsFile, `${JSON.stringify(row)}\n`);
}

/** CellContext is the tab and the client of one cell of the fault matrix. */
export interface CellContext {
  readonly fixture: FaultFixture;
  readonly path: string;
  readonly tab: Tab;
  readonly client: McpClient;
}

/** InjectFault causes the fault and returns when calls can succeed again. */
export type InjectFault = (cell: CellContext) => Promise<unknown>;

/** ExpectedBehavior is the required behavior of the call and of the next call. */
export interface ExpectedBehavior {
  /** The error code with which the call must fail. Without an error code, the call must survive the fault. */
  readonly errorCode?: string;
  /** The longest time between the fault and the error of the call, in milliseconds. Default: 2 s. */
  readonly maxEndMs?: number;
  /** The longest time between the fault and the next successful call, in milliseconds. Default: 2 s. */
  readonly maxRecoveryMs?: number;
  /** The number of further calls that may fail before a call succeeds. Default: 0. */
  readonly maxFailures?: number;
  /** Whether the page must receive a cancel for the call. */
  readonly stopReceived?: boolean;
  /** Whether the next call must not name a tab, because the old tab is closed or has another id. */
  readonly withoutTabId?: boolean;
  /** Whether the client is `opentabs mcp`. By default, the client connects over HTTP. */
  readonly overStdio?: boolean;
}

const stepMs = 250;

/**
 * busyMachineMs is the additional time that a busy machine may need before a cell fails. The fault table contains the
 * measured times, and make bench checks the promised times. A cell only distinguishes a recovery by a retry (1 s), in
 * the grace period (10 s), and at the alarm or idle limit (30 s).
 */
export const busyMachineMs = 6000;

/** testDuringCall injects a fault while a call reports in a new tab. */
export async function testDuringCall(
  fault: string,
  fixture: FaultFixture,
  injectFault: InjectFault,
  expected: ExpectedBehavior = {},
): Promise<void> {
  const cell = await openCell(fixture, expected.overStdio);
  // A call that must fail runs until the fault comes, even if the fault comes late.
  const stepCount = expected.errorCode ? 400 : 8;
  // The tool messages__heartbeat marks its page when the tool receives a cancel.
  const [tool, args] = expected.stopReceived
    ? ['messages__heartbeat', { everyMs: stepMs, forMs: 120_000 }]
    : ['messages__countdown', { from: stepCount, intervalMs: stepMs }];
  let reports = 0;
  let endedAt = 0;
  const call = cell.client
    .call(tool, { ...args, tabId: cell.tab.tabId }, { onProgress: () => reports++ })
    .catch((error: unknown): Outcome => makeLostOutcome(error))
    .finally(() => {
      endedAt = performance.now();
    });
  await waitFor('two reports of the call', () => reports >= 2);
  const documentMs = expected.stopReceived ? await fixture.createdMs(cell.path) : 0;
  const injectedAt = performance.now();
  await injectFault(cell);
  const repairedAt = performance.now();
  // The next call may reload the page, so the test first waits for the cancel in the page.
  if (expected.stopReceived) await fixture.waitForCancelInPage(cell.path, documentMs);
  const [outcome, recovery] = await Promise.all([call, callUntilSuccess(cell, expected, repairedAt)]);
  const callMs = endedAt - injectedAt;
  const reportCount = expected.errorCode ? 0 : await fixture.countReports(tool);
  addRow({
    fault,
    when: 'mid-call',
    call: outcome.isError
      ? `${outcome.code} after ${formatMs(callMs)}`
      : `survived with ${reportCount} of ${stepCount} reports and its result`,
    next: describeRecovery(recovery),
    stopReceived: expected.stopReceived ? 'yes' : '',
  });
  if (expected.errorCode) {
    assert.equal(outcome.code, expected.errorCode, outcome.text);
    assert.ok(
      callMs <= (expected.maxEndMs ?? 2000) + busyMachineMs,
      `the call ended ${formatMs(callMs)} after the fault`,
    );
  } else {
    assertComplete(outcome, stepCount);
    assert.equal(reportCount, stepCount, 'the server counted every report once');
  }
  checkRecovery(recovery, expected);
  await fixture.closeTabs();
}

/** testBetweenCalls injects a fault while no call runs, and makes a call immediately after the fault. */
export async function testBetweenCalls(
  fault: string,
  fixture: FaultFixture,
  injectFault: InjectFault,
  expected: ExpectedBehavior = {},
): Promise<void> {
  const cell = await openCell(fixture);
  const warmUpCall = await cell.client.call('messages__echo', { value: 0, tabId: cell.tab.tabId });
  assert.equal(warmUpCall.isError, false, warmUpCall.text);
  await injectFault(cell);
  const recovery = await callUntilSuccess(cell, expected, performance.now());
  addRow({ fault, when: 'between', call: '', next: describeRecovery(recovery), stopReceived: '' });
  checkRecovery(recovery, expected);
  await fixture.closeTabs();
}

/** openCell waits for the browser and opens a tab and a client for one cell. */
async function openCell(fixture: FaultFixture, stdio = false): Promise<CellContext> {
  await fixture.waitForBrowser();
  const { path, tab } = await fixture.openTab();
  return { fixture, path, tab, client: stdio ? await fixture.connectStdio() : await fixture.connectHttp() };
}

/** assertComplete checks that no report was lost, duplicated or reordered. */
function assertComplete(outcome: Outcome, stepCount: number): void {
  assert.equal(outcome.isError, false, outcome.text);
  assert.deepEqual(outcome.structured, { counted: stepCount });
  const numbers = outcome.progress.map((report) => report.progress);
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b),
    'progress increases',
  );
  assert.equal(numbers.at(-1), stepCount, 'the last report arrived');
}

/** RecoveryMeasurement is the time until a call succeeded, and the errors of the calls that failed before. */
interface RecoveryMeasurement {
  readonly durationMs: number;
  readonly failures: readonly string[];
  readonly texts: readonly string[];
}

/** callUntilSuccess repeats a call, each time with a new session, until the call succeeds. */
async function callUntilSuccess(
  cell: CellContext,
  expected: ExpectedBehavior,
  sinceMs: number,
): Promise<RecoveryMeasurement> {
  const failures: string[] = [];
  const texts: string[] = [];
  const endMs = sinceMs + (expected.maxRecoveryMs ?? 2000) + 30_000;
  for (let value = 1; performance.now() < endMs; value++) {
    const args = expected.withoutTabId ? { value } : { value, tabId: cell.tab.tabId };
    try {
      const client = await cell.fixture.connectHttp();
      const outcome = await client.call('messages__echo', args);
      await client.close();
      if (!outcome.isError) {
        assert.deepEqual(outcome.structured, { value });
        return { durationMs: performance.now() - sinceMs, failures, texts };
      }
      failures.push(String(outcome.code));
      texts.push(outcome.text);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      failures.push('connection');
      texts.push(makeLostOutcome(error).text);
    }
  }
  throw new Error(`no call succeeded: ${[...new Set(texts)].join('\n')}`);
}

function checkRecovery(recovery: RecoveryMeasurement, expected: ExpectedBehavior): void {
  assert.ok(
    recovery.durationMs <= (expected.maxRecoveryMs ?? 2000) + busyMachineMs,
    `the next call worked ${formatMs(recovery.durationMs)} after the fault`,
  );
  assert.ok(
    recovery.failures.length <= (expected.maxFailures ?? 0),
    `calls failed first: ${recovery.texts.join('\n')}`,
  );
}

function describeRecovery({ durationMs, failures }: RecoveryMeasurement): string {
  return `${formatMs(durationMs)}${failures.length > 0 ? `, ${failures.length} failed (${[...new Set(failures)].join(', ')})` : ''}`;
}

function formatMs(value: number): string {
  return `${Math.round(value)} ms`;
}

/** makeLostOutcome returns the outcome of a call whose client lost its connection. */
function makeLostOutcome(error: unknown): Outcome {
  const text = error instanceof Error ? error.message : String(error);
  return { text, structured: undefined, isError: true, code: 'connection', progress: [], durationMs: 0 };
}

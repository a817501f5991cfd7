/**
 * Injects one fault, such as a browser crash, during a call or between two calls. Each injected fault adds one row to
 * the fault table.
 */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { McpClient, Outcome } from '../harness/client.ts';
import { waitFor } from '../harness/wait.ts';
import type { FaultFixture, Tab } from './fault-fixture.ts';

/**
 * rowsFile is the file to which each fault test appends one line of JSON. main.ts prints the lines as the fault table.
 */
export const rowsFile = fileURLToPath(new URL('../out/faults.jsonl', import.meta.url));

/** Row is one line of the fault table: the results of one injected fault. */
export interface Row {
  readonly fault: string;
  readonly when: string;
  readonly call: string;
  readonly next: string;
  readonly stopReceived: string;
}

/** addRow appends one row to the file of the fault table. */
export function addRow(row: Row): void {
  mkdirSync(dirname(rowsFile), { recursive: true });
  appendFileSync(rowsFile, `${JSON.stringify(row)}\n`);
}

/** CellContext contains the tab and the MCP client that one fault test uses. */
export interface CellContext {
  readonly fixture: FaultFixture;
  readonly path: string;
  readonly tab: Tab;
  readonly client: McpClient;
}

/** InjectFault causes a fault, and returns when the fault is over, so that calls can succeed again. */
export type InjectFault = (cell: CellContext) => Promise<unknown>;

/** ExpectedBehavior describes how the interrupted call must end, and how soon a later call must succeed. */
export interface ExpectedBehavior {
  /**
   * errorCode is the error code with which the interrupted call must fail. If errorCode is absent, the call must
   * succeed despite the fault.
   */
  readonly errorCode?: string;
  /**
   * slowErrorCode is the error code of the interrupted call if the fault is repaired only after the grace period, as on
   * a busy machine.
   */
  readonly slowErrorCode?: string;
  /**
   * maxEndMs is the maximum time from the fault until the interrupted call fails, in milliseconds; 2,000 by default.
   */
  readonly maxEndMs?: number;
  /** maxRecoveryMs is the maximum time from the fault until a call succeeds, in milliseconds; 2,000 by default. */
  readonly maxRecoveryMs?: number;
  /** maxFailures is how many calls after the fault can fail before a call succeeds; 0 by default. */
  readonly maxFailures?: number;
  /** stopReceived requires that the page receives a cancellation for the interrupted call. */
  readonly stopReceived?: boolean;
  /** withoutTabId omits tabId from the calls after the fault, because the fault closes the tab or changes its ID. */
  readonly withoutTabId?: boolean;
  /** overStdio connects the MCP client with `opentabs mcp`. By default, the client connects over HTTP. */
  readonly overStdio?: boolean;
}

const progressStepMs = 250;

/**
 * busyMachineAllowanceMs is added to each time limit of a fault test, because other programs can slow the machine down.
 * `make bench` checks the promised times; the fault tests do not. A fault test only distinguishes whether opentabs
 * recovers by a retry (1 s), within the grace period (10 s), or at the alarm or idle limit (30 s).
 */
export const busyMachineAllowanceMs = 6000;

/**
 * gracePeriodMs is how long the server waits for a disconnected browser before it ends the browser's calls, in
 * milliseconds.
 */
const gracePeriodMs = 10_000;

/** testDuringCall injects a fault while a call in a new tab reports progress. */
export async function testDuringCall(
  fault: string,
  fixture: FaultFixture,
  injectFault: InjectFault,
  expected: ExpectedBehavior = {},
): Promise<void> {
  const cell = await openCell(fixture, expected.overStdio);
  // A call that must fail gets more steps, so that it still runs when the fault is injected.
  const stepCount = expected.errorCode ? 400 : 8;
  // The tool messages__heartbeat sets a variable in its page when the call is cancelled.
  const [tool, args] = expected.stopReceived
    ? ['messages__heartbeat', { everyMs: progressStepMs, forMs: 120_000 }]
    : ['messages__countdown', { from: stepCount, intervalMs: progressStepMs }];
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
  // The next call can reload the page, so the test first waits until the page has received the cancellation.
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
    const isSlow = expected.slowErrorCode !== undefined && repairedAt - injectedAt > gracePeriodMs - 1000;
    const wantedCode = isSlow && outcome.code === expected.slowErrorCode ? outcome.code : expected.errorCode;
    assert.equal(outcome.code, wantedCode, outcome.text);
    assert.ok(
      callMs <= (expected.maxEndMs ?? 2000) + busyMachineAllowanceMs,
      `the call ended ${formatMs(callMs)} after the fault`,
    );
  } else {
    assertComplete(outcome, stepCount);
    assert.equal(reportCount, stepCount, 'the server counted every report once');
  }
  checkRecovery(recovery, expected);
  await fixture.closeTabs();
}

/** testBetweenCalls injects a fault while no call runs, and makes a call as soon as the fault is over. */
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

/** openCell waits until the browser is connected, then opens a tab and an MCP client for one fault test. */
async function openCell(fixture: FaultFixture, stdio = false): Promise<CellContext> {
  await fixture.waitForBrowser();
  const { path, tab } = await fixture.openTab();
  return { fixture, path, tab, client: stdio ? await fixture.connectStdio() : await fixture.connectHttp() };
}

/** assertComplete checks that no progress report was lost, duplicated or reordered. */
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

/**
 * RecoveryMeasurement is the time from a fault until a call succeeded, and the error codes of the calls that failed
 * before.
 */
interface RecoveryMeasurement {
  readonly durationMs: number;
  readonly failures: readonly string[];
  readonly texts: readonly string[];
}

/** callUntilSuccess repeats a call until the call succeeds, each time in a new MCP session. */
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
    recovery.durationMs <= (expected.maxRecoveryMs ?? 2000) + busyMachineAllowanceMs,
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

/**
 * makeLostOutcome returns the failed outcome of a call for which the MCP client's connection to the daemon was lost.
 */
function makeLostOutcome(error: unknown): Outcome {
  const text = error instanceof Error ? error.message : String(error);
  return { text, structured: undefined, isError: true, code: 'connection', progress: [], durationMs: 0 };
}

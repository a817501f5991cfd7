/** Injects one fault, such as a browser crash, during a call or between two calls. */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { McpClient, Outcome } from '../harness/client.ts';
import { waitFor } from '../harness/wait.ts';
import type { FaultFixture, Tab } from './fault-fixture.ts';

export const rowsFile = fileURLToPath(new URL('../out/faults.jsonl', import.meta.url));

export interface Row {
  readonly fault: string;
  readonly when: string;
  readonly call: string;
  readonly next: string;
  readonly stopReceived: string;
}

export function addRow(row: Row): void {
  mkdirSync(dirname(rowsFile), { recursive: true });
  appendFileSync(rowsFile, `${JSON.stringify(row)}\n`);
}

export interface CellContext {
  readonly fixture: FaultFixture;
  readonly path: string;
  readonly tab: Tab;
  readonly client: McpClient;
}

/** InjectFault causes a fault, and returns when the fault is over. */
export type InjectFault = (cell: CellContext) => Promise<unknown>;

export interface ExpectedBehavior {
  /** If errorCode is absent, the interrupted call must succeed despite the fault. */
  readonly errorCode?: string;
  /** slowErrorCode is the error code of the interrupted call if the fault lasts longer than the grace period. */
  readonly slowErrorCode?: string;
  /**
   * maxEndMs is the maximum time from the fault until the interrupted call fails, in milliseconds; 2,000 by default.
   */
  readonly maxEndMs?: number;
  /** maxRecoveryMs is the maximum time from the fault until a call succeeds, in milliseconds; 2,000 by default. */
  readonly maxRecoveryMs?: number;
  readonly maxFailures?: number;
  readonly stopReceived?: boolean;
  /**
   * withoutTabId omits tabId from the calls after the fault, because the fault closes the tab or changes the tab's ID.
   */
  readonly withoutTabId?: boolean;
  readonly overStdio?: boolean;
}

const progressStepMs = 250;

/**
 * busyMachineAllowanceMs is added to each time limit of a fault test, because other programs can slow the machine down.
 * `make bench` checks the promised recovery times; the fault tests do not.
 */
export const busyMachineAllowanceMs = 6000;

const gracePeriodMs = 10_000;

export async function testDuringCall(
  fault: string,
  fixture: FaultFixture,
  injectFault: InjectFault,
  expected: ExpectedBehavior = {},
): Promise<void> {
  const cell = await openCell(fixture, expected.overStdio);
  const stepCount = expected.errorCode ? 400 : 8;
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

async function openCell(fixture: FaultFixture, stdio = false): Promise<CellContext> {
  await fixture.waitForBrowser();
  const { path, tab } = await fixture.openTab();
  return { fixture, path, tab, client: stdio ? await fixture.connectStdio() : await fixture.connectHttp() };
}

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

interface RecoveryMeasurement {
  readonly durationMs: number;
  readonly failures: readonly string[];
  readonly texts: readonly string[];
}

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

function makeLostOutcome(error: unknown): Outcome {
  const text = error instanceof Error ? error.message : String(error);
  return { text, structured: undefined, isError: true, code: 'connection', progress: [], durationMs: 0 };
}

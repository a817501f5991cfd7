/** Injects one fault, such as a browser crash, during a call or between two calls. */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CallOutcome, McpClient } from '../harness/client.ts';
import { waitFor } from '../harness/wait.ts';
import type { FaultFixture, Tab } from './fault-fixture.ts';

export const rowsFile = fileURLToPath(new URL('../out/faults.jsonl', import.meta.url));

export interface FaultRow {
  readonly faultName: string;
  readonly when: string;
  readonly call: string;
  readonly nextAction: string;
  readonly stopReceived: string;
}

export function appendMatrixRow(row: FaultRow): void {
  mkdirSync(dirname(rowsFile), { recursive: true });
  appendFileSync(rowsFile, `${JSON.stringify(row)}\n`);
}

export interface MatrixCell {
  readonly fixture: FaultFixture;
  readonly path: string;
  readonly tab: Tab;
  readonly client: McpClient;
}

/** InjectFault causes a fault, and returns when the fault is over. */
export type InjectFault = (cell: MatrixCell) => Promise<unknown>;

export interface ExpectedBehavior {
  /** If errorCode is absent, the interrupted call must succeed despite the fault. */
  readonly errorCode?: string;
  /** slowErrorCode is the error code of the interrupted call if the fault lasts longer than the grace period. */
  readonly slowErrorCode?: string;
  /**
   * maxFailureDelayMs is the maximum time from the fault until the interrupted call fails, in milliseconds; 2,000 by
   * default.
   */
  readonly maxFailureDelayMs?: number;
  /** maxRecoveryMs is the maximum time from the fault until a call succeeds, in milliseconds; 2,000 by default. */
  readonly maxRecoveryMs?: number;
  readonly maxFailures?: number;
  readonly stopReceived?: boolean;
  /**
   * withoutTabId omits tabId from the calls after the fault, because the fault closes the tab or changes the tab's ID.
   */
  readonly withoutTabId?: boolean;
  readonly usesStdio?: boolean;
}

const progressStepMs = 250;

/**
 * busyMachineAllowanceMs is added to each time limit of a fault test, because other programs can slow the machine down.
 * `make bench` checks the promised recovery times; the fault tests do not.
 */
export const busyMachineAllowanceMs = 6000;

const gracePeriodMs = 10_000;

export async function testDuringCall(
  faultName: string,
  fixture: FaultFixture,
  injectFault: InjectFault,
  expectedBehavior: ExpectedBehavior = {},
): Promise<void> {
  const cell = await openMatrixCell(fixture, expectedBehavior.usesStdio);
  const stepCount = expectedBehavior.errorCode ? 400 : 8;
  const [tool, args] = expectedBehavior.stopReceived
    ? ['messages__heartbeat', { everyMs: progressStepMs, forMs: 120_000 }]
    : ['messages__countdown', { from: stepCount, intervalMs: progressStepMs }];
  let reports = 0;
  let endedAt = 0;
  const call = cell.client
    .call(tool, { ...args, tabId: cell.tab.tabId }, { onProgress: () => reports++ })
    .catch((error: unknown): CallOutcome => makeLinkLostOutcome(error))
    .finally(() => {
      endedAt = performance.now();
    });
  await waitFor('two reports of the call', () => reports >= 2);
  const documentCreatedMs = expectedBehavior.stopReceived ? await fixture.getDocumentCreatedMs(cell.path) : 0;
  const injectedAt = performance.now();
  await injectFault(cell);
  const repairedAt = performance.now();
  if (expectedBehavior.stopReceived) await fixture.waitForCancelInPage(cell.path, documentCreatedMs);
  const [callOutcome, recoveryTime] = await Promise.all([call, callUntilSuccess(cell, expectedBehavior, repairedAt)]);
  const callMs = endedAt - injectedAt;
  const reportCount = expectedBehavior.errorCode ? 0 : await fixture.countReports(tool);
  appendMatrixRow({
    faultName,
    when: 'mid-call',
    call: callOutcome.isError
      ? `${callOutcome.code} after ${formatMs(callMs)}`
      : `survived with ${reportCount} of ${stepCount} reports and its result`,
    nextAction: describeRecovery(recoveryTime),
    stopReceived: expectedBehavior.stopReceived ? 'yes' : '',
  });
  if (expectedBehavior.errorCode) {
    const isBeyondGracePeriod =
      expectedBehavior.slowErrorCode !== undefined && repairedAt - injectedAt > gracePeriodMs - 1000;
    const expectedErrorCode =
      isBeyondGracePeriod && callOutcome.code === expectedBehavior.slowErrorCode
        ? callOutcome.code
        : expectedBehavior.errorCode;
    assert.equal(callOutcome.code, expectedErrorCode, callOutcome.text);
    assert.ok(
      callMs <= (expectedBehavior.maxFailureDelayMs ?? 2000) + busyMachineAllowanceMs,
      `the call ended ${formatMs(callMs)} after the fault, which is too late`,
    );
  } else {
    assertCallIsComplete(callOutcome, stepCount);
    assert.equal(reportCount, stepCount, 'the server must count every report once');
  }
  checkRecovery(recoveryTime, expectedBehavior);
  await fixture.closeTabs();
}

export async function testBetweenCalls(
  faultName: string,
  fixture: FaultFixture,
  injectFault: InjectFault,
  expectedBehavior: ExpectedBehavior = {},
): Promise<void> {
  const cell = await openMatrixCell(fixture);
  const warmUpOutcome = await cell.client.call('messages__echo', { value: 0, tabId: cell.tab.tabId });
  assert.equal(warmUpOutcome.isError, false, warmUpOutcome.text);
  await injectFault(cell);
  const recoveryTime = await callUntilSuccess(cell, expectedBehavior, performance.now());
  appendMatrixRow({
    faultName,
    when: 'between',
    call: '',
    nextAction: describeRecovery(recoveryTime),
    stopReceived: '',
  });
  checkRecovery(recoveryTime, expectedBehavior);
  await fixture.closeTabs();
}

async function openMatrixCell(fixture: FaultFixture, usesStdio = false): Promise<MatrixCell> {
  await fixture.waitForBrowser();
  const { path, tab } = await fixture.openTab();
  return { fixture, path, tab, client: usesStdio ? await fixture.connectStdio() : await fixture.connectHttp() };
}

function assertCallIsComplete(callOutcome: CallOutcome, stepCount: number): void {
  assert.equal(callOutcome.isError, false, callOutcome.text);
  assert.deepEqual(callOutcome.structured, { counted: stepCount });
  const progressNumbers = callOutcome.progress.map((report) => report.progress);
  assert.deepEqual(
    progressNumbers,
    [...new Set(progressNumbers)].sort((a, b) => a - b),
    'the progress must increase with each notification',
  );
  assert.equal(progressNumbers.at(-1), stepCount, 'the last report must arrive');
}

interface RecoveryMeasurement {
  readonly durationMs: number;
  readonly failures: readonly string[];
  readonly outcomeTexts: readonly string[];
}

async function callUntilSuccess(
  cell: MatrixCell,
  expectedBehavior: ExpectedBehavior,
  sinceMs: number,
): Promise<RecoveryMeasurement> {
  const failures: string[] = [];
  const outcomeTexts: string[] = [];
  const deadlineMs = sinceMs + (expectedBehavior.maxRecoveryMs ?? 2000) + 30_000;
  for (let value = 1; performance.now() < deadlineMs; value++) {
    const args = expectedBehavior.withoutTabId ? { value } : { value, tabId: cell.tab.tabId };
    try {
      const client = await cell.fixture.connectHttp();
      const callOutcome = await client.call('messages__echo', args);
      await client.close();
      if (!callOutcome.isError) {
        assert.deepEqual(callOutcome.structured, { value });
        return { durationMs: performance.now() - sinceMs, failures, outcomeTexts };
      }
      failures.push(String(callOutcome.code));
      outcomeTexts.push(callOutcome.text);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      failures.push('connection');
      outcomeTexts.push(makeLinkLostOutcome(error).text);
    }
  }
  throw new Error(`no call succeeded: ${[...new Set(outcomeTexts)].join('\n')}`);
}

function checkRecovery(recoveryTime: RecoveryMeasurement, expectedBehavior: ExpectedBehavior): void {
  assert.ok(
    recoveryTime.durationMs <= (expectedBehavior.maxRecoveryMs ?? 2000) + busyMachineAllowanceMs,
    `the next call succeeded ${formatMs(recoveryTime.durationMs)} after the fault, which is too late`,
  );
  assert.ok(
    recoveryTime.failures.length <= (expectedBehavior.maxFailures ?? 0),
    `the first calls after the fault failed: ${recoveryTime.outcomeTexts.join('\n')}`,
  );
}

function describeRecovery({ durationMs, failures }: RecoveryMeasurement): string {
  return `${formatMs(durationMs)}${failures.length > 0 ? `, ${failures.length} failed (${[...new Set(failures)].join(', ')})` : ''}`;
}

function formatMs(value: number): string {
  return `${Math.round(value)} ms`;
}

function makeLinkLostOutcome(error: unknown): CallOutcome {
  const errorText = error instanceof Error ? error.message : String(error);
  return { text: errorText, structured: undefined, isError: true, code: 'connection', progress: [], durationMs: 0 };
}

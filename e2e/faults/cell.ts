/** One cell of the fault matrix: a fault while a call runs, or between two calls. The result is a row of the table. */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { McpClient, Outcome } from '../harness/client.ts';
import { waitFor } from '../harness/wait.ts';
import type { Bed, Tab } from './bed.ts';

/** rowsFile gets one JSON line per cell; main.ts prints them as a table. */
export const rowsFile = fileURLToPath(new URL('../out/faults.jsonl', import.meta.url));

/** Row is one line of the table. */
export interface Row {
  readonly fault: string;
  readonly when: string;
  readonly call: string;
  readonly next: string;
  readonly stopReceived: string;
}

/** note adds a row to the table. */
export function note(row: Row): void {
  mkdirSync(dirname(rowsFile), { recursive: true });
  appendFileSync(rowsFile, `${JSON.stringify(row)}\n`);
}

/** Place is the tab in which a cell runs. */
export interface Place {
  readonly bed: Bed;
  readonly path: string;
  readonly tab: Tab;
  readonly client: McpClient;
}

/** Strike causes the fault. It returns the performance.now() time from which calls can work again, if that is later than its own end. */
export type Strike = (place: Place) => Promise<unknown>;

/** Expected is the required behaviour. */
export interface Expected {
  /** The error code of the call; default none, because the call survives. */
  readonly code?: string;
  /** The longest time between the strike and the error, in milliseconds; default 2 s. */
  readonly endsMs?: number;
  /** The longest time between the strike and the next successful call, in milliseconds; default 2 s. */
  readonly nextMs?: number;
  /** The number of calls that may fail before one succeeds; default 0. */
  readonly failures?: number;
  /** Whether the page must receive a cancel. */
  readonly stopReceived?: boolean;
  /** Whether the next call must not name a tab, because the old tab is closed or has another id. */
  readonly anyTab?: boolean;
  /** Whether the client is `opentabs mcp`; default a client over HTTP. */
  readonly stdio?: boolean;
}

const stepMs = 250;

/**
 * busyMs is the extra time that a busy machine may need before a cell fails. The table has the measured times, and make bench checks
 * the promised ones. A cell only distinguishes the ways to recover: 1 s is a retry, 10 s the grace period, 30 s the alarm
 * or the idle limit.
 */
export const busyMs = 6000;

/** midCall strikes while a call counts down in a new tab. */
export async function midCall(fault: string, bed: Bed, strike: Strike, expected: Expected = {}): Promise<void> {
  const place = await enter(bed, expected.stdio);
  // A call that must fail runs until the fault comes, however late that is.
  const from = expected.code ? 400 : 8;
  // The heartbeat tool marks its page when it receives a cancel.
  const [tool, args] = expected.stopReceived
    ? ['messages__heartbeat', { everyMs: stepMs, forMs: 120_000 }]
    : ['messages__countdown', { from, intervalMs: stepMs }];
  let reports = 0;
  let endedAt = 0;
  const call = place.client
    .call(tool, { ...args, tabId: place.tab.tabId }, { onProgress: () => reports++ })
    .catch((error: unknown): Outcome => lost(error))
    .finally(() => {
      endedAt = performance.now();
    });
  await waitFor('two reports', () => reports >= 2);
  const born = expected.stopReceived ? await bed.born(place.path) : 0;
  const struck = performance.now();
  await strike(place);
  const healed = performance.now();
  // The next call may reload the page.
  if (expected.stopReceived) await bed.stopReceived(place.path, born);
  const [out, next] = await Promise.all([call, callUntilSuccess(place, expected, healed)]);
  const took = endedAt - struck;
  const counted = expected.code ? 0 : await bed.reports(tool);
  note({
    fault,
    when: 'mid-call',
    call: out.isError ? `${out.code} after ${ms(took)}` : `survived with ${counted} of ${from} reports and its result`,
    next: describe(next),
    stopReceived: expected.stopReceived ? 'yes' : '',
  });
  if (expected.code) {
    assert.equal(out.code, expected.code, out.text);
    assert.ok(took <= (expected.endsMs ?? 2000) + busyMs, `it ended ${ms(took)} after the fault`);
  } else {
    assertComplete(out, from);
    assert.equal(counted, from, 'the server counted every report once');
  }
  check(next, expected);
  await bed.closeTabs();
}

/** between strikes while no call runs, and calls right afterwards. */
export async function between(fault: string, bed: Bed, strike: Strike, expected: Expected = {}): Promise<void> {
  const place = await enter(bed);
  const warm = await place.client.call('messages__echo', { value: 0, tabId: place.tab.tabId });
  assert.equal(warm.isError, false, warm.text);
  await strike(place);
  const next = await callUntilSuccess(place, expected, performance.now());
  note({ fault, when: 'between', call: '', next: describe(next), stopReceived: '' });
  check(next, expected);
  await bed.closeTabs();
}

async function enter(bed: Bed, stdio = false): Promise<Place> {
  await bed.connected();
  const { path, tab } = await bed.open();
  return { bed, path, tab, client: stdio ? await bed.stdioClient() : await bed.client() };
}

/** assertComplete asserts that no report was lost, duplicated or reordered. */
function assertComplete(out: Outcome, from: number): void {
  assert.equal(out.isError, false, out.text);
  assert.deepEqual(out.structured, { counted: from });
  const seen = out.progress.map((p) => p.progress);
  assert.deepEqual(
    seen,
    [...new Set(seen)].sort((a, b) => a - b),
    'progress increases',
  );
  assert.equal(seen.at(-1), from, 'the last report came');
}

/** Next is the time until a call succeeded, and the number of failed calls before. */
interface Next {
  readonly tookMs: number;
  readonly failures: readonly string[];
  readonly texts: readonly string[];
}

/** callUntilSuccess repeats a call until it succeeds, as an agent that retries does, with a new session each time. */
async function callUntilSuccess(place: Place, expected: Expected, since: number): Promise<Next> {
  const failures: string[] = [];
  const texts: string[] = [];
  const limit = since + (expected.nextMs ?? 2000) + 30_000;
  for (let value = 1; performance.now() < limit; value++) {
    const args = expected.anyTab ? { value } : { value, tabId: place.tab.tabId };
    try {
      const client = await place.bed.client();
      const out = await client.call('messages__echo', args);
      await client.close();
      if (!out.isError) {
        assert.deepEqual(out.structured, { value });
        return { tookMs: performance.now() - since, failures, texts };
      }
      failures.push(String(out.code));
      texts.push(out.text);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      failures.push('connection');
      texts.push(lost(error).text);
    }
  }
  throw new Error(`no call worked: ${[...new Set(texts)].join('\n')}`);
}

function check(next: Next, expected: Expected): void {
  assert.ok(
    next.tookMs <= (expected.nextMs ?? 2000) + busyMs,
    `the next call worked ${ms(next.tookMs)} after the fault`,
  );
  assert.ok(next.failures.length <= (expected.failures ?? 0), `calls failed first: ${next.texts.join('\n')}`);
}

function describe({ tookMs, failures }: Next): string {
  return `${ms(tookMs)}${failures.length > 0 ? `, ${failures.length} failed (${[...new Set(failures)].join(', ')})` : ''}`;
}

function ms(value: number): string {
  return `${Math.round(value)} ms`;
}

/** lost is the outcome of a call whose client connection was lost. */
function lost(error: unknown): Outcome {
  const text = error instanceof Error ? error.message : String(error);
  return { text, structured: undefined, isError: true, code: 'connection', progress: [], durationMs: 0 };
}

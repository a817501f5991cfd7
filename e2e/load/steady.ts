/** Makes calls at a steady rate, and measures the memory of all processes before and after the calls. */
import { pause, waitFor } from '../harness/wait.ts';
import { makeRawHttpClient } from '../soak/raw-http.ts';
import { makeRawStdioClient } from '../soak/raw-stdio.ts';
import type { CallEnding, SoakClient } from '../soak/soak-client.ts';
import type { SystemUnderTest } from '../soak/system-under-test.ts';
import { type MemorySnapshot, measureMemory, readResidentMemory } from './measure.ts';

export interface CallRate {
  readonly calls: number;
  readonly perMinute: number;
}

export interface StreamResult {
  readonly before: MemorySnapshot;
  readonly after: MemorySnapshot;
  readonly endings: ReadonlyMap<string, number>;
  readonly violations: readonly string[];
  readonly durationMs: number;
  readonly peakRssBytes: number;
}

function chooseTool(i: number): 'echo' | 'steps' | 'cancel' | 'fail' | 'big' {
  const lastDigits = i % 100;
  if (lastDigits < 10) return 'steps';
  if (lastDigits < 15) return 'cancel';
  if (lastDigits < 20) return 'fail';
  return lastDigits === 20 ? 'big' : 'echo';
}

/** The calls before the first measurement fill caches and message channels, whose memory is not a leak. */
const warmUpCalls = 3000;

const AllowedGoroutines = 8;

export async function streamCalls(
  system: SystemUnderTest,
  pace: CallRate,
  report: (line: string) => void,
): Promise<StreamResult> {
  const clients: SoakClient[] = [
    ...Array.from({ length: 8 }, (_, i) => makeRawHttpClient(`http-${i}`, system.port, system.clientToken)),
    ...Array.from({ length: 2 }, (_, i) => makeRawStdioClient(`stdio-${i}`, system.env)),
  ];
  try {
    await makeCalls(system, clients, { calls: warmUpCalls, perMinute: pace.perMinute }, 'warm', () => undefined);
    const before = await measureWhenIdle(system);
    const { endings, violations, durationMs, peakRssBytes } = await makeCalls(system, clients, pace, 'k', report);
    // HTTP clients close idle connections, each of which needs goroutines in the daemon, a few seconds after the last
    // request.
    await waitFor(
      'idle connections to end',
      async () => (await system.readStatus()).memory.goroutines <= before.server.goroutines + AllowedGoroutines,
      30_000,
    ).catch(() => undefined); // findGrowth reports the goroutines that remain
    const after = await measureWhenIdle(system);
    for (const client of clients)
      violations.push(
        ...client.strayMessages.map((strayMessage) => `${client.name} received a stray message: ${strayMessage}`),
      );
    return { before, after, endings, violations, durationMs, peakRssBytes };
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

async function measureWhenIdle(system: SystemUnderTest): Promise<MemorySnapshot> {
  await waitFor('all calls to end', async () => {
    const { calls } = await system.readStatus();
    return calls.running + calls.queued === 0;
  });
  await pause(3_000);
  return measureMemory({
    cdp: system.browser.cdp,
    extensionId: system.browser.extensionId,
    pageUrl: system.urlOf(system.paths[0] ?? ''),
    serverPid: await system.serverPid(),
    readServerMemory: async () => (await system.readStatus()).memory,
  });
}

async function makeCalls(
  system: SystemUnderTest,
  clients: readonly SoakClient[],
  pace: CallRate,
  keyPrefix: string,
  report: (line: string) => void,
) {
  const endings = new Map<string, number>();
  const violations: string[] = [];
  const pid = await system.serverPid();
  const startMs = performance.now();
  let openCount = 0;
  let peakRssBytes = 0;
  const reportTimer = setInterval(() => {
    peakRssBytes = Math.max(peakRssBytes, readResidentMemory(pid).now);
    const endedCount = [...endings.values()].reduce((sum, n) => sum + n, 0);
    report(
      `${((performance.now() - startMs) / 1000).toFixed(0)} s: ${endedCount} calls ended, ${openCount} open, server ${(readResidentMemory(pid).now / 1e6).toFixed(0)} MB`,
    );
  }, 10_000);
  const calls: Promise<void>[] = [];
  const makeCall = async (i: number) => {
    openCount++;
    const key = `${keyPrefix}${i}`;
    const ending = await startCall(clients[i % clients.length], chooseTool(i), key, i);
    openCount--;
    endings.set(ending.code, (endings.get(ending.code) ?? 0) + 1);
    const problem = findMismatch(chooseTool(i), key, ending);
    if (problem && violations.length < 20) violations.push(`${key}: ${problem}: ${ending.text.slice(0, 300)}`);
  };
  try {
    for (let i = 0; i < pace.calls; i++) {
      const waitMs = startMs + (i * 60_000) / pace.perMinute - performance.now();
      if (waitMs > 2) await pause(waitMs);
      calls.push(makeCall(i));
    }
    await Promise.all(calls);
  } finally {
    clearInterval(reportTimer);
  }
  peakRssBytes = Math.max(peakRssBytes, readResidentMemory(pid).now);
  return { endings, violations, durationMs: performance.now() - startMs, peakRssBytes };
}

function startCall(
  client: SoakClient | undefined,
  kind: ReturnType<typeof chooseTool>,
  key: string,
  i: number,
): Promise<CallEnding> {
  if (!client) throw new Error('no client');
  switch (kind) {
    case 'echo':
      return client.call(
        'work__echo',
        { key, value: { i, text: 'x'.repeat(i % 1000) } },
        { withoutProgress: i % 3 === 0 },
      );
    case 'steps':
      return client.call('work__steps', { key, count: 5, everyMs: 20 }, {});
    case 'fail':
      return client.call('work__fail', { key }, {});
    case 'big':
      return client.call('work__big', { key, bytes: 400_000 }, {});
    case 'cancel': {
      const stop = new AbortController();
      setTimeout(() => stop.abort(), 20 + (i % 7) * 20);
      return client.call(
        'work__beat',
        { key, everyMs: 10, forMs: 60_000 },
        { stopSignal: stop.signal, disconnect: i % 2 === 0 },
      );
    }
  }
}

function findMismatch(
  kind: ReturnType<typeof chooseTool>,
  key: string,
  { code, answerCount, structured }: CallEnding,
): string | undefined {
  const expectedCode = { echo: 'ok', steps: 'ok', big: 'ok', fail: 'tool_error', cancel: 'silent' }[kind];
  if (code !== expectedCode) return `ended with ${code}, not ${expectedCode}`;
  if (answerCount !== (expectedCode === 'silent' ? 0 : 1)) return `answered ${answerCount} times`;
  if (expectedCode === 'ok' && Object(structured).key !== key) return `got the result of ${Object(structured).key}`;
  return undefined;
}

export function findGrowth({ before, after }: StreamResult): string[] {
  const growths: string[] = [];
  const checkGrowth = (measure: string, before: number, after: number, allowedGrowth: number) => {
    if (after > before + allowedGrowth) growths.push(`${measure} grew from ${before} to ${after}`);
  };
  checkGrowth('goroutines', before.server.goroutines, after.server.goroutines, AllowedGoroutines);
  checkGrowth('the heap of the server', before.server.heapBytes, after.server.heapBytes, 8 << 20);
  checkGrowth('the resident memory of the server', before.server.rssBytes, after.server.rssBytes, 40 << 20);
  for (const side of ['worker', 'page', 'bridge'] as const) {
    checkGrowth(`the heap of the ${side}`, before[side].heapBytes, after[side].heapBytes, 1 << 20);
    checkGrowth(`message ports of the ${side}`, before[side].ports, after[side].ports, 0);
    checkGrowth(`abort controllers of the ${side}`, before[side].controllers, after[side].controllers, 0);
    checkGrowth(`promises of the ${side}`, before[side].promises, after[side].promises, 20);
    checkGrowth(`entries in tables of the ${side}`, before[side].entries, after[side].entries, 20);
  }
  checkGrowth('listeners of the page', before.listeners, after.listeners, 0);
  checkGrowth('documents of the page', before.documents, after.documents, 0);
  return growths;
}

export function formatTable({ before, after, endings, durationMs, peakRssBytes }: StreamResult): string {
  const formatMb = (bytes: number) => `${(bytes / (1 << 20)).toFixed(1)} MB`;
  const formatRow = (label: string, beforeText: string | number, afterText: string | number) =>
    `  ${label.padEnd(28)} ${beforeText} -> ${afterText}`;
  const count = [...endings.values()].reduce((sum, n) => sum + n, 0);
  return [
    `${count} calls in ${(durationMs / 1000).toFixed(1)} s (${[...endings].map(([code, n]) => `${n} ${code}`).join(', ')})`,
    formatRow(
      'server RSS',
      formatMb(before.server.rssBytes),
      `${formatMb(after.server.rssBytes)} (at most ${formatMb(peakRssBytes)})`,
    ),
    formatRow('server heap', formatMb(before.server.heapBytes), formatMb(after.server.heapBytes)),
    formatRow('goroutines', before.server.goroutines, after.server.goroutines),
    ...(['worker', 'page', 'bridge'] as const).flatMap((side) => [
      formatRow(`${side} heap`, formatMb(before[side].heapBytes), formatMb(after[side].heapBytes)),
      formatRow(
        `${side} ports, controllers`,
        `${before[side].ports}, ${before[side].controllers}`,
        `${after[side].ports}, ${after[side].controllers}`,
      ),
      formatRow(
        `${side} promises, table entries`,
        `${before[side].promises}, ${before[side].entries}`,
        `${after[side].promises}, ${after[side].entries}`,
      ),
    ]),
    formatRow(
      'page listeners, documents',
      `${before.listeners}, ${before.documents}`,
      `${after.listeners}, ${after.documents}`,
    ),
  ].join('\n');
}

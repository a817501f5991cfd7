/** Makes calls at a steady rate, and measures the memory of all processes before and after the calls. */
import { pause, waitFor } from '../harness/wait.ts';
import { makeRawHttpClient } from '../soak/raw-http.ts';
import { makeRawStdioClient } from '../soak/raw-stdio.ts';
import type { CallEnding, SoakClient } from '../soak/soak-client.ts';
import type { SystemUnderTest } from '../soak/system-under-test.ts';
import { type MemorySnapshot, measureMemory, readResidentMemory } from './measure.ts';

export interface CallRate {
  readonly calls: number;
  readonly callsPerMinute: number;
}

export interface StreamResult {
  readonly memoryBefore: MemorySnapshot;
  readonly memoryAfter: MemorySnapshot;
  readonly endingCounts: ReadonlyMap<string, number>;
  readonly violationTexts: readonly string[];
  readonly durationMs: number;
  readonly peakRssBytes: number;
}

function chooseTool(i: number): 'echo' | 'steps' | 'cancel' | 'fail' | 'big' {
  const percentIndex = i % 100;
  if (percentIndex < 10) return 'steps';
  if (percentIndex < 15) return 'cancel';
  if (percentIndex < 20) return 'fail';
  return percentIndex === 20 ? 'big' : 'echo';
}

/** The calls before the first measurement fill caches and message channels, whose memory is not a leak. */
const warmUpCalls = 3000;

const AllowedGoroutineGrowth = 8;

export async function streamCalls(
  testedSystem: SystemUnderTest,
  callRate: CallRate,
  report: (line: string) => void,
): Promise<StreamResult> {
  const clients: SoakClient[] = [
    ...Array.from({ length: 8 }, (_, i) => makeRawHttpClient(`http-${i}`, testedSystem.port, testedSystem.clientToken)),
    ...Array.from({ length: 2 }, (_, i) => makeRawStdioClient(`stdio-${i}`, testedSystem.env)),
  ];
  try {
    await makeCalls(
      testedSystem,
      clients,
      { calls: warmUpCalls, callsPerMinute: callRate.callsPerMinute },
      'warm',
      () => undefined,
    );
    const memoryBefore = await measureWhenIdle(testedSystem);
    const { endingCounts, violationTexts, durationMs, peakRssBytes } = await makeCalls(
      testedSystem,
      clients,
      callRate,
      'k',
      report,
    );
    // HTTP clients close idle connections, each of which needs goroutines in the daemon, a few seconds after the last
    // request.
    await waitFor(
      'idle connections to end',
      async () =>
        (await testedSystem.readStatus()).memory.goroutines <= memoryBefore.server.goroutines + AllowedGoroutineGrowth,
      30_000,
    ).catch(() => undefined); // listGrowthViolations reports the goroutines that remain
    const memoryAfter = await measureWhenIdle(testedSystem);
    for (const client of clients)
      violationTexts.push(
        ...client.strayMessages.map((strayMessage) => `${client.name} received a stray message: ${strayMessage}`),
      );
    return { memoryBefore, memoryAfter, endingCounts, violationTexts, durationMs, peakRssBytes };
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

async function measureWhenIdle(testedSystem: SystemUnderTest): Promise<MemorySnapshot> {
  await waitFor('all calls to end', async () => {
    const { calls } = await testedSystem.readStatus();
    return calls.running + calls.queued === 0;
  });
  await pause(3_000);
  return measureMemory({
    cdp: testedSystem.browser.cdp,
    extensionId: testedSystem.browser.extensionId,
    pageUrl: testedSystem.urlOf(testedSystem.paths[0] ?? ''),
    serverPid: await testedSystem.serverPid(),
    readServerMemory: async () => (await testedSystem.readStatus()).memory,
  });
}

async function makeCalls(
  testedSystem: SystemUnderTest,
  clients: readonly SoakClient[],
  callRate: CallRate,
  keyPrefix: string,
  report: (line: string) => void,
) {
  const endingCounts = new Map<string, number>();
  const violationTexts: string[] = [];
  const pid = await testedSystem.serverPid();
  const startMs = performance.now();
  let runningCallCount = 0;
  let peakRssBytes = 0;
  const reportTimer = setInterval(() => {
    peakRssBytes = Math.max(peakRssBytes, readResidentMemory(pid).currentResidentBytes);
    const endedCallCount = [...endingCounts.values()].reduce((sum, endingCount) => sum + endingCount, 0);
    report(
      `${((performance.now() - startMs) / 1000).toFixed(0)} s: ${endedCallCount} calls ended, ${runningCallCount} open, server ${(readResidentMemory(pid).currentResidentBytes / 1e6).toFixed(0)} MB`,
    );
  }, 10_000);
  const calls: Promise<void>[] = [];
  const makeCall = async (i: number) => {
    runningCallCount++;
    const key = `${keyPrefix}${i}`;
    const callEnding = await startCall(clients[i % clients.length], chooseTool(i), key, i);
    runningCallCount--;
    endingCounts.set(callEnding.code, (endingCounts.get(callEnding.code) ?? 0) + 1);
    const unexpectedResultText = describeUnexpectedResult(chooseTool(i), key, callEnding);
    if (unexpectedResultText && violationTexts.length < 20)
      violationTexts.push(`${key}: ${unexpectedResultText}: ${callEnding.text.slice(0, 300)}`);
  };
  try {
    for (let i = 0; i < callRate.calls; i++) {
      const waitMs = startMs + (i * 60_000) / callRate.callsPerMinute - performance.now();
      if (waitMs > 2) await pause(waitMs);
      calls.push(makeCall(i));
    }
    await Promise.all(calls);
  } finally {
    clearInterval(reportTimer);
  }
  peakRssBytes = Math.max(peakRssBytes, readResidentMemory(pid).currentResidentBytes);
  return {
    endingCounts,
    violationTexts,
    durationMs: performance.now() - startMs,
    peakRssBytes,
  };
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
        { omitsProgressToken: i % 3 === 0 },
      );
    case 'steps':
      return client.call('work__steps', { key, count: 5, everyMs: 20 }, {});
    case 'fail':
      return client.call('work__fail', { key }, {});
    case 'big':
      return client.call('work__big', { key, bytes: 400_000 }, {});
    case 'cancel': {
      const stopController = new AbortController();
      setTimeout(() => stopController.abort(), 20 + (i % 7) * 20);
      return client.call(
        'work__beat',
        { key, everyMs: 10, forMs: 60_000 },
        { stopSignal: stopController.signal, disconnect: i % 2 === 0 },
      );
    }
  }
}

function describeUnexpectedResult(
  kind: ReturnType<typeof chooseTool>,
  key: string,
  { code, answerCount, structured: structuredResult }: CallEnding,
): string | undefined {
  const expectedCode = { echo: 'ok', steps: 'ok', big: 'ok', fail: 'tool_error', cancel: 'silent' }[kind];
  if (code !== expectedCode) return `ended with ${code}, not ${expectedCode}`;
  if (answerCount !== (expectedCode === 'silent' ? 0 : 1)) return `answered ${answerCount} times`;
  if (expectedCode === 'ok' && Object(structuredResult).key !== key)
    return `got the result of ${Object(structuredResult).key}`;
  return undefined;
}

export function listGrowthViolations({ memoryBefore, memoryAfter }: StreamResult): string[] {
  const growthViolations: string[] = [];
  const checkMemoryGrowth = (measure: string, memoryBefore: number, memoryAfter: number, allowedGrowth: number) => {
    if (memoryAfter > memoryBefore + allowedGrowth)
      growthViolations.push(`${measure} grew from ${memoryBefore} to ${memoryAfter}`);
  };
  checkMemoryGrowth(
    'goroutines',
    memoryBefore.server.goroutines,
    memoryAfter.server.goroutines,
    AllowedGoroutineGrowth,
  );
  checkMemoryGrowth('the heap of the server', memoryBefore.server.heapBytes, memoryAfter.server.heapBytes, 8 << 20);
  checkMemoryGrowth(
    'the resident memory of the server',
    memoryBefore.server.rssBytes,
    memoryAfter.server.rssBytes,
    40 << 20,
  );
  for (const contextName of ['worker', 'page', 'bridge'] as const) {
    checkMemoryGrowth(
      `the heap of the ${contextName}`,
      memoryBefore[contextName].heapBytes,
      memoryAfter[contextName].heapBytes,
      1 << 20,
    );
    checkMemoryGrowth(
      `message ports of the ${contextName}`,
      memoryBefore[contextName].ports,
      memoryAfter[contextName].ports,
      0,
    );
    checkMemoryGrowth(
      `abort controllers of the ${contextName}`,
      memoryBefore[contextName].abortControllers,
      memoryAfter[contextName].abortControllers,
      0,
    );
    checkMemoryGrowth(
      `promises of the ${contextName}`,
      memoryBefore[contextName].promises,
      memoryAfter[contextName].promises,
      20,
    );
    checkMemoryGrowth(
      `entries in tables of the ${contextName}`,
      memoryBefore[contextName].entries,
      memoryAfter[contextName].entries,
      20,
    );
  }
  checkMemoryGrowth('listeners of the page', memoryBefore.listeners, memoryAfter.listeners, 0);
  checkMemoryGrowth('documents of the page', memoryBefore.documents, memoryAfter.documents, 0);
  return growthViolations;
}

export function formatTable({
  memoryBefore,
  memoryAfter,
  endingCounts,
  durationMs,
  peakRssBytes,
}: StreamResult): string {
  const formatMegabytes = (bytes: number) => `${(bytes / (1 << 20)).toFixed(1)} MB`;
  const formatRow = (label: string, beforeText: string | number, afterText: string | number) =>
    `  ${label.padEnd(28)} ${beforeText} -> ${afterText}`;
  const count = [...endingCounts.values()].reduce((sum, endingCount) => sum + endingCount, 0);
  return [
    `${count} calls in ${(durationMs / 1000).toFixed(1)} s (${[...endingCounts].map(([code, endingCount]) => `${endingCount} ${code}`).join(', ')})`,
    formatRow(
      'server RSS',
      formatMegabytes(memoryBefore.server.rssBytes),
      `${formatMegabytes(memoryAfter.server.rssBytes)} (at most ${formatMegabytes(peakRssBytes)})`,
    ),
    formatRow(
      'server heap',
      formatMegabytes(memoryBefore.server.heapBytes),
      formatMegabytes(memoryAfter.server.heapBytes),
    ),
    formatRow('goroutines', memoryBefore.server.goroutines, memoryAfter.server.goroutines),
    ...(['worker', 'page', 'bridge'] as const).flatMap((contextName) => [
      formatRow(
        `${contextName} heap`,
        formatMegabytes(memoryBefore[contextName].heapBytes),
        formatMegabytes(memoryAfter[contextName].heapBytes),
      ),
      formatRow(
        `${contextName} ports, controllers`,
        `${memoryBefore[contextName].ports}, ${memoryBefore[contextName].abortControllers}`,
        `${memoryAfter[contextName].ports}, ${memoryAfter[contextName].abortControllers}`,
      ),
      formatRow(
        `${contextName} promises, table entries`,
        `${memoryBefore[contextName].promises}, ${memoryBefore[contextName].entries}`,
        `${memoryAfter[contextName].promises}, ${memoryAfter[contextName].entries}`,
      ),
    ]),
    formatRow(
      'page listeners, documents',
      `${memoryBefore.listeners}, ${memoryBefore.documents}`,
      `${memoryAfter.listeners}, ${memoryAfter.documents}`,
    ),
  ].join('\n');
}

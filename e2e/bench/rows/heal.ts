import type { CDPSession } from 'playwright-core';
import { z } from 'zod';
import { getJson } from '../../harness/daemon-api.ts';
import type { Stack } from '../../harness/stack.ts';
import { pause, waitFor } from '../../harness/wait.ts';
import type { BenchFixture } from '../bench-fixture.ts';
import { type BenchRow, formatTimes, makeUpperThreshold } from '../row.ts';
import { computeMedian } from '../samples.ts';

const roundCount = 9;

const StatusAnswer = z.object({
  started: z.string(),
  browsers: z.array(z.object({ connected: z.boolean(), since: z.string() })),
});

/** The returned `connectedSinceMs` and `startedMs` are times of the daemon's clock. */
function waitForReconnect(stack: Stack, notBeforeMs: number): Promise<{ connectedSinceMs: number; startedMs: number }> {
  return waitFor('the browser to reconnect', async () => {
    const status = StatusAnswer.parse(await getJson(stack, '/status'));
    const [browser] = status.browsers;
    const connectedSinceMs = parsePreciseMs(browser?.since ?? '');
    if (!browser?.connected || !(connectedSinceMs > notBeforeMs)) return undefined;
    return { connectedSinceMs, startedMs: parsePreciseMs(status.started) };
  });
}

/** parsePreciseMs parses an RFC 3339 time into milliseconds since 1970, with the digits that Date.parse drops. */
function parsePreciseMs(time: string): number {
  const fraction = /\.(\d+)/.exec(time)?.[1] ?? '';
  return Date.parse(time.replace(/\.\d+/, '')) + Number(`0.${fraction || 0}`) * 1000;
}

export async function measureWorkerRestart(fixture: BenchFixture): Promise<BenchRow[]> {
  const { stack } = await fixture.getLiveStack();
  const baselineServer = await fixture.getBaselineServer();
  const client = await stack.connectHttp();
  const workers = await ServiceWorkers.watch(stack);
  const reconnectTimes: number[] = [];
  const baselineTimes: number[] = [];
  let completedCallCount = 0;
  for (let roundIndex = 0; roundIndex < roundCount; roundIndex++) {
    baselineTimes.push(
      await workers.measureWorkerStop('floor', (notBeforeMs) =>
        waitForBaselineReconnect(baselineServer.port, notBeforeMs),
      ),
    );
    let reports = 0;
    const countReport = () => {
      reports++;
    };
    const args = { from: 12, intervalMs: 150 };
    const call = client.call('messages__countdown', args, { onProgress: countReport });
    await waitFor('the first report of the call', () => reports > 0);
    reconnectTimes.push(
      await workers.measureWorkerStop(
        'opentabs',
        async (notBeforeMs) => (await waitForReconnect(stack, notBeforeMs)).connectedSinceMs,
      ),
    );
    const callOutcome = await call;
    if (!callOutcome.isError && callOutcome.progress.at(-1)?.progress === 12) completedCallCount++;
  }
  await workers.close();
  return [
    {
      id: 'worker',
      what: 'time from a kill of the service worker to its reconnect, with a call in flight, p50',
      ours: `${formatTimes(reconnectTimes)}; ${completedCallCount} of ${roundCount} calls survived`,
      floor: formatTimes(baselineTimes),
      value: computeMedian(reconnectTimes),
      threshold: makeUpperThreshold(100, 'ms'),
      ...(completedCallCount < roundCount
        ? { broken: `${roundCount - completedCallCount} calls in flight did not end well` }
        : {}),
    },
  ];
}

/** ServiceWorkers stops the service worker of one extension at a time. */
class ServiceWorkers {
  readonly #cdp: CDPSession;
  /** The version ID of the running worker of each extension. */
  readonly #versions = new Map<'floor' | 'opentabs', string>();

  private constructor(cdp: CDPSession, opentabsOrigin: string) {
    this.#cdp = cdp;
    cdp.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
      for (const version of versions) {
        const extension = version.scriptURL.startsWith(opentabsOrigin) ? 'opentabs' : 'floor';
        if (version.runningStatus === 'running') this.#versions.set(extension, version.versionId);
      }
    });
  }

  static async watch(stack: Stack): Promise<ServiceWorkers> {
    const cdp = await stack.chrome.context.newCDPSession(stack.page);
    const workers = new ServiceWorkers(cdp, `chrome-extension://${stack.chrome.extensionId}/`);
    await cdp.send('ServiceWorker.enable');
    return workers;
  }

  /** waitForReconnectMs resolves to the time of the reconnect, and measureWorkerStop to the milliseconds until then. */
  async measureWorkerStop(
    extension: 'floor' | 'opentabs',
    waitForReconnectMs: (notBeforeMs: number) => Promise<number>,
  ): Promise<number> {
    const versionId = await waitFor(`the worker of ${extension} to run`, () => this.#versions.get(extension));
    this.#versions.delete(extension);
    const killedMs = performance.timeOrigin + performance.now();
    await this.#cdp.send('ServiceWorker.stopWorker', { versionId });
    return (await waitForReconnectMs(killedMs)) - killedMs;
  }

  close(): Promise<void> {
    return this.#cdp.detach();
  }
}

function waitForBaselineReconnect(port: number, notBeforeMs: number): Promise<number> {
  return waitFor('the floor extension to reconnect', async () => {
    const connectedMs = Number(await (await fetch(`http://127.0.0.1:${port}/connected`)).text());
    return connectedMs > notBeforeMs ? connectedMs : undefined;
  });
}

export async function measureServerRestart(fixture: BenchFixture): Promise<BenchRow[]> {
  const { stack } = await fixture.getLiveStack();
  const reconnectTimes: number[] = [];
  for (let roundIndex = 0; roundIndex < roundCount; roundIndex++) {
    // Each round pauses longer than the round before, so that the daemon is killed at different points of the retry
    // schedule.
    await pause(roundIndex * 97);
    const stopMs = Date.now();
    await stack.restartDaemon('SIGKILL');
    const reconnectResult = await waitForReconnect(stack, stopMs);
    reconnectTimes.push(reconnectResult.connectedSinceMs - reconnectResult.startedMs);
  }
  await stack.waitForPlugins('/');
  await fixture.goClient.connect('ours', `http://127.0.0.1:${stack.port}/mcp`, stack.clientToken);
  await fixture.measureCalls({ target: 'ours', tool: 'bench__echo', args: { text: 'x' }, calls: 1 });
  return [
    {
      id: 'restart',
      what: 'time from the restart of a killed server to the reconnect of the browser, p50',
      ours: formatTimes(reconnectTimes),
      value: computeMedian(reconnectTimes),
      threshold: makeUpperThreshold(1000, 'ms'),
    },
  ];
}

import { z } from 'zod';
import { runChecked } from '../../harness/process.ts';
import type { Stack } from '../../harness/stack.ts';
import { pause, waitFor } from '../../harness/wait.ts';
import type { BenchFixture } from '../bench-fixture.ts';
import { type BenchRow, formatTimes, makeUpperThreshold } from '../row.ts';
import { computeMedian } from '../samples.ts';

const roundCount = 9;

const Status = z.object({
  started: z.string(),
  browsers: z.array(z.object({ connected: z.boolean(), since: z.string() })),
});

/** The returned `sinceMs` and `startedMs` are times of the daemon's clock. */
function waitForReconnect(stack: Stack, afterMs: number): Promise<{ sinceMs: number; startedMs: number }> {
  return waitFor('the browser to reconnect', async () => {
    const status = Status.parse(JSON.parse(await runChecked(['status', '--json'], stack.env)));
    const [browser] = status.browsers;
    const sinceMs = parsePreciseMs(browser?.since ?? '');
    if (!browser?.connected || !(sinceMs > afterMs)) return undefined;
    return { sinceMs, startedMs: parsePreciseMs(status.started) };
  });
}

/** parsePreciseMs parses an RFC 3339 time into milliseconds since 1970, with the digits that Date.parse drops. */
function parsePreciseMs(time: string): number {
  const fraction = /\.(\d+)/.exec(time)?.[1] ?? '';
  return Date.parse(time.replace(/\.\d+/, '')) + Number(`0.${fraction || 0}`) * 1000;
}

export async function measureWorkerRestart(fixture: BenchFixture): Promise<BenchRow[]> {
  const { stack } = await fixture.getLiveStack();
  const client = await stack.connectHttp();
  const cdp = await stack.chrome.context.newCDPSession(stack.page);
  await cdp.send('ServiceWorker.enable');
  const healTimes: number[] = [];
  let survivedCount = 0;
  for (let roundIndex = 0; roundIndex < roundCount; roundIndex++) {
    let reports = 0;
    const countReport = () => {
      reports++;
    };
    const args = { from: 12, intervalMs: 150 };
    const call = client.call('messages__countdown', args, { onProgress: countReport });
    await waitFor('the first report of the call', () => reports > 0);
    const killedMs = performance.timeOrigin + performance.now();
    await cdp.send('ServiceWorker.stopAllWorkers');
    healTimes.push((await waitForReconnect(stack, killedMs)).sinceMs - killedMs);
    const callOutcome = await call;
    if (!callOutcome.isError && callOutcome.progress.at(-1)?.progress === 12) survivedCount++;
  }
  await cdp.detach();
  return [
    {
      id: 'worker',
      what: 'time from a kill of the service worker to its reconnect, with a call in flight, p50',
      ours: `${formatTimes(healTimes)}; ${survivedCount} of ${roundCount} calls survived`,
      value: computeMedian(healTimes),
      threshold: makeUpperThreshold(100, 'ms'),
      ...(survivedCount < roundCount
        ? { broken: `${roundCount - survivedCount} calls in flight did not end well` }
        : {}),
    },
  ];
}

export async function measureServerRestart(fixture: BenchFixture): Promise<BenchRow[]> {
  const { stack } = await fixture.getLiveStack();
  const healTimes: number[] = [];
  for (let roundIndex = 0; roundIndex < roundCount; roundIndex++) {
    // Each round pauses longer than the round before, so that the daemon is killed at different points of the retry
    // schedule.
    await pause(roundIndex * 97);
    const beforeMs = Date.now();
    await stack.restartDaemon('SIGKILL');
    const reconnect = await waitForReconnect(stack, beforeMs);
    healTimes.push(reconnect.sinceMs - reconnect.startedMs);
  }
  await stack.waitForPlugins('/');
  await fixture.goClient.connect('ours', `http://127.0.0.1:${stack.port}/mcp`, stack.clientToken);
  await fixture.measureCalls({ target: 'ours', tool: 'bench__echo', args: { text: 'x' }, calls: 1 });
  return [
    {
      id: 'restart',
      what: 'time from the restart of a killed server to the reconnect of the browser, p50',
      ours: formatTimes(healTimes),
      value: computeMedian(healTimes),
      threshold: makeUpperThreshold(1000, 'ms'),
    },
  ];
}

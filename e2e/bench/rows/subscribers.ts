import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { addClient } from '../../harness/daemon-api.ts';
import { repositoryRoot, runOrThrow } from '../../harness/process.ts';
import { pause, waitFor } from '../../harness/wait.ts';
import { readResidentMemory } from '../../load/measure.ts';
import type { BenchFixture } from '../bench-fixture.ts';
import { CallsAnswer, startEventSubscribers, startServer } from '../go.ts';
import { type BenchRow, formatMegabytes, formatMs, formatSummary, makeUpperThreshold } from '../row.ts';
import { computeMedian, measureAlternately } from '../samples.ts';

const token = 'bench';

/** SubscriberBenchScale is the number of subscribers, of measured calls in a block, and of blocks. */
export interface SubscriberBenchScale {
  readonly subscriberCount: number;
  readonly callsPerBlock: number;
  readonly roundCount: number;
}

export async function measureSubscribers(
  fixture: BenchFixture,
  { subscriberCount, callsPerBlock, roundCount }: SubscriberBenchScale = {
    subscriberCount: 1000,
    callsPerBlock: 1000,
    roundCount: 5,
  },
): Promise<BenchRow[]> {
  const subscribersHome = join(fixture.homeFolder, 'subscribers');
  const plugin = join(subscribersHome, 'bench-plugin');
  mkdirSync(subscribersHome, { recursive: true });
  cpSync(join(repositoryRoot, 'e2e/bench/plugin'), plugin, { recursive: true });
  await runOrThrow(['plugin', 'build', plugin], { OPENTABS_HOME: subscribersHome });
  await runOrThrow(['plugin', 'add', plugin, '--permission', 'auto'], { OPENTABS_HOME: subscribersHome });
  const clientToken = await addClient({ OPENTABS_HOME: subscribersHome }, 'bench');
  const server = await startServer('instant', '-state', subscribersHome, '-token', token);
  try {
    await fixture.goClient.connect('followed', `http://127.0.0.1:${server.port}/mcp`, clientToken);
    const echoCommand = { target: 'followed', tool: 'bench__echo', args: { text: 'x'.repeat(188) } };
    const measureCallRate = async () => {
      const benchAnswer = await fixture.goClient.sendCommand(
        { do: 'calls', ...echoCommand, calls: callsPerBlock, inFlight: 32 },
        CallsAnswer,
      );
      if (benchAnswer.failed > 0) throw new Error(`${benchAnswer.failed} calls failed: ${benchAnswer.problem}`);
      return callsPerBlock / (benchAnswer.allNs / 1e9);
    };
    const measurePacedCalls = () => fixture.measureCalls({ ...echoCommand, calls: callsPerBlock / 5, everyMs: 5 });
    const measureWithSubscribers = async <T>(measureVariant: () => Promise<T>) => {
      const eventSubscribers = await startEventSubscribers(server.port, token, subscriberCount);
      try {
        return await measureVariant();
      } finally {
        await eventSubscribers.close();
      }
    };
    await measureCallRate();
    const variantSummaries = await measureAlternately(roundCount, {
      unfollowed: measurePacedCalls,
      followed: () => measureWithSubscribers(measurePacedCalls),
    });
    const [summaryWithoutSubscribers, summaryWithSubscribers] = [
      variantSummaries.get('unfollowed'),
      variantSummaries.get('followed'),
    ];
    if (!summaryWithoutSubscribers || !summaryWithSubscribers) throw new Error('nothing was measured');
    const ratesWithoutSubscribers: number[] = [];
    for (let roundIndex = 0; roundIndex < roundCount; roundIndex++)
      ratesWithoutSubscribers.push(await measureCallRate());
    const eventSubscribers = await startEventSubscribers(server.port, token, subscriberCount);
    const ratesWithSubscribers: number[] = [];
    for (let roundIndex = 0; roundIndex < roundCount; roundIndex++) ratesWithSubscribers.push(await measureCallRate());
    const calls = callsPerBlock * roundCount;
    const readMinEventCount = async () => (await eventSubscribers.count()).least;
    const beganMs = performance.now();
    await waitFor('each subscriber to read the last event', async () => {
      const previousCount = await readMinEventCount();
      await pause(100);
      return (await readMinEventCount()) === previousCount;
    });
    const catchUpMs = performance.now() - beganMs;
    const eventCounts = await eventSubscribers.count();
    const residentBytes = readResidentMemory(server.pid).currentResidentBytes;
    await eventSubscribers.close();
    const stalledSubscribers = await startEventSubscribers(server.port, token, subscriberCount, true);
    const ratesWithStalledSubscribers: number[] = [];
    for (let roundIndex = 0; roundIndex < roundCount; roundIndex++)
      ratesWithStalledSubscribers.push(await measureCallRate());
    const stalledSubscriberMemory = readResidentMemory(server.pid);
    await stalledSubscribers.close();
    const id = 'subscribers';
    return [
      {
        id,
        what: `time of a call at one call per 5 ms, p50, with ${subscriberCount} subscribers of /events; floor: no subscribers`,
        ours: formatSummary(summaryWithSubscribers),
        floor: formatSummary(summaryWithoutSubscribers),
        value: summaryWithSubscribers.p50 / summaryWithoutSubscribers.p50,
        threshold: makeUpperThreshold(1.5, 'x'),
      },
      {
        id,
        what: `calls per second with 32 concurrent calls and ${subscriberCount} subscribers of /events; floor: no subscribers`,
        ours: `${Math.round(computeMedian(ratesWithSubscribers))}/s`,
        floor: `${Math.round(computeMedian(ratesWithoutSubscribers))}/s`,
      },
      {
        id,
        what: `events that the slowest of ${subscriberCount} subscribers read, of ${calls * 3} events`,
        ours: `${eventCounts.least} (most ${eventCounts.most}, gaps reported ${eventCounts.missed} times), all caught up after ${formatMs(catchUpMs)}`,
      },
      {
        id,
        what: `resident memory of the server with ${subscriberCount} subscribers, after ${calls * 3} calls`,
        ours: formatMegabytes(residentBytes),
        value: residentBytes / 1e6,
        threshold: makeUpperThreshold(150, 'MB'),
      },
      {
        id,
        what: `calls per second with ${subscriberCount} subscribers of /events that never read`,
        ours: `${Math.round(computeMedian(ratesWithStalledSubscribers))}/s`,
        floor: `${Math.round(computeMedian(ratesWithoutSubscribers))}/s`,
      },
      {
        id,
        what: `peak resident memory of the server with ${subscriberCount} subscribers that never read`,
        ours: formatMegabytes(stalledSubscriberMemory.peak),
        value: stalledSubscriberMemory.peak / 1e6,
        threshold: makeUpperThreshold(250, 'MB'),
      },
    ];
  } finally {
    await server.close();
  }
}

import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { addClient } from '../../harness/daemon-api.ts';
import { repositoryRoot, runChecked } from '../../harness/process.ts';
import { pause, waitFor } from '../../harness/wait.ts';
import { readResidentMemory } from '../../load/measure.ts';
import type { BenchFixture } from '../bench-fixture.ts';
import { CallsAnswer, startFollowers, startServer } from '../go.ts';
import { type BenchRow, formatMegabytes, formatMs, formatSummary, makeUpperThreshold } from '../row.ts';
import { computeMedian, measureAlternately } from '../samples.ts';

const token = 'bench';

/** FollowersScale is the number of followers, of measured calls in a block, and of blocks. */
export interface FollowersScale {
  readonly followerCount: number;
  readonly callsPerBlock: number;
  readonly roundCount: number;
}

export async function measureFollowers(
  fixture: BenchFixture,
  { followerCount, callsPerBlock, roundCount }: FollowersScale = {
    followerCount: 1000,
    callsPerBlock: 1000,
    roundCount: 5,
  },
): Promise<BenchRow[]> {
  const followersHome = join(fixture.homeFolder, 'followers');
  const plugin = join(followersHome, 'bench-plugin');
  mkdirSync(followersHome, { recursive: true });
  cpSync(join(repositoryRoot, 'e2e/bench/plugin'), plugin, { recursive: true });
  await runChecked(['plugin', 'build', plugin], { OPENTABS_HOME: followersHome });
  await runChecked(['plugin', 'add', plugin, '--permission', 'auto'], { OPENTABS_HOME: followersHome });
  const clientToken = await addClient({ OPENTABS_HOME: followersHome }, 'bench');
  const server = await startServer('instant', '-state', followersHome, '-token', token);
  try {
    await fixture.goClient.connect('followed', `http://127.0.0.1:${server.port}/mcp`, clientToken);
    const echoCommand = { target: 'followed', tool: 'bench__echo', args: { text: 'x'.repeat(188) } };
    const measureRate = async () => {
      const benchAnswer = await fixture.goClient.sendCommand(
        { do: 'calls', ...echoCommand, calls: callsPerBlock, inFlight: 32 },
        CallsAnswer,
      );
      if (benchAnswer.failed > 0) throw new Error(`${benchAnswer.failed} calls failed: ${benchAnswer.problem}`);
      return callsPerBlock / (benchAnswer.allNs / 1e9);
    };
    const measurePacedCalls = () => fixture.measureCalls({ ...echoCommand, calls: callsPerBlock / 5, everyMs: 5 });
    const measureWithFollowers = async <T>(measureSide: () => Promise<T>) => {
      const eventFollowers = await startFollowers(server.port, token, followerCount);
      try {
        return await measureSide();
      } finally {
        await eventFollowers.close();
      }
    };
    await measureRate();
    const sideSummaries = await measureAlternately(roundCount, {
      unfollowed: measurePacedCalls,
      followed: () => measureWithFollowers(measurePacedCalls),
    });
    const [unfollowedSummary, followedSummary] = [sideSummaries.get('unfollowed'), sideSummaries.get('followed')];
    if (!unfollowedSummary || !followedSummary) throw new Error('nothing was measured');
    const unfollowedRates: number[] = [];
    for (let roundIndex = 0; roundIndex < roundCount; roundIndex++) unfollowedRates.push(await measureRate());
    const eventFollowers = await startFollowers(server.port, token, followerCount);
    const followedRates: number[] = [];
    for (let roundIndex = 0; roundIndex < roundCount; roundIndex++) followedRates.push(await measureRate());
    const calls = callsPerBlock * roundCount;
    const readMinEventCount = async () => (await eventFollowers.count()).least;
    const beganMs = performance.now();
    await waitFor('each follower to read the last event', async () => {
      const previousCount = await readMinEventCount();
      await pause(100);
      return (await readMinEventCount()) === previousCount;
    });
    const catchUpMs = performance.now() - beganMs;
    const eventCounts = await eventFollowers.count();
    const residentBytes = readResidentMemory(server.pid).nowBytes;
    await eventFollowers.close();
    const unreadingFollowers = await startFollowers(server.port, token, followerCount, true);
    const unreadingRates: number[] = [];
    for (let roundIndex = 0; roundIndex < roundCount; roundIndex++) unreadingRates.push(await measureRate());
    const unreadingMemory = readResidentMemory(server.pid);
    await unreadingFollowers.close();
    const id = 'followers';
    return [
      {
        id,
        what: `time of a call at one call per 5 ms, p50, with ${followerCount} followers of /events; floor: no followers`,
        ours: formatSummary(followedSummary),
        floor: formatSummary(unfollowedSummary),
        value: followedSummary.p50 / unfollowedSummary.p50,
        threshold: makeUpperThreshold(1.5, 'x'),
      },
      {
        id,
        what: `calls per second with 32 concurrent calls and ${followerCount} followers of /events; floor: no followers`,
        ours: `${Math.round(computeMedian(followedRates))}/s`,
        floor: `${Math.round(computeMedian(unfollowedRates))}/s`,
      },
      {
        id,
        what: `events that the slowest of ${followerCount} followers read, of ${calls * 3} events`,
        ours: `${eventCounts.least} (most ${eventCounts.most}, gaps reported ${eventCounts.missed} times), all caught up after ${formatMs(catchUpMs)}`,
      },
      {
        id,
        what: `resident memory of the server with ${followerCount} followers, after ${calls * 3} calls`,
        ours: formatMegabytes(residentBytes),
        value: residentBytes / 1e6,
        threshold: makeUpperThreshold(150, 'MB'),
      },
      {
        id,
        what: `calls per second with ${followerCount} followers of /events that never read`,
        ours: `${Math.round(computeMedian(unreadingRates))}/s`,
        floor: `${Math.round(computeMedian(unfollowedRates))}/s`,
      },
      {
        id,
        what: `peak resident memory of the server with ${followerCount} followers that never read`,
        ours: formatMegabytes(unreadingMemory.peak),
        value: unreadingMemory.peak / 1e6,
        threshold: makeUpperThreshold(250, 'MB'),
      },
    ];
  } finally {
    await server.close();
  }
}

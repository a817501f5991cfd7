import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot, runChecked } from '../../harness/process.ts';
import { pause, waitFor } from '../../harness/wait.ts';
import { readResidentMemory } from '../../load/measure.ts';
import type { BenchFixture } from '../bench-fixture.ts';
import { CallsAnswer, startFollowers, startServer } from '../go.ts';
import { atMost, formatMegabytes, formatMs, formatSummary, type Row } from '../row.ts';
import { measureInTurns, median } from '../samples.ts';

const crowdSize = 1000;
const token = 'bench';
const blockCalls = 1000;
const rounds = 5;

/** measureFollowers measures the cost of clients of /events: calls to an instant tool, without followers and with 1,000 followers. */
export async function measureFollowers(fixture: BenchFixture): Promise<Row[]> {
  const home = join(fixture.home, 'followers');
  const plugin = join(home, 'bench-plugin');
  mkdirSync(home, { recursive: true });
  cpSync(join(repositoryRoot, 'e2e/bench/plugin'), plugin, { recursive: true });
  await runChecked(['plugin', 'build', plugin], { OPENTABS_HOME: home });
  await runChecked(['plugin', 'add', plugin, '--permission', 'auto'], { OPENTABS_HOME: home });
  const server = await startServer('instant', '-state', home, '-token', token);
  try {
    await fixture.goClient.connect('followed', `http://127.0.0.1:${server.port}/mcp`, token);
    const order = { target: 'followed', tool: 'bench__echo', args: { text: 'x'.repeat(188) } };
    const measureRate = async () => {
      const done = await fixture.goClient.sendOrder(
        { do: 'calls', ...order, calls: blockCalls, inFlight: 32 },
        CallsAnswer,
      );
      if (done.failed > 0) throw new Error(`${done.failed} calls failed: ${done.problem}`);
      return blockCalls / (done.allNs / 1e9);
    };
    const measurePacedCalls = () => fixture.measureCalls({ ...order, calls: 200, everyMs: 5 });
    const withFollowers = async <T>(measure: () => Promise<T>) => {
      const crowd = await startFollowers(server.port, token, crowdSize);
      try {
        return await measure();
      } finally {
        await crowd.close();
      }
    };
    await measureRate();
    const summaries = await measureInTurns(rounds, {
      alone: measurePacedCalls,
      followed: () => withFollowers(measurePacedCalls),
    });
    const [alone, followed] = [summaries.get('alone'), summaries.get('followed')];
    if (!alone || !followed) throw new Error('nothing was measured');
    const rates: number[] = [];
    for (let round = 0; round < rounds; round++) rates.push(await measureRate());
    const crowd = await startFollowers(server.port, token, crowdSize);
    const crowdRates: number[] = [];
    for (let round = 0; round < rounds; round++) crowdRates.push(await measureRate());
    const calls = blockCalls * rounds;
    const lastReached = async () => (await crowd.count()).least;
    const beganMs = performance.now();
    await waitFor('each follower has the last event', async () => {
      const before = await lastReached();
      await pause(100);
      return (await lastReached()) === before;
    });
    const caughtUpMs = performance.now() - beganMs;
    const read = await crowd.count();
    const memory = readResidentMemory(server.pid).now;
    await crowd.close();
    const stuck = await startFollowers(server.port, token, crowdSize, true);
    const stuckRates: number[] = [];
    for (let round = 0; round < rounds; round++) stuckRates.push(await measureRate());
    const stuckMemory = readResidentMemory(server.pid);
    await stuck.close();
    const id = 'followers';
    return [
      {
        id,
        what: `one call each 5 ms, p50, with ${crowdSize} followers of /events, against none`,
        ours: formatSummary(followed),
        floor: formatSummary(alone),
        value: followed.p50 / alone.p50,
        bar: atMost(1.5, 'x'),
      },
      {
        id,
        what: `calls/s, 32 in flight, with ${crowdSize} followers, against none`,
        ours: `${Math.round(median(crowdRates))}/s`,
        floor: `${Math.round(median(rates))}/s`,
      },
      {
        id,
        what: `${calls * 3} events to each of ${crowdSize} followers: those that the slowest read`,
        ours: `${read.least} (most ${read.most}, gaps reported ${read.missed} times), all caught up after ${formatMs(caughtUpMs)}`,
      },
      {
        id,
        what: `resident memory of the server with them, after ${calls * 3} calls`,
        ours: formatMegabytes(memory),
        value: memory / 1e6,
        bar: atMost(150, 'MB'),
      },
      {
        id,
        what: `calls/s with ${crowdSize} followers that never read`,
        ours: `${Math.round(median(stuckRates))}/s`,
        floor: `${Math.round(median(rates))}/s`,
      },
      {
        id,
        what: 'resident memory of the server with those, at most',
        ours: formatMegabytes(stuckMemory.peak),
        value: stuckMemory.peak / 1e6,
        bar: atMost(250, 'MB'),
      },
    ];
  } finally {
    await server.close();
  }
}

/**
 * make soak: what only time shows.
 *
 * SEED repeats a run of mixed calls under faults, DURATION (2m, 90s) says how long it goes on. ONLY leaves out the rest:
 *
 *   mixed    calls of all kinds under random faults, 30 min
 *   limits   the real limits of 30 s and 5 min, and a job of 90 s; 7 min
 *   load     10,000 calls a minute for 10 min, with the memory of all sides before and after; only if it is named
 */
import { grown, stream, table } from '../load/steady.ts';
import { checkJob } from './job.ts';
import { checkLimits } from './limits.ts';
import { soak } from './mixed.ts';
import { makePlan } from './plan.ts';
import { save, summary } from './summary.ts';
import { World } from './world.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);

function durationMs(fallback: string): number {
  const text = process.env.DURATION || fallback;
  const [, number, unit] = /^(\d+(?:\.\d+)?)(s|m|h)$/.exec(text) ?? [];
  const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
  const ms = Number(number) * (units[unit ?? ''] ?? Number.NaN);
  if (!(ms > 0)) throw new Error(`DURATION is ${text}: write a time such as 30m, 90s or 1h`);
  return ms;
}

async function mixed(): Promise<boolean> {
  const seed = Number(process.env.SEED || Math.floor(Math.random() * 1e9));
  if (!Number.isSafeInteger(seed)) throw new Error(`SEED is ${process.env.SEED}: write a whole number`);
  const plan = makePlan(seed, durationMs('30m'));
  const { calls, faults } = plan;
  say(
    `mixed calls under faults: SEED=${seed}, ${calls.length} calls and ${faults.length} faults in ${plan.durationMs / 1000} s`,
  );
  const report = await soak(plan, say);
  say(summary(report));
  say(`report: ${save(report)}`);
  return report.violations.length === 0;
}

async function limits(): Promise<boolean> {
  say('a job of 90 s whose client leaves');
  const jobs = await checkJob(say);
  say('the real limits: 30 s without progress, 5 min in all');
  return (await checkLimits(say)) && jobs;
}

async function load(): Promise<boolean> {
  const perMinute = 10_000;
  const calls = Math.round((durationMs('10m') / 60_000) * perMinute);
  say(`load: ${calls} calls at ${perMinute} a minute`);
  const world = new World(1, { idleTimeout: '30s' });
  try {
    await world.start();
    const streamed = await stream(world, { calls, perMinute }, say);
    say(table(streamed));
    const wrong = [...streamed.wrong, ...grown(streamed)];
    for (const line of wrong) say(`VIOLATION ${line}`);
    return wrong.length === 0;
  } finally {
    await world.close();
  }
}

const parts = { mixed, limits, load } as const;
const only = process.env.ONLY || 'mixed limits';
let good = true;
for (const name of only.split(' ')) {
  const part = Object.entries(parts).find(([key]) => key === name)?.[1];
  if (!part) throw new Error(`ONLY is ${only}: write ${Object.keys(parts).join(', ')}, or leave it out`);
  good = (await part()) && good;
}
// What a client of another maker leaves open must not keep the run from ending.
process.exit(good ? 0 : 1);

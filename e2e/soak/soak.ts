/**
 * make soak: what only time shows.
 *
 * SEED repeats a run, DURATION (2m, 90s; default 30m) says how long the mixed calls go on, ONLY=mixed or ONLY=limits leaves the other out.
 */
import { checkLimits } from './limits.ts';
import { soak } from './mixed.ts';
import { makePlan } from './plan.ts';
import { save, summary } from './summary.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);

function durationMs(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(s|m|h)$/.exec(text) ?? [];
  const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
  const ms = Number(number) * (units[unit ?? ''] ?? Number.NaN);
  if (!(ms > 0)) throw new Error(`DURATION is ${text}: write a time such as 30m, 90s or 1h`);
  return ms;
}

const only = process.env.ONLY ?? '';
if (!['', 'mixed', 'limits'].includes(only)) throw new Error(`ONLY is ${only}: write mixed or limits, or leave it out`);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));
let failed = false;
if (only !== 'limits') {
  const plan = makePlan(seed, durationMs(process.env.DURATION ?? '30m'));
  say(
    `mixed calls under faults: SEED=${seed}, ${plan.calls.length} calls and ${plan.faults.length} faults in ${plan.durationMs / 1000} s`,
  );
  const report = await soak(plan, say);
  say(summary(report));
  say(`report: ${save(report)}`);
  failed ||= report.violations.length > 0;
}
if (only !== 'mixed') {
  say('the real limits: 30 s without progress, 5 min in all');
  failed ||= !(await checkLimits(say));
}
process.exitCode = failed ? 1 : 0;

/**
 * Runs long tests under load and faults, for `make soak`.
 *
 * To repeat an earlier run, set SEED to the seed that the run printed. DURATION, such as 2m or 90s, sets the length of
 * one part of the soak test. ONLY selects parts:
 *
 *   mixed    calls of all kinds under random faults, 30 min
 *   limits   the real limits of 30 s and 5 min, and a job of 90 s; 7 min
 *   load     10,000 calls a minute for 10 min, with the memory of all processes before and after; runs only if ONLY
 *            names it
 */
import { formatTable, listGrowthViolations, streamCalls } from '../load/steady.ts';
import { checkDetachedJob } from './check-job.ts';
import { checkTimeouts } from './check-limits.ts';
import { runSoak } from './mixed-run.ts';
import { makePlan } from './plan.ts';
import { formatSummary, saveReport } from './summary.ts';
import { SystemUnderTest } from './system-under-test.ts';

const printLine = (line: string) => process.stdout.write(`${line}\n`);

function readDurationMs(defaultDuration: string): number {
  const durationText = process.env.DURATION || defaultDuration;
  const [, durationNumber, durationUnit] = /^(\d+(?:\.\d+)?)(s|m|h)$/.exec(durationText) ?? [];
  const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
  const ms = Number(durationNumber) * (units[durationUnit ?? ''] ?? Number.NaN);
  if (!(ms > 0)) throw new Error(`DURATION is ${durationText}: write a time such as 30m, 90s or 1h`);
  return ms;
}

async function runMixedLoad(): Promise<boolean> {
  const randomSeed = Number(process.env.SEED || Math.floor(Math.random() * 1e9));
  if (!Number.isSafeInteger(randomSeed)) throw new Error(`SEED is ${process.env.SEED}: write a whole number`);
  const soakPlan = makePlan(randomSeed, readDurationMs('30m'));
  const { calls, plannedFaults } = soakPlan;
  printLine(
    `mixed calls under faults: SEED=${randomSeed}, ${calls.length} calls and ${plannedFaults.length} faults in ${soakPlan.durationMs / 1000} s`,
  );
  const report = await runSoak(soakPlan, printLine);
  printLine(formatSummary(report));
  printLine(`report: ${saveReport(report)}`);
  return report.violations.length === 0;
}

async function runTimeoutChecks(): Promise<boolean> {
  printLine('a job of 90 s whose client disconnects');
  const hasJobCheckPassed = await checkDetachedJob(printLine);
  printLine('the real limits: 30 s without progress, 5 min in all');
  return (await checkTimeouts(printLine)) && hasJobCheckPassed;
}

async function runLoad(): Promise<boolean> {
  const callsPerMinute = 10_000;
  const calls = Math.round((readDurationMs('10m') / 60_000) * callsPerMinute);
  printLine(`load: ${calls} calls at ${callsPerMinute} a minute`);
  const testedSystem = new SystemUnderTest(1, { idleTimeout: '30s' });
  try {
    await testedSystem.start();
    const streamResult = await streamCalls(testedSystem, { calls, callsPerMinute }, printLine);
    printLine(formatTable(streamResult));
    const violations = [...streamResult.violationTexts, ...listGrowthViolations(streamResult)];
    for (const line of violations) printLine(`VIOLATION ${line}`);
    return violations.length === 0;
  } finally {
    await testedSystem.close();
  }
}

const soakParts = { mixed: runMixedLoad, limits: runTimeoutChecks, load: runLoad } as const;
const selectedParts = process.env.ONLY || 'mixed limits';
let haveAllPartsPassed = true;
for (const name of selectedParts.split(' ')) {
  const soakPart = Object.entries(soakParts).find(([key]) => key === name)?.[1];
  if (!soakPart)
    throw new Error(`ONLY is ${selectedParts}: write ${Object.keys(soakParts).join(', ')}, or leave it out`);
  haveAllPartsPassed = (await soakPart()) && haveAllPartsPassed;
}
// Exit explicitly, because the official MCP client may leave connections open that would keep the process running.
process.exit(haveAllPartsPassed ? 0 : 1);

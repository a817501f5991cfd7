/** Measures the processor time that each process uses for an echo call through a page. Only Linux has /proc. */
import { readdirSync, readFileSync } from 'node:fs';
import type { BenchFixture } from '../bench-fixture.ts';
import type { BenchRow } from '../row.ts';
import { computeMedian } from '../samples.ts';

const callsPerRound = 2000;
const roundCount = 5;

/** Each role is recognized by the command line of a process. The first matching role counts. */
const processRoles: readonly (readonly [role: string, commandPattern: RegExp])[] = [
  ['client of the benchmark', /bench client/],
  ['server', /bench floor|opentabs serve/],
  ['browser: network process', /--utility-sub-type=network/],
  ['browser: extension process, which runs the worker', /--type=renderer.*--extension-process/],
  ['browser: page process, which runs content script and page', /--type=renderer/],
  ['browser: browser process, which forwards the messages of ports', /^\S*\/chromium (?!.*--type=)/],
];

/** The benchmark row "cpu" has no limit, because it only explains the row "echo". */
export async function measureCpu(fixture: BenchFixture): Promise<BenchRow[]> {
  const { stack, baselinePage } = await fixture.getLiveStack();
  const measureRound = async (target: 'floor-c' | 'ours'): Promise<ReadonlyMap<string, number>> => {
    await (target === 'ours' ? stack.page : baselinePage).bringToFront();
    const echoCommand = { target, tool: 'bench__echo', args: { text: 'x'.repeat(188) } };
    await fixture.measureCalls({ ...echoCommand, calls: callsPerRound / 2 });
    const startTimes = readProcessorTimes();
    await fixture.measureCalls({ ...echoCommand, calls: callsPerRound });
    const usByRole = new Map<string, number>();
    for (const [task, { role, ns }] of readProcessorTimes()) {
      const us = (ns - (startTimes.get(task)?.ns ?? 0)) / 1000 / callsPerRound;
      usByRole.set(role, (usByRole.get(role) ?? 0) + us);
    }
    for (const [role] of processRoles) if (!usByRole.has(role)) throw new Error(`no process is the ${role}`);
    return usByRole;
  };
  const baselineRounds: ReadonlyMap<string, number>[] = [];
  const opentabsRounds: ReadonlyMap<string, number>[] = [];
  for (let roundIndex = 0; roundIndex < roundCount; roundIndex++) {
    baselineRounds.push(await measureRound('floor-c'));
    opentabsRounds.push(await measureRound('ours'));
  }
  return processRoles.map(([role]) => {
    const computeMedianUs = (rounds: readonly ReadonlyMap<string, number>[]) =>
      computeMedian(rounds.map((usByRole) => usByRole.get(role) ?? 0));
    return {
      id: 'cpu',
      what: `processor time per echo call: ${role}`,
      ours: `${computeMedianUs(opentabsRounds).toFixed(0)} us`,
      floor: `${computeMedianUs(baselineRounds).toFixed(0)} us`,
    };
  });
}

/** readProcessorTimes returns the processor time of each thread of a process with a role, in nanoseconds since its start. */
function readProcessorTimes(): ReadonlyMap<string, { readonly role: string; readonly ns: number }> {
  const processorTimes = new Map<string, { role: string; ns: number }>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const command = readEndingFile(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
    const [role] = processRoles.find(([, commandPattern]) => commandPattern.test(command)) ?? [];
    if (role === undefined) continue;
    for (const task of readdirSync(`/proc/${pid}/task`)) {
      const [ns] = readEndingFile(`/proc/${pid}/task/${task}/schedstat`).split(' ');
      if (ns) processorTimes.set(task, { role, ns: Number(ns) });
    }
  }
  return processorTimes;
}

/** readEndingFile returns an empty text if the process or thread of a file in /proc has ended. */
function readEndingFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

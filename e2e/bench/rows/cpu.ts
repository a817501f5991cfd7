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
  ['browser: browser process, which forwards the messages of ports', /chromium(?!.*--type=)/],
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
    for (const [pid, { role, ns }] of readProcessorTimes()) {
      const us = (ns - (startTimes.get(pid)?.ns ?? ns)) / 1000 / callsPerRound;
      usByRole.set(role, (usByRole.get(role) ?? 0) + us);
    }
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

/** readProcessorTimes returns the processor time of each process that has a role, in nanoseconds since its start. */
function readProcessorTimes(): ReadonlyMap<string, { readonly role: string; readonly ns: number }> {
  const processorTimes = new Map<string, { role: string; ns: number }>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const [role] = processRoles.find(([, commandPattern]) => commandPattern.test(command)) ?? [];
      if (role === undefined) continue;
      const taskTimes = readdirSync(`/proc/${pid}/task`).map((task) =>
        Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
      );
      processorTimes.set(pid, { role, ns: taskTimes.reduce((sum, ns) => sum + ns, 0) });
    } catch {
      // The process or one of its threads has ended.
    }
  }
  return processorTimes;
}

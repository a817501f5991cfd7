/** Measures which JavaScript functions use the most CPU time during calls. */
import { z } from 'zod';
import { type CdpSession, connectCdp } from '../../harness/cdp.ts';
import type { BenchFixture } from '../bench-fixture.ts';
import type { BenchRow } from '../row.ts';

const callCount = 4000;
const maxFunctions = 10;

const CpuProfile = z.object({
  profile: z.object({
    nodes: z.array(
      z.object({
        id: z.number(),
        callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
      }),
    ),
    samples: z.array(z.number()),
    timeDeltas: z.array(z.number()),
  }),
});

/** The benchmark row "profile" has no limit, because it only explains the rows "echo" and "load". */
export async function measureProfile(fixture: BenchFixture): Promise<BenchRow[]> {
  const { stack, baselinePage } = await fixture.getLiveStack();
  const cdp = await connectCdp(stack.chrome.debugPort);
  try {
    const cdpTargets = await cdp.targets();
    const attachToTarget = async (type: string, matchesUrl: (url: string) => boolean): Promise<CdpSession> => {
      const target = cdpTargets.find((target) => target.type === type && matchesUrl(target.url));
      if (!target) throw new Error(`there is no such ${type}`);
      return cdp.attach(target.targetId);
    };
    const isExtensionUrl = (url: string) => url.includes(stack.chrome.extensionId);
    const opentabsSessions = {
      worker: await attachToTarget('service_worker', isExtensionUrl),
      page: await attachToTarget('page', (url) => url === stack.page.url()),
    };
    const baselineSessions = {
      worker: await attachToTarget('service_worker', (url) => !isExtensionUrl(url)),
      page: await attachToTarget('page', (url) => url === baselinePage.url()),
    };
    const benchRows: BenchRow[] = [];
    for (const concurrentCallCount of [1, 32]) {
      await baselinePage.bringToFront();
      benchRows.push(...(await profileCalls(fixture, 'floor-d', baselineSessions, concurrentCallCount)));
      await stack.page.bringToFront();
      benchRows.push(...(await profileCalls(fixture, 'ours', opentabsSessions, concurrentCallCount)));
    }
    return benchRows;
  } finally {
    cdp.close();
  }
}

async function profileCalls(
  fixture: BenchFixture,
  target: string,
  sessions: Readonly<Record<string, CdpSession>>,
  concurrentCallCount: number,
): Promise<BenchRow[]> {
  const echoCommand = { target, tool: 'bench__echo', args: { text: 'x'.repeat(188) }, inFlight: concurrentCallCount };
  await fixture.measureCalls({ ...echoCommand, calls: 1000 });
  for (const session of Object.values(sessions)) {
    await session.sendCommand('Profiler.enable');
    await session.sendCommand('Profiler.setSamplingInterval', { interval: 200 });
    await session.sendCommand('Profiler.start');
  }
  await fixture.measureCalls({ ...echoCommand, calls: callCount });
  const benchRows: BenchRow[] = [];
  for (const [contextName, session] of Object.entries(sessions)) {
    const cpuProfile = CpuProfile.parse(await session.sendCommand('Profiler.stop'));
    benchRows.push(...formatProfile(`${target}, ${contextName}, ${concurrentCallCount} in flight`, cpuProfile));
  }
  return benchRows;
}

function formatProfile(label: string, { profile: cpuProfile }: z.infer<typeof CpuProfile>): BenchRow[] {
  const names = new Map(
    cpuProfile.nodes.map(({ id, callFrame }) => {
      const file = callFrame.url.split('/').at(-1)?.slice(-30) ?? '';
      return [id, `${callFrame.functionName || '(anonymous)'}${file ? ` ${file}:${callFrame.lineNumber + 1}` : ''}`];
    }),
  );
  const selfUsByFunction = new Map<string, number>();
  cpuProfile.samples.forEach((id, i) => {
    const name = names.get(id) ?? '';
    selfUsByFunction.set(name, (selfUsByFunction.get(name) ?? 0) + (cpuProfile.timeDeltas[i] ?? 0));
  });
  const idleUs = selfUsByFunction.get('(idle)') ?? 0;
  selfUsByFunction.delete('(idle)');
  const totalSelfUs = [...selfUsByFunction.values()].reduce((a, b) => a + b, 0);
  const makeRow = (description: string, us: number): BenchRow => ({
    id: 'profile',
    what: description,
    ours: `${(us / callCount).toFixed(1)} us`,
  });
  return [
    makeRow(`${label}: CPU time per call`, totalSelfUs),
    makeRow(`${label}: idle time per call`, idleUs),
    ...[...selfUsByFunction]
      .sort((a, b) => b[1] - a[1])
      .slice(0, maxFunctions)
      .map(([name, us]) => makeRow(`  ${name}`, us)),
  ];
}

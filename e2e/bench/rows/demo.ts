import { decideCall, fetchCallRecords } from '../../harness/daemon-api.ts';
import { startOpentabs } from '../../harness/process.ts';
import { waitFor } from '../../harness/wait.ts';
import type { BenchFixture } from '../bench-fixture.ts';
import { type BenchRow, formatTimes, makeUpperThreshold } from '../row.ts';
import { computeMedian } from '../samples.ts';

const runCount = 3;

export async function measureDemo(fixture: BenchFixture): Promise<BenchRow[]> {
  const { stack } = await fixture.getLiveStack();
  const demoTimes: number[] = [];
  for (let i = 0; i < runCount; i++) {
    const startMs = performance.now();
    const demoProcess = startOpentabs(['demo', '--yes'], stack.env);
    const waitingCall = await waitFor('a call of the demo to wait for approval', async () =>
      (await fetchCallRecords(stack)).find((call) => call.waiting && call.tool_name.startsWith('demo__')),
    );
    await decideCall(stack, waitingCall.call_id, { allow: true });
    const { code, stderr } = await demoProcess.commandResult;
    if (code !== 0) throw new Error(`opentabs demo ended with exit code ${code}: ${stderr}`);
    demoTimes.push(performance.now() - startMs);
  }
  return [
    {
      id: 'demo',
      what: 'time of opentabs demo: site, plugin, long call, stop and approval, p50',
      ours: formatTimes(demoTimes),
      value: computeMedian(demoTimes) / 1000,
      threshold: makeUpperThreshold(60, 's'),
    },
  ];
}

import type { BenchFixture } from '../bench-fixture.ts';
import { CallsAnswer } from '../go.ts';
import { type BenchRow, formatMegabytes, formatMs, formatSummary, makeUpperThreshold } from '../row.ts';
import { measureAlternately } from '../samples.ts';

export async function measureResult(fixture: BenchFixture): Promise<BenchRow[]> {
  const { stack, floorPage } = await fixture.getLiveStack();
  const measureSide = (target: string, bytes: number) => async () => {
    await (target === 'ours' ? stack.page : floorPage).bringToFront();
    return fixture.measureCalls({ target, tool: 'messages__big', args: { bytes }, calls: 1 });
  };
  await measureSide('floor-b', 10e6)();
  await measureSide('ours', 10e6)();
  const sideSummaries = await measureAlternately(9, {
    floor: measureSide('floor-b', 10e6),
    ours: measureSide('ours', 10e6),
  });
  const [floorSummary, opentabsSummary] = [sideSummaries.get('floor'), sideSummaries.get('ours')];
  if (!floorSummary || !opentabsSummary) throw new Error('nothing was measured');
  const bigResultCommand = { do: 'calls', target: 'ours', tool: 'messages__big', calls: 1 };
  const largeAnswer = await fixture.goClient.sendCommand({ ...bigResultCommand, args: { bytes: 100e6 } }, CallsAnswer);
  const isComplete = largeAnswer.failed === 0 && largeAnswer.bytes >= 100e6;
  return [
    {
      id: 'result',
      what: 'time of a call with a result of 10 MB, p50',
      ours: formatSummary(opentabsSummary),
      floor: formatSummary(floorSummary),
      value: opentabsSummary.p50,
      threshold: makeUpperThreshold(400, 'ms'),
    },
    {
      id: 'result',
      what: 'time of a call with a result of 100 MB',
      ours: `${formatMs(largeAnswer.allNs / 1e6)}, ${formatMegabytes(largeAnswer.bytes)} at the client`,
      ...(isComplete ? {} : { broken: `the result of 100 MB did not arrive complete: ${largeAnswer.problem}` }),
    },
  ];
}

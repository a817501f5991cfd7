import type { BenchFixture } from '../bench-fixture.ts';
import { CallsAnswer } from '../go.ts';
import { type BenchRow, formatMegabytes, formatMs, formatSummary, makeUpperThreshold } from '../row.ts';
import { measureAlternately } from '../samples.ts';

export async function measureResult(fixture: BenchFixture): Promise<BenchRow[]> {
  const { stack, baselinePage } = await fixture.getLiveStack();
  const measureVariant = (target: string, bytes: number) => async () => {
    await (target === 'ours' ? stack.page : baselinePage).bringToFront();
    return fixture.measureCalls({ target, tool: 'messages__big', args: { bytes }, calls: 1 });
  };
  await measureVariant('floor-b', 10e6)();
  await measureVariant('ours', 10e6)();
  const variantSummaries = await measureAlternately(9, {
    floor: measureVariant('floor-b', 10e6),
    ours: measureVariant('ours', 10e6),
  });
  const [baselineSummary, opentabsSummary] = [variantSummaries.get('floor'), variantSummaries.get('ours')];
  if (!baselineSummary || !opentabsSummary) throw new Error('nothing was measured');
  const bigResultCommand = { do: 'calls', target: 'ours', tool: 'messages__big', calls: 1 };
  const largeAnswer = await fixture.goClient.sendCommand({ ...bigResultCommand, args: { bytes: 100e6 } }, CallsAnswer);
  const isComplete = largeAnswer.failed === 0 && largeAnswer.bytes >= 100e6;
  return [
    {
      id: 'result',
      what: 'time of a call with a result of 10 MB, p50',
      ours: formatSummary(opentabsSummary),
      floor: formatSummary(baselineSummary),
      value: opentabsSummary.p50 / baselineSummary.p50,
      threshold: makeUpperThreshold(1.1, 'x'),
    },
    {
      id: 'result',
      what: 'time of a call with a result of 100 MB',
      ours: `${formatMs(largeAnswer.allNs / 1e6)}, ${formatMegabytes(largeAnswer.bytes)} at the client`,
      ...(isComplete ? {} : { broken: `the result of 100 MB did not arrive complete: ${largeAnswer.problem}` }),
    },
  ];
}

import type { BenchFixture } from '../bench-fixture.ts';
import { CallsAnswer } from '../go.ts';
import { type BenchRow, formatMs, formatSummary, makeLowerThreshold, makeUpperThreshold } from '../row.ts';
import { computeMedian, measureAlternately } from '../samples.ts';

const echoText = 'x'.repeat(188); // {"text":"..."} is 200 bytes
const opentabsCommand = { target: 'ours', tool: 'bench__echo', args: { text: echoText } };
const referenceCommand = { ...opentabsCommand, target: 'floor-c' };

export async function measureEcho(fixture: BenchFixture): Promise<BenchRow[]> {
  const { stack, baselinePage } = await fixture.getLiveStack();
  const measureVariant = (callCommand: typeof opentabsCommand, calls: number, everyMs: number) => async () => {
    await (callCommand.target === 'ours' ? stack.page : baselinePage).bringToFront();
    await fixture.measureCalls({ ...callCommand, calls: 20 });
    return fixture.measureCalls({ ...callCommand, calls, everyMs });
  };
  await measureVariant(referenceCommand, 500, 0)();
  await measureVariant(opentabsCommand, 500, 0)();
  const benchRows: BenchRow[] = [];
  for (const [paceDescription, calls, everyMs, roundCount] of [
    ['back to back', 400, 0, 9],
    ['one each 30 ms', 80, 30, 7],
  ] as const) {
    const variantSummaries = await measureAlternately(roundCount, {
      floor: measureVariant(referenceCommand, calls, everyMs),
      ours: measureVariant(opentabsCommand, calls, everyMs),
    });
    const [baselineSummary, opentabsSummary] = [variantSummaries.get('floor'), variantSummaries.get('ours')];
    if (!baselineSummary || !opentabsSummary) throw new Error('nothing was measured');
    benchRows.push({
      id: 'echo',
      what: `time of a call that echoes 200 B through a page, ${paceDescription}, p50`,
      ours: formatSummary(opentabsSummary),
      floor: formatSummary(baselineSummary),
      value: opentabsSummary.p50 / baselineSummary.p50,
      threshold: makeUpperThreshold(1.2, 'x'),
    });
  }
  return benchRows;
}

export async function measureCallThroughput(fixture: BenchFixture): Promise<BenchRow[]> {
  const { stack, baselinePage } = await fixture.getLiveStack();
  let failedCallCount = 0;
  let callProblem = '';
  const runCalls = (callCommand: typeof opentabsCommand) => async () => {
    await (callCommand.target === 'ours' ? stack.page : baselinePage).bringToFront();
    const benchAnswer = await fixture.goClient.sendCommand(
      { do: 'calls', ...callCommand, calls: 4000, inFlight: 32 },
      CallsAnswer,
    );
    failedCallCount += benchAnswer.failed;
    callProblem ||= benchAnswer.problem;
    return [4000 / (benchAnswer.allNs / 1e9), computeMedian(benchAnswer.eachNs) / 1e6] as const;
  };
  const callRates: { baselineRates: number[]; opentabsRates: number[] } = { baselineRates: [], opentabsRates: [] };
  const latencySamples: number[] = [];
  await runCalls(referenceCommand)();
  await runCalls(opentabsCommand)();
  for (let roundIndex = 0; roundIndex < 5; roundIndex++) {
    callRates.baselineRates.push((await runCalls(referenceCommand)())[0]);
    const [callsPerSecond, latencyMs] = await runCalls(opentabsCommand)();
    callRates.opentabsRates.push(callsPerSecond);
    latencySamples.push(latencyMs);
  }
  return [
    {
      id: 'load',
      what: 'calls per second through one page, with 32 concurrent calls, none refused',
      ours: `${computeMedian(callRates.opentabsRates).toFixed(0)}/s (each ${formatMs(computeMedian(latencySamples))}, n 20000)`,
      floor: `${computeMedian(callRates.baselineRates).toFixed(0)}/s`,
      value: computeMedian(callRates.opentabsRates) / computeMedian(callRates.baselineRates),
      threshold: makeLowerThreshold(1, 'x'),
      note: 'opentabs also promises 1,500/s on a quiet machine, which this row does not check',
      ...(failedCallCount > 0 ? { broken: `${failedCallCount} calls were refused: ${callProblem}` } : {}),
    },
  ];
}

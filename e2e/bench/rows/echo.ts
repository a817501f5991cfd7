import type { BenchFixture } from '../bench-fixture.ts';
import { CallsAnswer } from '../go.ts';
import { formatMs, formatSummary, makeLowerThreshold, makeUpperThreshold, type Row } from '../row.ts';
import { computeMedian, measureAlternately } from '../samples.ts';

const text = 'x'.repeat(188); // {"text":"..."} is 200 bytes
const opentabsCommand = { target: 'ours', tool: 'bench__echo', args: { text } };
const referenceCommand = { ...opentabsCommand, target: 'floor-c' };

export async function measureEcho(fixture: BenchFixture): Promise<Row[]> {
  const { stack, floorPage } = await fixture.getLiveStack();
  const measureSide = (order: typeof opentabsCommand, calls: number, everyMs: number) => async () => {
    await (order.target === 'ours' ? stack.page : floorPage).bringToFront();
    await fixture.measureCalls({ ...order, calls: 20 });
    return fixture.measureCalls({ ...order, calls, everyMs });
  };
  await measureSide(referenceCommand, 500, 0)();
  await measureSide(opentabsCommand, 500, 0)();
  const rows: Row[] = [];
  for (const [pace, calls, everyMs, rounds] of [
    ['back to back', 400, 0, 9],
    ['one each 30 ms', 80, 30, 7],
  ] as const) {
    const summaries = await measureAlternately(rounds, {
      floor: measureSide(referenceCommand, calls, everyMs),
      ours: measureSide(opentabsCommand, calls, everyMs),
    });
    const [floorSummary, oursSummary] = [summaries.get('floor'), summaries.get('ours')];
    if (!floorSummary || !oursSummary) throw new Error('nothing was measured');
    rows.push({
      id: 'echo',
      what: `time of a call that echoes 200 B through a page, ${pace}, p50`,
      ours: formatSummary(oursSummary),
      floor: formatSummary(floorSummary),
      value: oursSummary.p50 / floorSummary.p50,
      threshold: makeUpperThreshold(1.25, 'x'),
    });
  }
  return rows;
}

export async function measureLoad(fixture: BenchFixture): Promise<Row[]> {
  const { stack, floorPage } = await fixture.getLiveStack();
  let refusedCount = 0;
  let problem = '';
  const runCalls = (order: typeof opentabsCommand) => async () => {
    await (order.target === 'ours' ? stack.page : floorPage).bringToFront();
    const answer = await fixture.goClient.sendCommand(
      { do: 'calls', ...order, calls: 4000, inFlight: 32 },
      CallsAnswer,
    );
    refusedCount += answer.failed;
    problem ||= answer.problem;
    return [4000 / (answer.allNs / 1e9), computeMedian(answer.eachNs) / 1e6] as const;
  };
  const rates: { floor: number[]; ours: number[] } = { floor: [], ours: [] };
  const latencies: number[] = [];
  await runCalls(referenceCommand)();
  await runCalls(opentabsCommand)();
  for (let round = 0; round < 5; round++) {
    rates.floor.push((await runCalls(referenceCommand)())[0]);
    const [rate, latency] = await runCalls(opentabsCommand)();
    rates.ours.push(rate);
    latencies.push(latency);
  }
  return [
    {
      id: 'load',
      what: 'calls per second through one page, with 32 concurrent calls, none refused',
      ours: `${computeMedian(rates.ours).toFixed(0)}/s (each ${formatMs(computeMedian(latencies))}, n 20000)`,
      floor: `${computeMedian(rates.floor).toFixed(0)}/s`,
      value: computeMedian(rates.ours),
      threshold: makeLowerThreshold(1500, '/s'),
      ...(refusedCount > 0 ? { broken: `${refusedCount} calls were refused: ${problem}` } : {}),
    },
  ];
}

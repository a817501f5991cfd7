import type { BenchFixture } from '../bench-fixture.ts';
import { CallsAnswer } from '../go.ts';
import { type BenchRow, formatMs, makeUpperThreshold } from '../row.ts';
import { computeMedian, computeQuantile, measureAlternately } from '../samples.ts';

const echoText = 'x'.repeat(188);
const echoCommand = { tool: 'bench__echo', args: { text: echoText } };

/**
 * hopStations lists the points in the code at which a traced call records the time, in order. Points in Chrome or in
 * the network have no time budget.
 */
const hopStations: readonly (readonly [station: string, description: string, budgetUs?: number])[] = [
  ['guard', 'guard: Host, Origin and token', 20],
  ['parse', 'HTTP body and MCP message, session', 40],
  ['check', "arguments against the tool's schema", 20],
  ['gates', 'permissions, limits, site rules', 15],
  ['queue', 'place in the queue of the plugin', 5],
  ['target', 'hooks, choice of the document', 20],
  ['hub', 'frame for the browser', 15],
  ['websocket', "WebSocket to the extension's worker"],
  ['worker', 'frame, call table', 60],
  ['port', 'port to the content script'],
  ['bridge', 'message, call table', 40],
  ['host', "event, arguments, the plugin's isReady", 60],
  ['schema', "the tool's zod schema", 20],
  ['handler', 'handler of the tool'],
  ['result', 'result as JSON text, event', 40],
  ['port', 'port to the worker'],
  ['worker', 'message, call table', 40],
  ['websocket', 'WebSocket to the server'],
  ['hub', 'frame from the browser', 20],
  ['dispatch', 'end of the call', 40],
  ['reply', 'check and encoding of the result', 30],
];

/** Each benchmark row shows the mean duration of one hop in the fastest 90 % of the calls. */
export async function measureHops(fixture: BenchFixture): Promise<BenchRow[]> {
  const { stack, baselinePage } = await fixture.getLiveStack();
  await fixture.goClient.connect('traced', `http://127.0.0.1:${stack.port}/mcp`, stack.clientToken, true);
  const calls: { readonly us: number; readonly hopTimes: readonly number[] }[] = [];
  const measureTracedCalls = async () => {
    await stack.page.bringToFront();
    await fixture.measureCalls({ ...echoCommand, target: 'traced', calls: 50 });
    const benchAnswer = await fixture.goClient.sendCommand(
      { do: 'calls', ...echoCommand, target: 'traced', calls: 300 },
      CallsAnswer,
    );
    if (benchAnswer.failed > 0) throw new Error(`${benchAnswer.failed} calls failed: ${benchAnswer.problem}`);
    benchAnswer.hops.forEach((hops, i) => {
      const names = hops.map(({ station }) => station).join();
      if (names !== hopStations.map(([stationName]) => stationName).join())
        throw new Error(`a call has the stations ${names}`);
      calls.push({ us: (benchAnswer.eachNs[i] ?? 0) / 1000, hopTimes: hops.map(({ us }) => us) });
    });
    return benchAnswer.eachNs.map((ns) => ns / 1e6);
  };
  const measureVariant = (target: string) => async () => {
    await (target.startsWith('floor') ? baselinePage : stack.page).bringToFront();
    await fixture.measureCalls({ ...echoCommand, target, calls: 50 });
    return fixture.measureCalls({ ...echoCommand, target, calls: 300 });
  };
  const targetNames = ['plain', 'floor-w', 'floor-p', 'floor-d', 'ours'];
  const targetSummaries = await measureAlternately(9, {
    ...Object.fromEntries(targetNames.map((target) => [target, measureVariant(target)])),
    traced: measureTracedCalls,
  });
  const slowCallLimitUs = computeQuantile(
    calls.map(({ us }) => us),
    0.9,
  );
  const fastCalls = calls.filter(({ us }) => us <= slowCallLimitUs);
  const computeMean = (readUs: (call: (typeof calls)[number]) => number) =>
    fastCalls.reduce((sum, call) => sum + readUs(call), 0) / fastCalls.length;
  const sumHopTimes = (hops: readonly number[]) => hops.reduce((sum, us) => sum + us, 0);
  const stationRows = hopStations.map(([stationName, description, maxMeanUs], i): BenchRow => {
    const us = computeMean(({ hopTimes }) => hopTimes[i] ?? 0);
    const row = { id: 'hops', what: `${stationName.padEnd(9)}  ${description}`, ours: `${us.toFixed(1)} us` };
    return maxMeanUs === undefined ? row : { ...row, value: us, threshold: makeUpperThreshold(maxMeanUs, 'us') };
  });
  const sumBudgetedHopTimes = (hops: readonly number[]) =>
    sumHopTimes(hops.filter((_, i) => hopStations[i]?.[2] !== undefined));
  const p50 = (target: string) => targetSummaries.get(target)?.p50 ?? Number.NaN;
  const makeRow = (description: string, ms: number): BenchRow => ({
    id: 'hops',
    what: description,
    ours: formatMs(ms),
  });
  return [
    ...stationRows,
    makeRow(
      'HTTP and the client: the call without all stations',
      computeMean(({ us, hopTimes }) => us - sumHopTimes(hopTimes)) / 1000,
    ),
    makeRow(
      'all stations of opentabs: those with a budget',
      computeMean(({ hopTimes }) => sumBudgetedHopTimes(hopTimes)) / 1000,
    ),
    makeRow('a traced call, p50', computeMedian(calls.map(({ us }) => us)) / 1000),
    makeRow('a call without a trace, p50', p50('ours')),
    makeRow("the floor of a call through a page, p50: JSON over HTTP, WebSocket, port, page's world", p50('floor-d')),
    makeRow('  of which: JSON over HTTP', p50('plain')),
    makeRow('  of which: WebSocket, both ways', p50('floor-w') - p50('plain')),
    makeRow('  of which: port, both ways', p50('floor-p') - p50('floor-w')),
    makeRow("  of which: the page's world, both ways", p50('floor-d') - p50('floor-p')),
  ];
}

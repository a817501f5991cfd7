import { countTokens } from '../browser/agent.ts';
import { measureBaseline } from '../browser/floor.ts';
import {
  type BenchBrowsers,
  findMedian,
  formatPeerMedians,
  measureAgents,
  openInAllBrowsers,
  repeatMeasurement,
} from '../browser/lab.ts';
import { type BenchRow, formatMs, formatSummary, makeUpperThreshold } from '../row.ts';
import { computeMedian, measureAlternately } from '../samples.ts';

const id = 'browser';

const unlimitedSnapshot = { maxTokens: 0 };

export async function measureSnapshots(benchBrowsers: BenchBrowsers): Promise<BenchRow[]> {
  return [
    ...(await measureSmallSnapshot(benchBrowsers)),
    ...(await measureLargeSnapshot(benchBrowsers, 10_000, { maxFoldedSnapshotMs: 50, maxFirstSnapshotMs: 400 })),
    ...(await measureLargeSnapshot(benchBrowsers, 50_000, { maxFoldedSnapshotMs: 60, maxFirstSnapshotMs: 800 })),
  ];
}

/** makeRatioRow sets an upper limit for the value of opentabs divided by the value of Playwright MCP. */
function makeRatioRow(
  ratioRow: BenchRow,
  opentabsValue: number,
  playwrightValue: number | undefined,
  ratioLimit: number,
): BenchRow {
  return playwrightValue === undefined
    ? ratioRow
    : {
        ...ratioRow,
        value: opentabsValue / playwrightValue,
        threshold: makeUpperThreshold(ratioLimit, 'x Playwright'),
      };
}

async function measureSmallSnapshot(benchBrowsers: BenchBrowsers): Promise<BenchRow[]> {
  const { agent, opentabsBrowser, playwright: playwrightValue } = benchBrowsers;
  const tabId = await openInAllBrowsers(benchBrowsers, '/orders?nodes=1000');
  for (const benchAgent of benchBrowsers.benchAgents) await benchAgent.call(benchAgent.serverTools.snapshot());
  const snapshotOperation = { name: 'snapshot', arguments: unlimitedSnapshot };
  const measuredTimes = await measureAgents(
    benchBrowsers,
    5,
    (benchAgent) =>
      repeatMeasurement(6, () =>
        benchAgent.measureCall(
          benchAgent === agent ? ['browser_snapshot', unlimitedSnapshot] : benchAgent.serverTools.snapshot(),
        ),
      ),
    {
      floor: () => measureBaseline(opentabsBrowser.browser, tabId, snapshotOperation, 6),
      'floor folded': () => measureBaseline(opentabsBrowser.browser, tabId, { name: 'snapshot', arguments: {} }, 6),
      folded: () => repeatMeasurement(6, () => agent.measureCall(agent.serverTools.snapshot())),
    },
  );
  const [opentabsSummary, foldedSnapshotSummary] = [measuredTimes.get(agent.name), measuredTimes.get('folded')];
  const [baselineMs, foldedBaselineMs] = [
    measuredTimes.get('floor')?.p50 ?? 0,
    measuredTimes.get('floor folded')?.p50 ?? 0,
  ];
  if (!opentabsSummary || !foldedSnapshotSummary) throw new Error('nothing was measured');
  const tokens = await measureSnapshotTokens(benchBrowsers);
  const ratioRow: BenchRow = {
    id,
    what: 'snapshot of 1,000 elements, whole, p50; the floor is the same script called from the worker',
    ours: formatSummary(opentabsSummary),
    floor: formatMs(baselineMs),
  };
  return [
    {
      ...ratioRow,
      value: opentabsSummary.p50 - 1.5 * baselineMs,
      threshold: makeUpperThreshold(3, 'ms over 1.5 x floor'),
    },
    {
      ...ratioRow,
      what: 'snapshot of 1,000 elements, folded (default), p50',
      ours: formatSummary(foldedSnapshotSummary),
      floor: formatMs(foldedBaselineMs),
      value: foldedSnapshotSummary.p50 - 1.5 * foldedBaselineMs,
      threshold: makeUpperThreshold(3, 'ms over 1.5 x floor'),
    },
    makeRatioRow(
      {
        ...ratioRow,
        what: 'whole snapshot of 1,000 elements, compared with other MCP servers',
        floor: formatPeerMedians(measuredTimes),
      },
      opentabsSummary.p50,
      findMedian(measuredTimes, playwrightValue),
      0.4,
    ),
    tokens,
  ];
}

async function measureSnapshotTokens({ benchAgents, playwright: playwrightValue }: BenchBrowsers): Promise<BenchRow> {
  const tokens = new Map<string, number>();
  for (const benchAgent of benchAgents)
    tokens.set(benchAgent.name, countTokens(await benchAgent.call(benchAgent.serverTools.snapshot())));
  const [opentabsTokens = 0, ...peerTokens] = [...tokens];
  const ratioRow: BenchRow = {
    id,
    what: 'tokens of a snapshot of 1,000 elements',
    ours: `${Object(opentabsTokens)[1]} tokens`,
    floor: peerTokens.map(([name, count]) => `${name} ${count}`).join(', '),
  };
  return makeRatioRow(
    ratioRow,
    Number(Object(opentabsTokens)[1]),
    playwrightValue && tokens.get(playwrightValue.name),
    0.5,
  );
}

async function measureLargeSnapshot(
  benchBrowsers: BenchBrowsers,
  nodeCount: number,
  timeLimits: { readonly maxFoldedSnapshotMs: number; readonly maxFirstSnapshotMs: number },
): Promise<BenchRow[]> {
  const { agent, opentabsBrowser, playwright: playwrightValue } = benchBrowsers;
  const firstSnapshotTimes: number[] = [];
  let tabId = 0;
  for (let i = 0; i < 3; i++) {
    tabId = await opentabsBrowser.openTab(`${benchBrowsers.site.origin}/orders?nodes=${nodeCount}`);
    firstSnapshotTimes.push(await agent.measureCall(agent.serverTools.snapshot()));
  }
  await openInAllBrowsers(benchBrowsers, `/orders?nodes=${nodeCount}`);
  const foldedSnapshotTimes = await measureAlternately(3, {
    ours: () => repeatMeasurement(5, () => agent.measureCall(agent.serverTools.snapshot())),
  });
  const snapshotMeasurements = await measureAgents(
    benchBrowsers,
    nodeCount > 20_000 ? 1 : 2,
    (benchAgent) =>
      repeatMeasurement(2, () =>
        benchAgent.measureCall(
          benchAgent === agent ? ['browser_snapshot', unlimitedSnapshot] : benchAgent.serverTools.snapshot(),
        ),
      ),
    {
      floor: () =>
        measureBaseline(opentabsBrowser.browser, tabId, { name: 'snapshot', arguments: unlimitedSnapshot }, 2),
    },
  );
  const opentabsSummary = snapshotMeasurements.get(agent.name);
  const foldedSnapshotSummary = foldedSnapshotTimes.get('ours');
  if (!opentabsSummary || !foldedSnapshotSummary) throw new Error('nothing was measured');
  const sizeText = `${nodeCount.toLocaleString('en')} elements`;
  return [
    {
      id,
      what: `first snapshot of ${sizeText} after the load, folded, p50`,
      ours: `${formatMs(computeMedian(firstSnapshotTimes))} (n ${firstSnapshotTimes.length})`,
      value: computeMedian(firstSnapshotTimes),
      threshold: makeUpperThreshold(timeLimits.maxFirstSnapshotMs, 'ms'),
    },
    {
      id,
      what: `snapshot of ${sizeText}, folded, p50`,
      ours: formatSummary(foldedSnapshotSummary),
      value: foldedSnapshotSummary.p50,
      threshold: makeUpperThreshold(timeLimits.maxFoldedSnapshotMs, 'ms'),
    },
    makeRatioRow(
      {
        id,
        what: `snapshot of ${sizeText}, whole, p50`,
        ours: formatSummary(opentabsSummary),
        floor: formatPeerMedians(snapshotMeasurements),
      },
      opentabsSummary.p50,
      findMedian(snapshotMeasurements, playwrightValue),
      0.2,
    ),
  ];
}

/** measureClick stops the clock when a tool result shows the new table row. */
export async function measureClick(benchBrowsers: BenchBrowsers): Promise<BenchRow[]> {
  const { agent, playwright: playwrightValue } = benchBrowsers;
  await openInAllBrowsers(benchBrowsers, '/orders?nodes=1000');
  const refsByLabel = new Map<string, string>();
  for (const benchAgent of benchBrowsers.benchAgents) {
    const elementRef = benchAgent.serverTools.findRef(
      await benchAgent.call(benchAgent.serverTools.snapshot()),
      '"New order"',
    );
    if (elementRef === undefined) throw new Error(`${benchAgent.name} shows no button "New order"`);
    refsByLabel.set(benchAgent.name, elementRef);
  }
  const findClickRef = (name: string) => refsByLabel.get(name) ?? '';
  const measuredTimes = await measureAgents(benchBrowsers, 5, (benchAgent) =>
    repeatMeasurement(4, () => benchAgent.measureCall(benchAgent.serverTools.click(findClickRef(benchAgent.name)))),
  );
  const opentabsSummary = measuredTimes.get(agent.name);
  if (!opentabsSummary) throw new Error('nothing was measured');
  const tokens = new Map<string, number>();
  for (const benchAgent of benchBrowsers.benchAgents)
    tokens.set(
      benchAgent.name,
      countTokens(await benchAgent.call(benchAgent.serverTools.click(findClickRef(benchAgent.name)))),
    );
  const fullSnapshotTokens = countTokens(await agent.call(['browser_snapshot', unlimitedSnapshot]));
  const tokenCount = tokens.get(agent.name) ?? Number.NaN;
  tokens.delete(agent.name);
  return [
    makeRatioRow(
      {
        id,
        what: 'click until the page has settled, with the changes in the result, p50',
        ours: formatSummary(opentabsSummary),
        floor: formatPeerMedians(measuredTimes),
      },
      opentabsSummary.p50,
      findMedian(measuredTimes, playwrightValue),
      0.2,
    ),
    {
      id,
      what: 'tokens in the result of a click that adds a row, as a share of the whole snapshot',
      ours: `${tokenCount} of ${fullSnapshotTokens} tokens`,
      floor: [...tokens].map(([name, count]) => `${name} ${count}`).join(', '),
      value: (tokenCount / fullSnapshotTokens) * 100,
      threshold: makeUpperThreshold(3, '%'),
    },
  ];
}

const pictureCount = 40;

export async function measurePictures(benchBrowsers: BenchBrowsers): Promise<BenchRow[]> {
  const { agent, playwright: playwrightValue } = benchBrowsers;
  await openInAllBrowsers(benchBrowsers, '/orders?nodes=1000');
  // By default, opentabs does not limit the number of screenshots per minute.
  const measuredTimes = await measureAgents(benchBrowsers, 4, (benchAgent) =>
    repeatMeasurement(benchAgent === agent ? pictureCount / 4 : 5, () =>
      benchAgent.measureCall(benchAgent.serverTools.screenshot()),
    ),
  );
  const opentabsSummary = measuredTimes.get(agent.name);
  if (!opentabsSummary) throw new Error('nothing was measured');
  return [
    makeRatioRow(
      {
        id,
        what: 'screenshot of the viewport (PNG), p50',
        ours: formatSummary(opentabsSummary),
        floor: formatPeerMedians(measuredTimes),
      },
      opentabsSummary.p50,
      findMedian(measuredTimes, playwrightValue),
      0.7,
    ),
  ];
}

export async function measureEvaluate(benchBrowsers: BenchBrowsers): Promise<BenchRow[]> {
  const { agent } = benchBrowsers;
  const { tools } = await benchBrowsers.opentabsBrowser.client.sdk.listTools();
  if (!tools.some(({ name }) => name === 'browser_evaluate')) return [];
  await openInAllBrowsers(benchBrowsers, '/orders?nodes=1000');
  const measuredTimes = await measureAgents(benchBrowsers, 5, (benchAgent) =>
    repeatMeasurement(3, () => benchAgent.measureCall(benchAgent.serverTools.evaluate('() => 1'))),
  );
  const opentabsSummary = measuredTimes.get(agent.name);
  if (!opentabsSummary) throw new Error('nothing was measured');
  return [
    {
      id,
      what: 'browser_evaluate with () => 1, p50',
      ours: formatSummary(opentabsSummary),
      floor: formatPeerMedians(measuredTimes),
      value: opentabsSummary.p50,
      threshold: makeUpperThreshold(10, 'ms'),
    },
  ];
}

export async function measureToolList({ benchAgents, agent }: BenchBrowsers): Promise<BenchRow[]> {
  const toolLists = await Promise.all(
    benchAgents.map(async (benchAgent) => ({ each: benchAgent, ...(await benchAgent.listTools()) })),
  );
  const opentabsToolList = toolLists.find(({ each: benchAgent }) => benchAgent === agent);
  const toolTexts = toolLists
    .filter((toolList) => toolList !== opentabsToolList)
    .map(({ each: benchAgent, tools, tokens }) => `${benchAgent.name} ${tokens} (${tools})`);
  return [
    {
      id,
      what: 'tokens of the tool list of a client without plugins',
      ours: `${opentabsToolList?.tokens} tokens, ${opentabsToolList?.tools} tools`,
      floor: toolTexts.join(', '),
      value: opentabsToolList?.tokens ?? Number.NaN,
      threshold: makeUpperThreshold(3000, 'tokens'),
    },
  ];
}

import { countTokens } from '../browser/agent.ts';
import { measureFloor } from '../browser/floor.ts';
import {
  type BrowserLab,
  describePeers,
  findMedian,
  measureAgents,
  openInAllBrowsers,
  repeatMeasurement,
} from '../browser/lab.ts';
import { formatMs, formatSummary, makeUpperThreshold, type Row } from '../row.ts';
import { computeMedian, measureAlternately } from '../samples.ts';

const id = 'browser';

const unlimitedSnapshot = { maxTokens: 0 };

export async function measureSnapshots(lab: BrowserLab): Promise<Row[]> {
  return [
    ...(await measureSmallSnapshot(lab)),
    ...(await measureLargeSnapshot(lab, 10_000, { folded: 50, first: 400 })),
    ...(await measureLargeSnapshot(lab, 50_000, { folded: 60, first: 800 })),
  ];
}

/** makeRatioRow sets an upper limit for the value of opentabs divided by the value of Playwright MCP. */
function makeRatioRow(row: Row, ours: number, playwright: number | undefined, limit: number): Row {
  return playwright === undefined
    ? row
    : { ...row, value: ours / playwright, threshold: makeUpperThreshold(limit, 'x Playwright') };
}

async function measureSmallSnapshot(lab: BrowserLab): Promise<Row[]> {
  const { agent, ourBrowser: our, playwright } = lab;
  const tabId = await openInAllBrowsers(lab, '/orders?nodes=1000');
  for (const each of lab.agents) await each.call(each.serverTools.snapshot());
  const whole = { name: 'snapshot', arguments: unlimitedSnapshot };
  const measured = await measureAgents(
    lab,
    5,
    (each) =>
      repeatMeasurement(6, () =>
        each.time(each === agent ? ['browser_snapshot', unlimitedSnapshot] : each.serverTools.snapshot()),
      ),
    {
      floor: () => measureFloor(our.browser, tabId, whole, 6),
      'floor folded': () => measureFloor(our.browser, tabId, { name: 'snapshot', arguments: {} }, 6),
      folded: () => repeatMeasurement(6, () => agent.time(agent.serverTools.snapshot())),
    },
  );
  const [ours, folded] = [measured.get(agent.name), measured.get('folded')];
  const [floor, foldedFloor] = [measured.get('floor')?.p50 ?? 0, measured.get('floor folded')?.p50 ?? 0];
  if (!ours || !folded) throw new Error('nothing was measured');
  const tokens = await measureSnapshotTokens(lab);
  const row: Row = {
    id,
    what: 'snapshot of 1,000 elements, whole, p50; the floor is the same script called from the worker',
    ours: formatSummary(ours),
    floor: formatMs(floor),
  };
  return [
    { ...row, value: ours.p50 - 1.5 * floor, threshold: makeUpperThreshold(3, 'ms over 1.5 x floor') },
    {
      ...row,
      what: 'snapshot of 1,000 elements, folded (default), p50',
      ours: formatSummary(folded),
      floor: formatMs(foldedFloor),
      value: folded.p50 - 1.5 * foldedFloor,
      threshold: makeUpperThreshold(3, 'ms over 1.5 x floor'),
    },
    makeRatioRow(
      {
        ...row,
        what: 'snapshot of 1,000 elements, whole, against the peers',
        floor: describePeers(measured),
      },
      ours.p50,
      findMedian(measured, playwright),
      0.4,
    ),
    tokens,
  ];
}

async function measureSnapshotTokens({ agents, playwright }: BrowserLab): Promise<Row> {
  const tokens = new Map<string, number>();
  for (const each of agents) tokens.set(each.name, countTokens(await each.call(each.serverTools.snapshot())));
  const [ours = 0, ...peers] = [...tokens];
  const row: Row = {
    id,
    what: 'tokens of a snapshot of 1,000 elements',
    ours: `${Object(ours)[1]} tokens`,
    floor: peers.map(([name, count]) => `${name} ${count}`).join(', '),
  };
  return makeRatioRow(row, Number(Object(ours)[1]), playwright && tokens.get(playwright.name), 0.5);
}

async function measureLargeSnapshot(
  lab: BrowserLab,
  nodes: number,
  bars: { readonly folded: number; readonly first: number },
): Promise<Row[]> {
  const { agent, ourBrowser: our, playwright } = lab;
  const firsts: number[] = [];
  let tabId = 0;
  for (let i = 0; i < 3; i++) {
    tabId = await our.openTab(`${lab.site.origin}/orders?nodes=${nodes}`);
    firsts.push(await agent.time(agent.serverTools.snapshot()));
  }
  await openInAllBrowsers(lab, `/orders?nodes=${nodes}`);
  const folded = await measureAlternately(3, {
    ours: () => repeatMeasurement(5, () => agent.time(agent.serverTools.snapshot())),
  });
  const whole = await measureAgents(
    lab,
    nodes > 20_000 ? 1 : 2,
    (each) =>
      repeatMeasurement(2, () =>
        each.time(each === agent ? ['browser_snapshot', unlimitedSnapshot] : each.serverTools.snapshot()),
      ),
    { floor: () => measureFloor(our.browser, tabId, { name: 'snapshot', arguments: unlimitedSnapshot }, 2) },
  );
  const ours = whole.get(agent.name);
  const foldedSummary = folded.get('ours');
  if (!ours || !foldedSummary) throw new Error('nothing was measured');
  const size = `${nodes.toLocaleString('en')} elements`;
  return [
    {
      id,
      what: `first snapshot of ${size} after the load, folded, p50`,
      ours: `${formatMs(computeMedian(firsts))} (n ${firsts.length})`,
      value: computeMedian(firsts),
      threshold: makeUpperThreshold(bars.first, 'ms'),
    },
    {
      id,
      what: `snapshot of ${size}, folded, p50`,
      ours: formatSummary(foldedSummary),
      value: foldedSummary.p50,
      threshold: makeUpperThreshold(bars.folded, 'ms'),
    },
    makeRatioRow(
      {
        id,
        what: `snapshot of ${size}, whole, p50`,
        ours: formatSummary(ours),
        floor: describePeers(whole),
      },
      ours.p50,
      findMedian(whole, playwright),
      0.2,
    ),
  ];
}

/** measureClick stops the clock when a tool result shows the new table row. */
export async function measureClick(lab: BrowserLab): Promise<Row[]> {
  const { agent, playwright } = lab;
  await openInAllBrowsers(lab, '/orders?nodes=1000');
  const refs = new Map<string, string>();
  for (const each of lab.agents) {
    const ref = each.serverTools.refIn(await each.call(each.serverTools.snapshot()), '"New order"');
    if (ref === undefined) throw new Error(`${each.name} shows no button "New order"`);
    refs.set(each.name, ref);
  }
  const clickOf = (name: string) => refs.get(name) ?? '';
  const measured = await measureAgents(lab, 5, (each) =>
    repeatMeasurement(4, () => each.time(each.serverTools.click(clickOf(each.name)))),
  );
  const ours = measured.get(agent.name);
  if (!ours) throw new Error('nothing was measured');
  const tokens = new Map<string, number>();
  for (const each of lab.agents)
    tokens.set(each.name, countTokens(await each.call(each.serverTools.click(clickOf(each.name)))));
  const whole = countTokens(await agent.call(['browser_snapshot', unlimitedSnapshot]));
  const answer = tokens.get(agent.name) ?? Number.NaN;
  tokens.delete(agent.name);
  return [
    makeRatioRow(
      {
        id,
        what: 'click until settled, with what changed, p50',
        ours: formatSummary(ours),
        floor: describePeers(measured),
      },
      ours.p50,
      findMedian(measured, playwright),
      0.2,
    ),
    {
      id,
      what: 'tokens of the answer to a click that adds a row, as a share of the whole snapshot',
      ours: `${answer} of ${whole} tokens`,
      floor: [...tokens].map(([name, count]) => `${name} ${count}`).join(', '),
      value: (answer / whole) * 100,
      threshold: makeUpperThreshold(3, '%'),
    },
  ];
}

const pictureCount = 40;

export async function measurePictures(lab: BrowserLab): Promise<Row[]> {
  const { agent, playwright } = lab;
  await openInAllBrowsers(lab, '/orders?nodes=1000');
  // By default, opentabs does not limit the number of screenshots per minute.
  const measured = await measureAgents(lab, 4, (each) =>
    repeatMeasurement(each === agent ? pictureCount / 4 : 5, () => each.time(each.serverTools.screenshot())),
  );
  const ours = measured.get(agent.name);
  if (!ours) throw new Error('nothing was measured');
  return [
    makeRatioRow(
      {
        id,
        what: 'picture of the view (png), p50',
        ours: formatSummary(ours),
        floor: describePeers(measured),
      },
      ours.p50,
      findMedian(measured, playwright),
      0.7,
    ),
  ];
}

export async function measureEvaluate(lab: BrowserLab): Promise<Row[]> {
  const { agent } = lab;
  const { tools } = await lab.ourBrowser.client.sdk.listTools();
  if (!tools.some(({ name }) => name === 'browser_evaluate')) return [];
  await openInAllBrowsers(lab, '/orders?nodes=1000');
  const measured = await measureAgents(lab, 5, (each) =>
    repeatMeasurement(3, () => each.time(each.serverTools.evaluate('() => 1'))),
  );
  const ours = measured.get(agent.name);
  if (!ours) throw new Error('nothing was measured');
  return [
    {
      id,
      what: 'evaluate of () => 1, p50',
      ours: formatSummary(ours),
      floor: describePeers(measured),
      value: ours.p50,
      threshold: makeUpperThreshold(10, 'ms'),
    },
  ];
}

export async function measureToolList({ agents, agent }: BrowserLab): Promise<Row[]> {
  const lists = await Promise.all(agents.map(async (each) => ({ each, ...(await each.listTools()) })));
  const ours = lists.find(({ each }) => each === agent);
  const texts = lists
    .filter((list) => list !== ours)
    .map(({ each, tools, tokens }) => `${each.name} ${tokens} (${tools})`);
  return [
    {
      id,
      what: 'tokens of the tool list of a client without plugins',
      ours: `${ours?.tokens} tokens, ${ours?.tools} tools`,
      floor: texts.join(', '),
      value: ours?.tokens ?? Number.NaN,
      threshold: makeUpperThreshold(3000, 'tokens'),
    },
  ];
}

import type { BenchFixture } from '../bench-fixture.ts';
import { startFollowers } from '../go.ts';
import { type BenchRow, formatSummary, makeUpperThreshold } from '../row.ts';
import { measureAlternately } from '../samples.ts';

const followerCount = 10;
const roundCount = 9;
const echoCommand = { target: 'ours', tool: 'bench__echo', args: { text: 'x'.repeat(188) } };

/** measureFollowedEcho measures how much the open side panel and ten followers of /events slow down a call. */
export async function measureFollowedEcho(fixture: BenchFixture): Promise<BenchRow[]> {
  const { stack } = await fixture.getLiveStack();
  const measureEcho = async () => {
    await stack.page.bringToFront();
    await fixture.measureCalls({ ...echoCommand, calls: 100 });
    return fixture.measureCalls({ ...echoCommand, calls: 400 });
  };
  const measureWithFollowers = async <T>(measureSide: () => Promise<T>) => {
    const eventFollowers = await startFollowers(stack.port, stack.token, followerCount);
    try {
      return await measureSide();
    } finally {
      await eventFollowers.close();
    }
  };
  // The side panel's page runs in a separate window, because a script cannot open the real panel without a click.
  const { context, extensionId } = stack.chrome;
  const openerPage = await stack.chrome.openPage(`chrome-extension://${extensionId}/panel.html`);
  const panelWindow = context.waitForEvent('page');
  await openerPage.evaluate(() => chrome.windows.create({ url: 'about:blank', width: 400, height: 700 }));
  const panel = await panelWindow;
  await openerPage.close();
  const measureWithPanel = async <T>(measureSide: () => Promise<T>) => {
    await panel.goto(`chrome-extension://${extensionId}/panel.html`);
    try {
      return await measureSide();
    } finally {
      await panel.goto('about:blank');
    }
  };
  await measureWithPanel(measureEcho);
  const sideSummaries = await measureAlternately(roundCount, {
    alone: measureEcho,
    followers: () => measureWithFollowers(measureEcho),
    panel: () => measureWithPanel(measureEcho),
    all: () => measureWithPanel(() => measureWithFollowers(measureEcho)),
  });
  const aloneSummary = sideSummaries.get('alone');
  return (
    [
      ['followers', `${followerCount} followers of /events`],
      ['panel', 'the side panel open'],
      ['all', `the side panel open and ${followerCount} followers of /events`],
    ] as const
  ).map(([name, surfaceNames]) => {
    const sideSummary = sideSummaries.get(name);
    if (!sideSummary || !aloneSummary) throw new Error('nothing was measured');
    return {
      id: 'followers',
      what: `time of a call that echoes 200 B through a page, p50, with ${surfaceNames}; floor: without`,
      ours: formatSummary(sideSummary),
      floor: formatSummary(aloneSummary),
      value: sideSummary.p50 / aloneSummary.p50,
      ...(name === 'all' ? { threshold: makeUpperThreshold(1.05, 'x') } : {}),
    };
  });
}

import type { BenchFixture } from '../bench-fixture.ts';
import { startEventSubscribers } from '../go.ts';
import { type BenchRow, formatSummary, makeUpperThreshold } from '../row.ts';
import { measureAlternately } from '../samples.ts';

const subscriberCount = 10;
const roundCount = 9;
const echoCommand = { target: 'ours', tool: 'bench__echo', args: { text: 'x'.repeat(188) } };

/** measureEchoWithSubscribers measures how much the open side panel and ten subscribers of /events slow down a call. */
export async function measureEchoWithSubscribers(fixture: BenchFixture): Promise<BenchRow[]> {
  const { stack } = await fixture.getLiveStack();
  const measureEcho = async () => {
    await stack.page.bringToFront();
    await fixture.measureCalls({ ...echoCommand, calls: 100 });
    return fixture.measureCalls({ ...echoCommand, calls: 400 });
  };
  const measureWithSubscribers = async <T>(measureVariant: () => Promise<T>) => {
    const eventSubscribers = await startEventSubscribers(stack.port, stack.token, subscriberCount);
    try {
      return await measureVariant();
    } finally {
      await eventSubscribers.close();
    }
  };
  // The side panel's page runs in a separate window, because a script cannot open the real panel without a click.
  const { context, extensionId } = stack.chrome;
  const openerPage = await stack.chrome.openPage(`chrome-extension://${extensionId}/panel.html`);
  const panelWindow = context.waitForEvent('page');
  await openerPage.evaluate(() => chrome.windows.create({ url: 'about:blank', width: 400, height: 700 }));
  const panel = await panelWindow;
  await openerPage.close();
  const measureWithPanel = async <T>(measureVariant: () => Promise<T>) => {
    await panel.goto(`chrome-extension://${extensionId}/panel.html`);
    try {
      return await measureVariant();
    } finally {
      await panel.goto('about:blank');
    }
  };
  await measureWithPanel(measureEcho);
  const variantSummaries = await measureAlternately(roundCount, {
    alone: measureEcho,
    subscribers: () => measureWithSubscribers(measureEcho),
    panel: () => measureWithPanel(measureEcho),
    all: () => measureWithPanel(() => measureWithSubscribers(measureEcho)),
  });
  const baselineSummary = variantSummaries.get('alone');
  return (
    [
      ['subscribers', `${subscriberCount} subscribers of /events`],
      ['panel', 'the side panel open'],
      ['all', `the side panel open and ${subscriberCount} subscribers of /events`],
    ] as const
  ).map(([name, variantDescription]) => {
    const variantSummary = variantSummaries.get(name);
    if (!variantSummary || !baselineSummary) throw new Error('nothing was measured');
    return {
      id: 'subscribers',
      what: `time of a call that echoes 200 B through a page, p50, with ${variantDescription}; floor: without`,
      ours: formatSummary(variantSummary),
      floor: formatSummary(baselineSummary),
      value: variantSummary.p50 / baselineSummary.p50,
      ...(name === 'all' ? { threshold: makeUpperThreshold(1.05, 'x') } : {}),
    };
  });
}

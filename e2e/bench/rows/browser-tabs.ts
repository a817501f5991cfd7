import type { Browser } from '../../harness/browser.ts';
import { waitFor } from '../../harness/wait.ts';
import type { BenchBrowsers } from '../browser/lab.ts';
import { opentabsTools } from '../browser/words.ts';
import { type BenchRow, formatMs, makeUpperThreshold } from '../row.ts';
import { computeMedian } from '../samples.ts';

const id = 'browser';

const tabCount = 4;
const callCount = 1_000;

export async function measureMixedCalls({ opentabsBrowser, site }: BenchBrowsers): Promise<BenchRow[]> {
  const callProblems: string[] = [];
  const clickTimes: number[] = [];
  let clickedCount = 0;
  const client = await opentabsBrowser.connectClient();
  const tabIds: number[] = [];
  for (let i = 0; i < tabCount; i++) {
    const { text: tabsText } = await client.call('browser_tabs', {
      action: 'new',
      url: `${site.origin}/orders?nodes=300&tab=${i}`,
    });
    tabIds.push(Number(/Opened tab (\d+)/.exec(tabsText)?.[1]));
  }
  const runInTab = async (tabId: number) => {
    const snapshot = await client.call('browser_snapshot', { tabId });
    const getRef = (elementName: string) => opentabsTools.findRef(snapshot.text, elementName) ?? '';
    const calls: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
      ['browser_snapshot', { tabId }, /heading "Orders"/],
      ['browser_click', { tabId, target: getRef('"New order"') }, /New customer/],
      ['browser_find', { tabId, text: 'Edit order 1001' }, /button "Edit order 1001"/],
      ['browser_type', { tabId, target: getRef('searchbox "Search"'), text: 'pump', snapshot: 'none' }, /pump/],
      ['browser_read_page', { tabId, maxTokens: 500 }, /# Orders/],
    ];
    for (let i = 0; i < callCount / tabCount; i++) {
      const [name, args, expectedAnswer] = calls[i % calls.length] ?? ['', {}, /./];
      const callOutcome = await client.call(name, args, { omitsProgressToken: true });
      clickTimes.push(callOutcome.durationMs);
      if (callOutcome.isError || !expectedAnswer.test(callOutcome.text))
        callProblems.push(`${name}: ${callOutcome.text.slice(0, 200)}`);
      if (name === 'browser_click') clickedCount++;
    }
  };
  const beganMs = performance.now();
  await Promise.all(tabIds.map(runInTab));
  const elapsedSeconds = (performance.now() - beganMs) / 1000;
  const clickCount = await countClicks(opentabsBrowser.browser);
  if (clickCount !== clickedCount) callProblems.push(`the pages received ${clickCount} clicks, want ${clickedCount}`);
  return [
    {
      id,
      what: `${callCount} calls of 5 tools in ${tabCount} tabs at the same time, none lost`,
      ours: `${(callCount / elapsedSeconds).toFixed(0)}/s, p50 ${formatMs(computeMedian(clickTimes))}`,
      value: callProblems.length,
      threshold: makeUpperThreshold(0, 'lost'),
      ...(callProblems[0] === undefined ? {} : { note: callProblems[0] }),
    },
  ];
}

async function countClicks(browser: Browser): Promise<number> {
  let sum = 0;
  for (const { id: target, url } of await browser.listPages())
    if (url.includes('&tab=')) sum += Number(await browser.withPageSession(target, (page) => page.evaluate('clicks')));
  return sum;
}

/**
 * heapPagePath is the path of a page with about 10,000 elements with refs: two buttons and a link in each table row.
 */
const heapPagePath = '/orders?nodes=44000';

export async function measurePageMemory({ opentabsBrowser, site, agent }: BenchBrowsers): Promise<BenchRow[]> {
  const url = `${site.origin}${heapPagePath}`;
  await opentabsBrowser.browser.cdp.sendCommand('Target.createTarget', { url: `${url}&unused=1`, background: true });
  const tabId = await opentabsBrowser.openTab(url);
  const findPageTarget = (address: string) =>
    waitFor('the page to be open', async () =>
      (await opentabsBrowser.browser.listPages()).find((page) => page.url === address),
    );
  const target = await findPageTarget(url);
  const readHeap = () =>
    opentabsBrowser.browser.withPageSession(target.id, async (page) => {
      await page.sendCommand('HeapProfiler.collectGarbage');
      return Number(Object(await page.sendCommand('Runtime.getHeapUsage')).usedSize);
    });
  const heapBefore = await readHeap();
  const snapshot = await agent.call(['browser_snapshot', { tabId, maxTokens: 0 }]);
  const refCount = snapshot.split('[ref=').length - 1;
  const bytes = (await readHeap()) - heapBefore;
  const hasScript = await hasPageScript(opentabsBrowser.browser, target.id);
  const unusedTabHasScript = await hasPageScript(opentabsBrowser.browser, (await findPageTarget(`${url}&unused=1`)).id);
  return [
    {
      id,
      what: 'memory of the page script and of a whole snapshot, for each 10,000 refs',
      ours: `${(bytes / 1e6).toFixed(2)} MB with ${refCount} refs`,
      value: (bytes / 1e6) * (10_000 / refCount),
      threshold: makeUpperThreshold(6, 'MB'),
    },
    {
      id,
      what: "pages with a script of the extension: the user's page in which no tool was used, and the page of the row above",
      ours: `${unusedTabHasScript ? 1 : 0} and ${hasScript ? 1 : 0}`,
      ...(unusedTabHasScript || !hasScript
        ? { broken: "want no script in the user's page and a script in the other page" }
        : {}),
    },
  ];
}

/** The extension's page script runs in a page if and only if the page has an isolated world of the extension. */
async function hasPageScript(browser: Browser, target: string): Promise<boolean> {
  return await browser.withPageSession(target, async (page) => {
    const tabOrigins: string[] = [];
    page.on('Runtime.executionContextCreated', (params) => tabOrigins.push(String(Object(params).context?.origin)));
    await page.sendCommand('Runtime.enable');
    await page.sendCommand('Runtime.disable');
    return tabOrigins.some((origin) => origin.includes(browser.extensionId));
  });
}

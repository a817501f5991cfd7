/**
 * A nested call runs exactly once and returns its result, even if the link breaks or the service worker stops.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pause, waitFor } from '../harness/wait.ts';
import { FaultFixture } from './fault-fixture.ts';
import { appendMatrixRow } from './matrix-cell.ts';

let fixture: FaultFixture;
before(async () => {
  fixture = await FaultFixture.start();
});
after(() => fixture?.close());

const pagesPerChannel = 2;
const channelIds = Array.from({ length: 10 }, (_, i) => `c${i}-${pagesPerChannel}-40`);

/** Each test round injects the fault a little later than the previous round. */
async function testNestedCalls(faultName: string, injectFault: () => Promise<void>): Promise<void> {
  const client = await fixture.connectHttp();
  const { tab } = await fixture.openTab();
  const pagesBefore = fixture.site.servedPages;
  const roundCount = 5;
  for (let roundIndex = 0; roundIndex < roundCount; roundIndex++) {
    const servedPagesBefore = fixture.site.servedPages;
    const call = client.call('messages__compare_channels', { channelIds, tabId: tab.tabId });
    await waitFor('the first nested call to start', () => fixture.site.servedPages > servedPagesBefore);
    await pause(roundIndex * 37);
    await injectFault();
    const callOutcome = await call;
    assert.equal(callOutcome.isError, false, callOutcome.text);
    assert.deepEqual(callOutcome.structured, { channels: channelIds.map((channelId) => ({ channelId, count: 20 })) });
  }
  assert.equal(
    fixture.site.servedPages - pagesBefore,
    roundCount * channelIds.length * pagesPerChannel,
    'each nested call must run once',
  );
  appendMatrixRow({
    faultName,
    when: 'mid-call',
    call: `${roundCount} of ${roundCount} with all nested results, each once`,
    nextAction: '',
    stopReceived: '',
  });
  await client.close();
  await fixture.closeTabs();
}

test('nested calls survive a reset of the link', () =>
  testNestedCalls('link reset, nested calls', async () => fixture.proxy.cut(true)));

test('nested calls survive a link that is cut for 1 s', () =>
  testNestedCalls('link cut for 1 s, nested calls', async () => {
    fixture.proxy.cut();
    await pause(1000);
    fixture.proxy.resume();
  }));

test('nested calls survive a stop of the service worker', () =>
  testNestedCalls('worker stopped, nested calls', async () => {
    const targetId = await waitFor('the service worker to start', () => fixture.browser.workerId());
    await fixture.browser.cdp.sendCommand('Target.closeTarget', { targetId });
  }));

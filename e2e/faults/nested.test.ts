/** Promise: nested calls run exactly once and return their results, even if the link or the service worker fails meanwhile. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pause, waitFor } from '../harness/wait.ts';
import { Bed } from './bed.ts';
import { note } from './cell.ts';

let bed: Bed;
before(async () => {
  bed = await Bed.make();
});
after(() => bed?.close());

const pages = 2;
const channelIds = Array.from({ length: 10 }, (_, i) => `c${i}-${pages}-40`);

/** rounds strikes during several nested calls, a little later each time, to hit requests, answers and the time between. */
async function rounds(fault: string, strike: () => Promise<void>): Promise<void> {
  const client = await bed.client();
  const { tab } = await bed.open();
  const before = bed.site.servedPages;
  const count = 5;
  for (let round = 0; round < count; round++) {
    const from = bed.site.servedPages;
    const call = client.call('messages__compare_channels', { channelIds, tabId: tab.tabId });
    await waitFor('the first nested call', () => bed.site.servedPages > from);
    await pause(round * 37);
    await strike();
    const out = await call;
    assert.equal(out.isError, false, out.text);
    assert.deepEqual(out.structured, { channels: channelIds.map((channelId) => ({ channelId, count: 20 })) });
  }
  assert.equal(bed.site.servedPages - before, count * channelIds.length * pages, 'each nested call ran once');
  note({
    fault,
    when: 'mid-call',
    call: `${count} of ${count} with all nested results, each once`,
    next: '',
    stopReceived: '',
  });
  await client.close();
  await bed.closeTabs();
}

test('nested calls survive a reset of the link', () =>
  rounds('link reset, nested calls', async () => bed.proxy.cut(true)));

test('nested calls survive a link that is cut for 1 s', () =>
  rounds('link cut for 1 s, nested calls', async () => {
    bed.proxy.cut();
    await pause(1000);
    bed.proxy.resume();
  }));

test('nested calls survive a stop of the service worker', () =>
  rounds('worker stopped, nested calls', async () => {
    const targetId = await waitFor('the service worker', () => bed.browser.worker());
    await bed.browser.cdp.send('Target.closeTarget', { targetId });
  }));

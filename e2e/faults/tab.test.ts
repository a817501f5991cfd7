/** Promise: each change of a tab fails its calls at once with a specific code, and the next call finds or loads a page. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runChecked } from '../harness/process.ts';
import { pause, waitFor } from '../harness/wait.ts';
import { Bed } from './bed.ts';
import { between, midCall, note, type Place } from './cell.ts';

let bed: Bed;
before(async () => {
  bed = await Bed.make();
});
after(() => bed?.close());

async function close({ path }: Place): Promise<void> {
  await bed.browser.cdp.send('Target.closeTarget', { targetId: await bed.target(path) });
}
/** another runs act and then opens another tab of the site, as a user would. */
const another = (act: (place: Place) => Promise<unknown>) => async (place: Place) => {
  await act(place);
  await bed.browser.cdp.send('Target.createTarget', { url: bed.url('/another') });
  await waitFor('the other tab', () => bed.tab('/another'));
};
const navigate = ({ path }: Place) => bed.evaluate(path, `location.href = '${bed.url(path)}?next', 0`);
const move = ({ tab }: Place) => bed.inWorker(`chrome.windows.create({ tabId: ${tab.tabId} }).then(() => 0)`);
async function closeWindow(place: Place): Promise<void> {
  await move(place);
  const moved = await waitFor('the tab in its window', async () => {
    const tab = await bed.tab(place.path);
    return tab && tab.windowId !== place.tab.windowId ? tab : undefined;
  });
  await bed.inWorker(`chrome.windows.remove(${moved.windowId}).then(() => 0)`);
}
const discard = ({ tab }: Place) => bed.inWorker(`chrome.tabs.discard(${tab.tabId}).then(() => 0)`);

/** awayAndBack navigates away and back; Chrome must restore the page from the back/forward cache. */
async function awayAndBack({ path }: Place): Promise<void> {
  await bed.evaluate(path, `window.mark = 1, location.href = '${bed.url('/away')}', 0`);
  await waitFor('the other page', () => bed.target('/away').catch(() => undefined));
  await pause(300);
  await bed.evaluate('/away', 'history.back(), 0');
  await waitFor('the page again', () => bed.target(path).catch(() => undefined));
  assert.equal(await bed.evaluate(path, 'window.mark'), 1, 'it came out of the cache');
}

/** freeze freezes the page for 3 s. */
async function freeze({ path }: Place): Promise<void> {
  await bed.browser.inPage(await bed.target(path), async (page) => {
    await page.send('Page.setWebLifecycleState', { state: 'frozen' });
    await pause(3000);
    await page.send('Page.setWebLifecycleState', { state: 'active' });
  });
}

const other = { anyTab: true, nextMs: 4000 } as const;
test('tab closed, mid-call', () => midCall('tab closed', bed, another(close), { code: 'tab_closed', ...other }));
test('tab closed, between', () => between('tab closed', bed, another(close), other));
test('window closed, mid-call', () =>
  midCall('window closed', bed, another(closeWindow), { code: 'tab_closed', ...other }));
test('tab moved to another window, mid-call', () => midCall('tab moved to another window', bed, move));
test('tab moved to another window, between', () => between('tab moved to another window', bed, move));
test('navigated, mid-call', () => midCall('navigated', bed, navigate, { code: 'navigated' }));
test('navigated, between', () => between('navigated', bed, navigate));
test('away and back, mid-call', () =>
  midCall('back/forward cache, away and back', bed, awayAndBack, {
    code: 'navigated',
    stopReceived: true,
  }));
test('away and back, between', () => between('back/forward cache, away and back', bed, awayAndBack));
test('discarded, mid-call', () => midCall('tab discarded', bed, discard, { code: 'tab_discarded', ...other }));
test('discarded, between', () => between('tab discarded', bed, discard, other));
test('frozen for 3 s, mid-call', () => midCall('page frozen for 3 s', bed, freeze));
test('frozen for 3 s, between', () => between('page frozen for 3 s', bed, freeze));

test('a prerendered page gets no call until it is shown', async () => {
  // A page that starts while the plugin is being registered would load twice, and so would its speculation rules.
  await bed.open();
  await bed.closeTabs();
  const rules = JSON.stringify({ prerender: [{ source: 'list', urls: ['/page?ahead'] }] });
  bed.site.setPageHtml(`<!doctype html><title>rules</title><script type="speculationrules">${rules}</script>
    <script>if (location.search) fetch('/note', { method: 'POST', body: 'ahead ' + document.prerendering })</script>`);
  await bed.browser.cdp.send('Target.createTarget', { url: bed.url('/page') });
  await waitFor('the page to be prerendered', () => bed.site.notes.includes('ahead true'));
  await waitFor('the plugin', () => bed.tab('/page'));
  assert.equal(await bed.tab('/page?ahead'), undefined, 'it is not offered');
  const client = await bed.client();
  const before = await client.call('messages__echo', { value: 1 });
  assert.equal(before.isError, false, before.text);
  // A driver attached to the page would cancel the prerendering, so the service worker navigates the tab.
  const { tabId = 0 } = (await bed.tab('/page')) ?? {};
  await bed.inWorker(
    `chrome.scripting.executeScript({ target: { tabId: ${tabId} }, world: 'MAIN', func: () => { location.href = '/page?ahead'; } }).then(() => 0)`,
  );
  await waitFor('the plugin in the prerendered page', () => bed.tab('/page?ahead'));
  assert.deepEqual(bed.site.notes, ['ahead true'], 'it was not loaded a second time');
  const out = await client.call('messages__echo', { value: 2 });
  assert.equal(out.isError, false, out.text);
  note({
    fault: 'page prerendered, then shown',
    when: 'between',
    call: '',
    next: 'once it is shown',
    stopReceived: '',
  });
  await bed.closeTabs();
});

test('a page that starts while a plugin is being registered gets the plugin', async () => {
  for (let round = 0; round < 6; round++) {
    await runChecked(['plugin', 'remove', 'messages'], bed.env);
    const adding = runChecked(['plugin', 'add', join(bed.home, 'messages-plugin'), '--permission', 'auto'], bed.env);
    const paths = Array.from({ length: 5 }, (_, i) => `/round${round}-${i}`);
    await pause(round * 7);
    for (const path of paths) await bed.browser.cdp.send('Target.createTarget', { url: bed.url(path) });
    await adding;
    const client = await bed.client();
    for (const path of paths) {
      const tabId = await waitFor('the tab', async () => {
        const tabs = (await bed.browsers()).flatMap((b) => b.tabs ?? []);
        return tabs.find((t) => t.url === bed.url(path))?.tabId;
      });
      const out = await client.call('messages__echo', { value: path, tabId });
      assert.equal(out.isError, false, `${path}: ${out.text}`);
    }
    await bed.closeTabs();
  }
  note({
    fault: 'page begins while a plugin is registered',
    when: 'between',
    call: '',
    next: '30 of 30 pages work',
    stopReceived: '',
  });
});

/** An agent works in background tabs, and the user's active tab, window and caret never change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runChecked } from '../harness/process.ts';
import { waitFor } from '../harness/wait.ts';
import { listSteps, parseRef } from './agent-fixture.ts';
import { type RawFixture, startRawFixture } from './raw-fixture.ts';

const callCount = process.env.OPENTABS_TEST_ALL ? 200 : 40;

const eventRecorderScript = `<script>
  window.events = [];
  const record = ({ type, target }) => events.push(type + ' ' + (target.id ?? 'window') + ' ' + document.visibilityState);
  for (const type of ['focus', 'blur', 'resize', 'pagehide', 'freeze']) addEventListener(type, record, true);
  for (const type of ['visibilitychange', 'selectionchange', 'fullscreenchange']) document.addEventListener(type, record, true);
</script>`;

const userPage = `<title>User</title>${eventRecorderScript}<textarea id="text">The text of the user</textarea>
  <script>text.focus(); text.setSelectionRange(4, 8)</script>`;

const workPage = `<title>Work</title>${eventRecorderScript}<h1>Work</h1><label>Name <input id="name"></label>
  <button onclick="count.textContent++">Add</button><p id="count">0</p>
  <select aria-label="Size"><option>S</option><option>L</option></select><input type="checkbox" aria-label="Check">
  <div role="button" aria-label="Card" draggable="true">Card</div><div role="button" aria-label="Place">Place</div>
  <button onclick="focus(); document.getElementById('name').focus()">Focus</button><div style="height:3000px"></div>
  <input type="file" aria-label="File"><button onclick="shown.textContent = confirm('Sure?')">Ask</button><p id="shown"></p>`;

/** If trusted input opens a new tab, Chrome makes the new tab the active tab for a moment. */
const tabOpeningPage = `<a href="/other" target="_blank">New tab</a><button onclick="window.open('/other')">Popup</button>`;

const readOnlyCalls = listSteps([
  ['browser_snapshot', {}],
  ['browser_find', { text: 'Work' }],
  ['browser_read_page', {}],
  ['browser_wait_for', { text: 'Work' }],
  ['browser_scroll', { direction: 'down' }],
  ['browser_tabs', { action: 'list' }],
  ['browser_batch', { steps: [{ tool: 'browser_snapshot' }, { tool: 'browser_find', args: { role: 'button' } }] }],
]);

/** userState omits the viewport's height, because Chrome's debugger bar changes the height. */
const userState = `[document.visibilityState, document.hasFocus(), document.activeElement.id, text.selectionStart,
  text.selectionEnd, innerWidth, events.filter((event) => !event.startsWith('resize')).join()].join(' ')`;

for (const [name, flags] of [
  ['without the debugger', []],
  ['with the debugger', ['--debugger']],
] as const) {
  test(`${callCount} calls of all core tools in background tabs, ${name}, change neither the front tab nor its caret`, async () => {
    const fixture = await startRawFixture(...flags);
    try {
      await watchCalls(fixture, flags.length > 0);
    } finally {
      await fixture.close();
    }
  });
}

async function watchCalls(fixture: RawFixture, isTrusted: boolean): Promise<void> {
  const { faults, client, run, setPage, openActiveTab, evaluate, shop } = fixture;
  await runChecked(['browser', 'site', '*', 'read'], faults.env); // the daemon lists only tabs of sites with a rule
  setPage('/user', userPage);
  setPage('/work', workPage + (isTrusted ? '' : tabOpeningPage));
  setPage('/other', '<title>Other</title><p>Other</p>');
  await openActiveTab('/user');
  await waitFor('the user to have the focus', async () => (await evaluate('/user', 'document.hasFocus()')) === true);
  // Discard the events that the test's setup caused, which arrive within two animation frames.
  const clear =
    'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => { events.length = 0; resolve() })))';
  await evaluate('/user', clear);
  await faults.evaluateInWorker(`globalThis.recorded = [];
    chrome.tabs.onActivated.addListener(({ tabId }) => recorded.push('tab ' + tabId));
    chrome.windows.onFocusChanged.addListener((id) => recorded.push('window ' + id));
    chrome.windows.onCreated.addListener(({ id }) => recorded.push('new window ' + id)); undefined`);
  const before = await evaluate('/user', userState);
  assert.match(String(before), /^visible true text 4 8 \d+ $/);
  const workState = () => evaluate('/work', "[document.visibilityState, document.hasFocus(), events.length].join(' ')");
  let count = 0;
  for (let round = 0; count < callCount; round++) {
    await run('browser_tabs', { action: 'new', url: `${shop}/work` });
    const snapshot = await run('browser_snapshot');
    const ref = (words: string) => parseRef(snapshot, words);
    for (const [tool, args] of readOnlyCalls) await run(tool, args);
    // Without the debugger, browser_take_screenshot fails in a background tab.
    await client.call('browser_take_screenshot', {});
    assert.equal(await workState(), 'hidden false 0', 'state of a page that was only read');
    const acts = listSteps([
      ['browser_click', { target: ref('"Add"') }],
      ['browser_type', { target: ref('"Name"'), text: `round ${round}`, slowly: round % 4 === 0 }],
      ['browser_fill_form', { fields: [{ target: ref('"Check"'), value: true }] }],
      ['browser_select_option', { target: ref('"Size"'), values: ['L'] }],
      ['browser_hover', { target: ref('"Add"') }],
      ['browser_drag', { startTarget: ref('"Card"'), endTarget: ref('"Place"') }],
      ['browser_press_key', { target: ref('"Name"'), key: 'End' }],
      ['browser_click', { target: ref('"Focus"') }],
      ['browser_file_upload', { target: ref('"File"'), paths: ['/nothing'] }],
      ['browser_click', { target: ref('"Ask"') }],
      ['browser_handle_dialog', { accept: true }],
      ...(isTrusted
        ? []
        : listSteps([
            ['browser_click', { target: ref('"New tab"') }],
            ['browser_click', { target: ref('"Popup"') }],
          ])),
    ]);
    for (const [tool, args] of acts) {
      const { isError, text } = await client.call(tool, args);
      const mayFail = tool === 'browser_file_upload' || (tool === 'browser_handle_dialog' && !isTrusted);
      assert.ok(!isError || mayFail, `${tool} failed: ${text}`);
      // A page with an open dialog cannot evaluate an expression.
      if (args.target !== ref('"Ask"'))
        assert.match(
          String(await workState()),
          isTrusted ? /^hidden / : /^hidden false /,
          `state of the page after ${tool}`,
        );
    }
    await run('browser_navigate', { url: `${shop}/other` });
    await run('browser_navigate_back');
    await run('browser_navigate', { go: 'reload' });
    const opened = /Opened tab (\d+)/.exec(await run('browser_tabs', { action: 'new', url: `${shop}/other` }))?.[1];
    await run('browser_tabs', { action: 'close', tabId: Number(opened) });
    count += readOnlyCalls.length + acts.length + 7;
    assert.equal(await evaluate('/user', userState), before, `state of the user's page after ${count} calls`);
    for (const { id, url } of await faults.browser.listPages())
      if (/\/(work|other)$/.test(url)) await faults.browser.cdp.sendCommand('Target.closeTarget', { targetId: id });
  }
  assert.deepEqual(await faults.evaluateInWorker('recorded'), [], 'activations of tabs and windows');
}

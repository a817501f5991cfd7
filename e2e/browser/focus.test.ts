/** An agent works in background tabs, and the user's active tab, window and caret never change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runOrThrow } from '../harness/process.ts';
import { waitFor } from '../harness/wait.ts';
import { listSteps, parseRef } from './agent-fixture.ts';
import { type FaultBrowserFixture, startFaultBrowserFixture } from './raw-fixture.ts';

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

/** userStateScript omits the viewport's height, because Chrome's debugger bar changes the height. */
const userStateScript = `[document.visibilityState, document.hasFocus(), document.activeElement.id, text.selectionStart,
  text.selectionEnd, innerWidth, events.filter((event) => !event.startsWith('resize')).join()].join(' ')`;

for (const [name, installFlags] of [
  ['without the debugger', []],
  ['with the debugger', ['--debugger']],
] as const) {
  test(`${callCount} calls of all core tools in background tabs, ${name}, change neither the front tab nor its caret`, async () => {
    const fixture = await startFaultBrowserFixture(...installFlags);
    try {
      await watchCalls(fixture, installFlags.length > 0);
    } finally {
      await fixture.close();
    }
  });
}

async function watchCalls(fixture: FaultBrowserFixture, usesTrustedInput: boolean): Promise<void> {
  const { faultFixture, client, callTool, setPage, openActiveTab, evaluateInPage, shopOrigin } = fixture;
  await runOrThrow(['browser', 'site', '*', 'read'], faultFixture.env); // the daemon lists only tabs of sites with a rule
  setPage('/user', userPage);
  setPage('/work', workPage + (usesTrustedInput ? '' : tabOpeningPage));
  setPage('/other', '<title>Other</title><p>Other</p>');
  await openActiveTab('/user');
  await waitFor(
    'the user to have the focus',
    async () => (await evaluateInPage('/user', 'document.hasFocus()')) === true,
  );
  // Discard the events that the test's setup caused, which arrive within two animation frames.
  const clearEventsScript =
    'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => { events.length = 0; resolve() })))';
  await evaluateInPage('/user', clearEventsScript);
  await faultFixture.evaluateInWorker(`globalThis.recorded = [];
    chrome.tabs.onActivated.addListener(({ tabId }) => recorded.push('tab ' + tabId));
    chrome.windows.onFocusChanged.addListener((id) => recorded.push('window ' + id));
    chrome.windows.onCreated.addListener(({ id }) => recorded.push('new window ' + id)); undefined`);
  const userStateBefore = await evaluateInPage('/user', userStateScript);
  assert.match(String(userStateBefore), /^visible true text 4 8 \d+ $/);
  const readWorkPageState = () =>
    evaluateInPage('/work', "[document.visibilityState, document.hasFocus(), events.length].join(' ')");
  let count = 0;
  for (let roundIndex = 0; count < callCount; roundIndex++) {
    await callTool('browser_tabs', { action: 'new', url: `${shopOrigin}/work` });
    const snapshot = await callTool('browser_snapshot');
    const findRefOf = (elementName: string) => parseRef(snapshot, elementName);
    for (const [tool, args] of readOnlyCalls) await callTool(tool, args);
    // Without the debugger, browser_take_screenshot fails in a background tab.
    await client.call('browser_take_screenshot', {});
    assert.equal(await readWorkPageState(), 'hidden false 0', 'reading a page must not change its state');
    const focusSteps = listSteps([
      ['browser_click', { target: findRefOf('"Add"') }],
      ['browser_type', { target: findRefOf('"Name"'), text: `round ${roundIndex}`, slowly: roundIndex % 4 === 0 }],
      ['browser_fill_form', { fields: [{ target: findRefOf('"Check"'), value: true }] }],
      ['browser_select_option', { target: findRefOf('"Size"'), values: ['L'] }],
      ['browser_hover', { target: findRefOf('"Add"') }],
      ['browser_drag', { startTarget: findRefOf('"Card"'), endTarget: findRefOf('"Place"') }],
      ['browser_press_key', { target: findRefOf('"Name"'), key: 'End' }],
      ['browser_click', { target: findRefOf('"Focus"') }],
      ['browser_file_upload', { target: findRefOf('"File"'), paths: ['/nothing'] }],
      ['browser_click', { target: findRefOf('"Ask"') }],
      ['browser_handle_dialog', { accept: true }],
      ...(usesTrustedInput
        ? []
        : listSteps([
            ['browser_click', { target: findRefOf('"New tab"') }],
            ['browser_click', { target: findRefOf('"Popup"') }],
          ])),
    ]);
    for (const [tool, args] of focusSteps) {
      const { isError, text: outputText } = await client.call(tool, args);
      const mayFail = tool === 'browser_file_upload' || (tool === 'browser_handle_dialog' && !usesTrustedInput);
      assert.ok(!isError || mayFail, `${tool} failed: ${outputText}`);
      // A page with an open dialog cannot evaluate an expression.
      if (args.target !== findRefOf('"Ask"'))
        assert.match(
          String(await readWorkPageState()),
          usesTrustedInput ? /^hidden / : /^hidden false /,
          `${tool} must leave its page hidden`,
        );
    }
    await callTool('browser_navigate', { url: `${shopOrigin}/other` });
    await callTool('browser_navigate_back');
    await callTool('browser_navigate', { go: 'reload' });
    const openedTab = /Opened tab (\d+)/.exec(
      await callTool('browser_tabs', { action: 'new', url: `${shopOrigin}/other` }),
    )?.[1];
    await callTool('browser_tabs', { action: 'close', tabId: Number(openedTab) });
    count += readOnlyCalls.length + focusSteps.length + 7;
    assert.equal(
      await evaluateInPage('/user', userStateScript),
      userStateBefore,
      `${count} calls must not change the state of the user's page`,
    );
    for (const { id, url } of await faultFixture.browser.listPages())
      if (/\/(work|other)$/.test(url))
        await faultFixture.browser.cdp.sendCommand('Target.closeTarget', { targetId: id });
  }
  assert.deepEqual(await faultFixture.evaluateInWorker('recorded'), [], 'the calls must activate no tab or window');
}

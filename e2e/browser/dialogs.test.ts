/**
 * With the debugger, the result of an action contains the dialog that the page opened, and the agent can
 * answer the dialog.
 */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { type AgentFixture, parseRef, startAgentFixture } from './agent-fixture.ts';

let fixture: AgentFixture;

before(async () => {
  fixture = await startAgentFixture({ installFlags: ['--debugger'] });
  fixture.stack.chrome.context.on('dialog', () => undefined); // without a listener, Playwright dismisses the dialogs
  await fixture.stack.runCli('browser', 'site', fixture.other, 'auto');
});
after(() => fixture?.close());

async function openPage(path: string, body: string): Promise<string> {
  fixture.setPage(path, `<title>${path}</title><script>window.log = []</script>${body}`);
  await fixture.open(path);
  return await fixture.callTool('browser_snapshot');
}

async function evaluateInShop(path: string, expression: string): Promise<unknown> {
  return await (await fixture.findPage(`${fixture.shop}${path}`)).evaluate(expression);
}

test('browser_handle_dialog is listed when a browser has the debugger', async () => {
  const { tools } = await fixture.client.sdk.listTools();
  assert.ok(tools.some(({ name }) => name === 'browser_handle_dialog'));
});

test('while dialogs of a click are open, other tools fail, and the answer to the last dialog returns the changes', async () => {
  const { callTool, callExpectingFailure } = fixture;
  const snapshot = await openPage(
    '/dialogs',
    `<button onclick="const ok = confirm('Delete it?'); const name = prompt('Name?', 'Ada'); out.textContent = ok + ' ' + name">Ask</button><p id="out"></p>`,
  );
  const target = parseRef(snapshot, '"Ask"');
  const dialogClickOutcome = await callTool('browser_click', { target });
  assert.match(
    dialogClickOutcome,
    /The page opened a dialog \(confirm\).*browser_handle_dialog.*--- text of .*dialog \(confirm\): "Delete it\?"/s,
  );
  for (const tool of ['browser_snapshot', 'browser_click', 'browser_read_page', 'browser_take_screenshot']) {
    const callOutcome = await callExpectingFailure(tool, tool === 'browser_click' ? { target } : {});
    assert.match(callOutcome.text, /Delete it\?.*code=dialog_open/, tool);
  }
  assert.match(
    await callTool('browser_handle_dialog', { accept: true }),
    /Accepted the dialog \(confirm\).*opened a dialog \(prompt\).*"Name\?", with the text "Ada"/s,
  );
  const dialogOutcome = await callTool('browser_handle_dialog', { accept: true, promptText: 'Grace' });
  assert.match(dialogOutcome, /Accepted the dialog \(prompt\)\. Clicked \w+\. input: trusted\..*true Grace/s);
  assert.match(
    (await callExpectingFailure('browser_handle_dialog', { accept: true })).text,
    /no dialog is open.*code=not_found/,
  );
});

test('the next tool result describes a dialog that opened later, and a dismissed prompt returns null', async () => {
  const { callTool, callExpectingFailure } = fixture;
  const snapshot = await openPage(
    '/late',
    `<button onclick="setTimeout(() => { out.textContent = String(prompt('Late?')) }, 1500)">Later</button><p id="out"></p>`,
  );
  await callTool('browser_click', { target: parseRef(snapshot, '"Later"') });
  const waitOutcome = await callExpectingFailure('browser_wait_for', { text: 'null', timeout: 20 });
  assert.match(waitOutcome.text, /Late\?.*code=dialog_open/);
  assert.match(await callTool('browser_handle_dialog', { accept: false }), /^Dismissed the dialog \(prompt\)/);
  assert.equal(await evaluateInShop('/late', 'out.textContent'), 'null');
});

test('a beforeunload dialog opens on a click and on a navigation', async () => {
  const { callTool, shop: shopOrigin } = fixture;
  fixture.setPage('/next', '<title>Next</title><p>Next page</p>');
  const body = `<a href="/next">Leave</a><button>Stay</button><script>addEventListener('beforeunload', (event) => event.preventDefault())</script>`;
  const snapshot = await openPage('/leaving', body);
  const clickOutcome = await callTool('browser_click', { target: parseRef(snapshot, '"Leave"') });
  assert.match(clickOutcome, /opened a dialog "Leave site\?"/);
  const dismissOutcome = await callTool('browser_handle_dialog', { accept: false });
  assert.match(dismissOutcome, /Dismissed the dialog/);
  assert.equal(await evaluateInShop('/leaving', 'location.pathname'), '/leaving');
  assert.match(await callTool('browser_navigate', { url: `${shopOrigin}/next` }), /opened a dialog "Leave site\?"/);
  assert.match(await callTool('browser_handle_dialog', { accept: true }), /Accepted the dialog.*Loaded.*\/next/s);
  assert.match(await callTool('browser_snapshot'), /Next page/);
});

test('a trusted click on a javascript: link that returns a text returns the new page', async () => {
  const body = `<a href="javascript:'<h1>Result</h1><button>Next</button>'">Show the result</a>`;
  const snapshot = await openPage('/script-text', body);
  const clickOutcome = await fixture.callTool('browser_click', { target: parseRef(snapshot, '"Show the result"') });
  assert.match(clickOutcome, /A script replaced the content of the page\. Earlier refs are void\..*heading "Result"/s);
});

test('a form that a dialog has suspended is not filled further after the user has stopped the agent', async () => {
  const { setPage, open: openTab, callTool, stack, shop } = fixture;
  const inputHtml = ['First', 'Second', 'Third'].map((name) => `<input aria-label="${name}" id="${name}">`).join('');
  setPage(
    '/stopped-form',
    `<title>Form</title>${inputHtml}<script>First.onchange = () => confirm('Sure?'); let ticks = 0; setInterval(() => ticks++, 1000)</script>`,
  );
  const tabId = await openTab('/stopped-form');
  const snapshot = await callTool('browser_snapshot');
  const fields = ['First', 'Second', 'Third'].map((name) => ({
    target: parseRef(snapshot, `"${name}"`),
    value: 'Ada',
  }));
  const dialogPromise = stack.chrome.context.waitForEvent('dialog');
  assert.match(await callTool('browser_fill_form', { fields }), /opened a dialog \(confirm\)/);
  const releaseResult = await stack.runCli('browser', 'release', `${tabId}`);
  assert.match(releaseResult.stderr, /stopped .* in tab \d+/);
  await (await dialogPromise).accept();
  const page = await fixture.findPage(`${shop}/stopped-form`);
  const ticksBefore = Number(await page.evaluate('ticks'));
  // Without the stop, the page script fills the other fields in less than 2 s.
  await waitFor('2 s to pass in the page', async () => Number(await page.evaluate('ticks')) >= ticksBefore + 2);
  // The dialog opens when the focus moves to the second field, whose filling has then begun.
  const values = String(await page.evaluate('[First.value, Second.value, Third.value].join()'));
  assert.match(values, /^Ada,(Ada)?,$/);
});

test('a restarted worker dismisses the dialog that the previous worker left open', async () => {
  const { callTool, stack } = fixture;
  const body = `<button onclick="out.textContent = confirm('Go on?')">Ask</button><p id="out"></p>`;
  const snapshot = await openPage('/restart', body);
  assert.match(await callTool('browser_click', { target: parseRef(snapshot, '"Ask"') }), /opened a dialog \(confirm\)/);
  await stack.chrome.stopWorker();
  const page = await fixture.findPage(`${fixture.shop}/restart`);
  await waitFor('the page to get the answer', async () => (await page.textContent('#out')) === 'false');
});

test('a page that opens 10,000 dialogs blocks only its own tab, which the agent can close', async () => {
  const { callTool, callExpectingFailure } = fixture;
  const floodHtml = `<button onclick="for (let i = 0; i < 10000; i++) alert('again ' + i)">Flood</button>`;
  fixture.setPage('/flood', floodHtml);
  // A dialog blocks all tabs of its process, and Chrome may use one process for all tabs of a site.
  const openedOutcome = await callTool('browser_tabs', { action: 'new', url: `${fixture.other}/flood` });
  const floodTab = Number(/Opened tab (\d+)/.exec(openedOutcome)?.[1]);
  const snapshot = await callTool('browser_snapshot');
  assert.match(await callTool('browser_click', { target: parseRef(snapshot, '"Flood"') }), /again 0/);
  let answeredText = '';
  for (let i = 1; i <= 10; i++) answeredText = await callTool('browser_handle_dialog', { accept: true });
  assert.match(answeredText, /This is dialog 11 in a row.*close the tab/s);
  const snapshotFailure = await callExpectingFailure('browser_snapshot');
  assert.match(snapshotFailure.text, /again 10.*code=dialog_open/s);
  await openPage('/calm', '<p>Calm page</p>');
  assert.match(await callTool('browser_snapshot'), /Calm page/);
  assert.match(await callTool('browser_tabs', { action: 'close', tabId: floodTab }), /Closed/);
});

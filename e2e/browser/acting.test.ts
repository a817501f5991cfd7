import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import type { Dialog } from 'playwright-core';
import { waitFor } from '../harness/wait.ts';
import {
  type BrowserFixture,
  expectFailure,
  expectOutput,
  startBrowserFixture,
  type ToolOutput,
} from './browser-fixture.ts';

let fixture: BrowserFixture;

before(async () => {
  fixture = await startBrowserFixture();
  fixture.setPage('/done', '<!doctype html><title>Done</title><h1>Thank you</h1>');
});
after(() => fixture.close());

async function openPage(path: string, body: string): Promise<number> {
  fixture.setPage(path, `<!doctype html><title>${path}</title><script>window.log = []</script>${body}`);
  return await fixture.open(path);
}

async function evaluateInPage(path: string, expression: string): Promise<unknown> {
  const page = await fixture.findPage(`${fixture.origin}${path}`);
  return await page.evaluate(expression);
}

function parseRef({ content = '' }: ToolOutput, elementName: string): string {
  const line = content.split('\n').find((snapshotLine) => snapshotLine.includes(elementName));
  const elementRef = /\[ref=(\w+)\]/.exec(line ?? '')?.[1];
  if (elementRef === undefined) throw new Error(`no ref for ${elementName} in:\n${content}`);
  return elementRef;
}

async function findRef(tabId: number, elementName: string): Promise<string> {
  return parseRef(await fixture.callTool('browser_snapshot', {}, tabId), elementName);
}

test('a click acts on the element of its ref and returns what changed', async () => {
  const tabId = await openPage(
    '/click',
    `<h1>Orders</h1><button onclick="log.push('add'); list.insertAdjacentHTML('beforeend', '<li>Order 2</li>')">Add</button>
     <button onclick="log.push('wrong')">Remove</button><ul id="list"><li>Order 1</li></ul><button>Nothing</button>`,
  );
  const target = await findRef(tabId, 'button "Add"');
  const clickOutcome = await fixture.callTool('browser_click', { target }, tabId);
  assert.match(clickOutcome.text ?? '', new RegExp(`^Clicked ${target}\\.`));
  assert.match(clickOutcome.content ?? '', /Order 2/);
  assert.doesNotMatch(clickOutcome.content ?? '', /Order 1/);
  assert.deepEqual(await evaluateInPage('/click', 'log'), ['add']);
  const noSnapshotOutcome = await fixture.callTool('browser_click', { target, snapshot: 'none' }, tabId);
  assert.doesNotMatch(noSnapshotOutcome.content ?? '', /Order/);
  const fullSnapshotOutcome = await fixture.callTool('browser_click', { target, snapshot: 'full' }, tabId);
  assert.match(fullSnapshotOutcome.content ?? '', /heading "Orders"/);
  const noChangeOutcome = await fixture.callTool('browser_click', { target: await findRef(tabId, 'Nothing') }, tabId);
  assert.match(noChangeOutcome.text ?? '', /changed: nothing/);
  assert.deepEqual(await evaluateInPage('/click', 'log'), ['add', 'add', 'add']);
  await evaluateInPage('/click', 'document.body.replaceChildren(), 1');
  assert.equal((await fixture.callExpectingFailure('browser_click', { target }, tabId)).code, 'stale_ref');
  assert.equal((await fixture.callExpectingFailure('browser_click', { target: 'e999999' }, tabId)).code, 'stale_ref');
});

test('a click that navigates is a success with the new page', async () => {
  const tabId = await openPage('/link', '<a href="/done">Go</a>');
  const clickOutcome = await fixture.callTool('browser_click', { target: await findRef(tabId, 'link "Go"') }, tabId);
  assert.deepEqual(clickOutcome.page, { url: `${fixture.origin}/done`, title: 'Done' });
  assert.match(clickOutcome.text ?? '', /The tab now shows another document\. Earlier refs are void\./);
  assert.match(clickOutcome.content ?? '', /heading "Thank you"/);
  assert.match(clickOutcome.snapshot ?? '', /^s\d+$/);
  const slowPage = await openPage('/slow-link', '<a href="/done?delay=1500">Slow</a>');
  const waitOutcome = await fixture.callTool(
    'browser_click',
    { target: await findRef(slowPage, 'Slow'), snapshot: 'full' },
    slowPage,
  );
  assert.match(waitOutcome.content ?? '', /heading "Thank you"/);
  const script = await openPage('/script-link', `<button onclick="location = '/done'">Leave</button>`);
  const leaveClickArgs = { target: await findRef(script, 'Leave'), snapshot: 'none' };
  const leaveClickOutcome = await fixture.callTool('browser_click', leaveClickArgs, script);
  assert.equal(leaveClickOutcome.page?.title, 'Done');
  assert.equal(leaveClickOutcome.content, undefined, 'an action with snapshot: none must not return the new page');
});

test('an action whose document ends reports only what the page script has confirmed', async () => {
  const { start: startCall, callTool: call } = fixture;
  const fillTab = await openPage(
    '/leaving-form',
    `<input aria-label="First" oninput="location = '/done?delay=1500'"><select disabled aria-label="Second"><option>A</option></select>`,
  );
  const fields = [
    { target: await findRef(fillTab, '"First"'), value: 'Ada' },
    { target: await findRef(fillTab, '"Second"'), value: 'A' },
  ];
  const fillOutcome = await call('browser_fill_form', { fields }, fillTab);
  assert.match(fillOutcome.text ?? '', /^Filled 1 of 2 fields\. The document ended during the action: check which/);
  assert.match(fillOutcome.text ?? '', /The tab now shows another document/);
  const clickTab = await openPage('/leaving-button', '<button disabled>Pay</button>');
  const payButton = await findRef(clickTab, '"Pay"');
  const clickCall = await startCall('browser_click', { target: payButton }, clickTab);
  await waitFor('the click to wait', () => clickCall.reports.length > 0);
  await evaluateInPage('/leaving-button', `location = '/done'`);
  const { text = '' } = expectOutput(await clickCall.dispatchAnswer);
  assert.doesNotMatch(text, /Clicked/);
  assert.match(text, /^The document ended before the action or during it\. Check whether .* The tab now shows another/);
});

test('a wait does not find parts of secrets', async () => {
  const { callTool: call, callExpectingFailure } = fixture;
  const tabId = await openPage(
    '/secrets',
    `<input aria-label="Name" value="Ada"><input autocomplete="cc-number" aria-label="Card" value="4111222233334444">
     <p>Your card is 4111222233334444</p>`,
  );
  const wait = { text: '4111', timeout: 0.5 };
  assert.equal((await callExpectingFailure('browser_wait_for', wait, tabId)).code, 'timeout');
  assert.equal((await call('browser_wait_for', { textGone: '4111', timeout: 0.5 }, tabId)).text, 'Found: textGone.');
  assert.equal((await call('browser_wait_for', { text: 'ada', timeout: 5 }, tabId)).text, 'Found: text.');
});

test('a click that opens a tab names the tab, and the user sees the same tab as before', async () => {
  const tabId = await openPage(
    '/popup',
    `<a href="/done" target="_blank">New tab</a><button onclick="window.open('/done')">Popup</button>`,
  );
  const readFrontTab = async () => {
    const { tabs = [] } = await fixture.callTool('browser_tabs', { action: 'list' });
    return tabs.filter((tab) => tab.active).map((tab) => tab.url);
  };
  const frontTabBefore = await readFrontTab();
  const clickOutcome = await fixture.callTool('browser_click', { target: await findRef(tabId, 'New tab') }, tabId);
  const openedTab = Number(/opened tab (\d+) in the background/.exec(clickOutcome.text ?? '')?.[1]);
  assert.ok(openedTab > 0, clickOutcome.text);
  assert.equal((await fixture.callTool('browser_wait_for', { text: 'Thank you' }, openedTab)).page?.title, 'Done');
  assert.deepEqual(await readFrontTab(), frontTabBefore);
});

test('fields are filled, also in a frame of another site, and a form is submitted', async () => {
  fixture.setPage('/fields', '<!doctype html><title>Fields</title><label>City <input id="city"></label>');
  const tabId = await openPage(
    '/form',
    `<form action="/done"><label>Name <input name="name" oninput="log.push(event.isTrusted)"></label>
     <label><input type="checkbox" name="news"> News</label>
     <label>Size <select name="size"><option>Small</option><option>Large</option></select></label>
     <label>Password <input type="password" name="password"></label><button>Send</button></form>
     <iframe src="${fixture.otherOrigin}/fields"></iframe>`,
  );
  const snapshot = await fixture.takeSnapshot(tabId);
  const [name, newsCheckboxRef, sizeFieldRef, passwordRef, cityRef] = ['Name', 'News', 'Size', 'Password', 'City'].map(
    (elementName) => parseRef(snapshot, `"${elementName}"`),
  );
  const typeOutcome = await fixture.callTool('browser_type', { target: name, text: 'Ada' }, tabId);
  assert.match(typeOutcome.content ?? '', /value: "Ada"/);
  assert.deepEqual(await evaluateInPage('/form', 'log'), [true]);
  const secretOutcome = await fixture.callTool(
    'browser_type',
    { target: passwordRef, text: 'hunter2', _secrets: ['password'] },
    tabId,
  );
  assert.doesNotMatch(JSON.stringify(secretOutcome), /hunter2/);
  const selectOutcome = await fixture.callTool(
    'browser_select_option',
    { target: sizeFieldRef, values: ['Large'] },
    tabId,
  );
  assert.match(selectOutcome.content ?? '', /chosen: "Large"/);
  const fillOutcome = await fixture.callTool(
    'browser_fill_form',
    {
      fields: [
        { target: name, value: 'Grace' },
        { target: newsCheckboxRef, value: true },
        { target: cityRef, value: 'Paris' },
      ],
    },
    tabId,
  );
  assert.match(fillOutcome.text ?? '', /^Filled 3 of 3 fields\./);
  const values = `[...document.querySelectorAll('input, select')].map((f) => f.type === 'checkbox' ? f.checked : f.value)`;
  assert.deepEqual(await evaluateInPage('/form', values), ['Grace', true, 'Large', 'hunter2']);
  const page = await fixture.findPage(`${fixture.origin}/form`);
  assert.equal(await page.frames()[1]?.evaluate(`document.getElementById('city').value`), 'Paris');
  const submitOutcome = await fixture.callTool('browser_type', { target: name, text: 'Ada', submit: true }, tabId);
  assert.equal(submitOutcome.page?.title, 'Done');
});

test('keys, hovers, scrolls, drags and files reach the page', async () => {
  const rowsHtml = Array.from({ length: 200 }, (_, i) => `<p>Row ${i}</p>`).join('');
  const tabId = await openPage(
    '/input',
    `<input aria-label="Key" onkeydown="log.push(event.key)"><button onmouseover="log.push('over')">Menu</button>
     <div id="a" draggable="true" role="button" aria-label="Card" ondragstart="log.push('dragstart')">Card</div>
     <div id="b" role="button" aria-label="Bin" ondragover="event.preventDefault()" ondrop="log.push('drop')">Bin</div>
     <input type="file" aria-label="File" onchange="files[0].text().then((text) => log.push(files[0].name + ':' + text))">
     ${rowsHtml}<button>Last</button>`,
  );
  const snapshot = await fixture.callTool('browser_snapshot', { maxTokens: 20000 }, tabId);
  await fixture.callTool('browser_press_key', { key: 'ArrowDown', target: parseRef(snapshot, '"Key"') }, tabId);
  await fixture.callTool('browser_hover', { target: parseRef(snapshot, 'Menu') }, tabId);
  const dragTargets = { startTarget: parseRef(snapshot, '"Card"'), endTarget: parseRef(snapshot, '"Bin"') };
  await fixture.callTool('browser_drag', dragTargets, tabId);
  const files = [{ name: 'a.txt', mimeType: 'text/plain', data: Buffer.from('hello').toString('base64') }];
  const uploadOutcome = await fixture.callTool(
    'browser_file_upload',
    { files, target: parseRef(snapshot, '"File"') },
    tabId,
  );
  assert.match(uploadOutcome.content ?? '', /a\.txt: 5 bytes/);
  const log = await waitFor('the file', async () => {
    const logEntries = await evaluateInPage('/input', 'log');
    return Array.isArray(logEntries) && logEntries.includes('a.txt:hello') && logEntries;
  });
  assert.deepEqual(log, ['ArrowDown', 'over', 'dragstart', 'drop', 'a.txt:hello']);
  const scrollOutcome = await fixture.callTool('browser_scroll', { direction: 'bottom' }, tabId);
  assert.match(scrollOutcome.text ?? '', /^Scrolled\. Position 0, \d{3,}/);
  assert.ok(Number(await evaluateInPage('/input', 'scrollY')) > 1000);
});

test('an action in a page that shows a dialog to the user fails with dialog_open', async () => {
  const { userPage, callTool: call, callExpectingFailure, setPage, origin } = fixture;
  setPage(
    '/dialog',
    `<!doctype html><title>Dialog</title><button onclick="alert('at once')">Now</button>
     <button onclick="setTimeout(() => alert('later'))">Later</button>`,
  );
  const shownDialogs: Dialog[] = [];
  userPage.on('dialog', (dialog) => shownDialogs.push(dialog));
  await userPage.goto(`${origin}/dialog`);
  const { tabId = 0 } = await call('browser_tabs', { action: 'select' });
  const snapshot = await call('browser_snapshot', {}, tabId);
  for (const [name, expectedMessage] of [
    ['Now', 'at once'],
    ['Later', 'later'],
  ] as const) {
    const failure = await callExpectingFailure('browser_click', { target: parseRef(snapshot, name) }, tabId);
    assert.equal(failure.code, 'dialog_open', failure.message);
    const dialog = shownDialogs.pop();
    assert.equal(dialog?.message(), expectedMessage);
    // A tool that starts while a dialog is open must fail at once.
    assert.equal((await callExpectingFailure('browser_snapshot', {}, tabId)).code, 'dialog_open');
    await dialog?.accept();
  }
  await userPage.goto(`${origin}/`);
});

test('a wait ends when its condition is met, survives a new document, and reports progress', async () => {
  const { start: startCall, callTool: call, callExpectingFailure } = fixture;
  const tabId = await openPage(
    '/wait',
    `<script>setTimeout(() => document.body.append('Ready'), 1200); setTimeout(() => { location = '/done' }, 12_000)</script>`,
  );
  assert.equal((await call('browser_wait_for', { text: 'Ready' }, tabId)).text, 'Found: text.');
  const startedCall = await startCall('browser_wait_for', { text: 'Thank you' }, tabId);
  assert.equal(expectOutput(await startedCall.dispatchAnswer).page?.title, 'Done');
  assert.equal(
    (await callExpectingFailure('browser_wait_for', { text: 'never', timeout: 0.3 }, tabId)).code,
    'timeout',
  );
  assert.match((await call('browser_wait_for', { time: 0.2 }, tabId)).text ?? '', /^Waited 0\.2 s\./);
  const closingCall = await startCall('browser_wait_for', { text: 'never', timeout: 60 }, tabId);
  await waitFor('a report', () => closingCall.reports.length > 0);
  await call('browser_tabs', { action: 'close', tabId });
  assert.equal(expectFailure(await closingCall.dispatchAnswer).code, 'tab_closed');
  const otherTab = await openPage('/other', '');
  const cancelledRun = await startCall('browser_wait_for', { text: 'never', timeout: 60 }, otherTab);
  await waitFor('a report', () => cancelledRun.reports.length > 0);
  assert.deepEqual((await cancelledRun.cancel('enough')).result, { outcome: 'aborted' });
});

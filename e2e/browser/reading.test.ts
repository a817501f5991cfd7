import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { type BrowserFixture, startBrowserFixture } from './browser-fixture.ts';
import { readColorAt, readPngSize } from './pixels.ts';

let fixture: BrowserFixture;

before(async () => {
  fixture = await startBrowserFixture();
  fixture.setPage('/shop', '<!doctype html><title>Shop</title><main><h1>Orders</h1><button>New order</button></main>');
  fixture.setPage('/inner', '<!doctype html><title>Inner</title><p>Deep text</p><button>Pay</button>');
  fixture.setPage('/middle', `<!doctype html><title>Middle</title><h2>Middle</h2><iframe src="/inner"></iframe>`);
});
after(() => fixture.close());

test('a snapshot of a background tab has the content with refs, and the tab stays hidden', async () => {
  const { callTool: call, open: openTab, origin } = fixture;
  const tabId = await openTab('/shop');
  const { content, text: outputText, page, snapshot } = await call('browser_snapshot', {}, tabId);
  assert.match(content ?? '', /^main\n/);
  assert.equal(outputText, `Snapshot ${snapshot}.`);
  assert.match(content ?? '', /heading "Orders"/);
  assert.match(content ?? '', /button "New order" \[ref=e\d+\]/);
  assert.match(outputText ?? '', /^Snapshot s\d+\.$/);
  assert.deepEqual(page, { url: `${origin}/shop`, title: 'Shop' });
  const { tabs = [] } = await call('browser_tabs', { action: 'list' });
  assert.equal(tabs.find((tab) => tab.tabId === tabId)?.active, false);
});

test('a snapshot and a search contain the frames of other sites, with the refs of each frame', async () => {
  const { callTool: call, open: openTab, otherOrigin, setPage } = fixture;
  setPage(
    '/frames',
    `<!doctype html><title>Frames</title><h1>Top</h1><iframe src="${otherOrigin}/middle" width="600" height="400"></iframe>
     <div id="host"></div><iframe srcdoc="<p>From srcdoc</p>"></iframe>`,
  );
  const tabId = await openTab('/frames');
  const { content = '' } = await fixture.takeSnapshot(tabId);
  assert.match(content, /heading "Top"/);
  assert.match(content, /heading "Middle"/);
  assert.match(content, /Deep text/);
  assert.match(content, /From srcdoc/);
  const payButtonRef = /button "Pay" \[ref=(f\d+e\d+)\]/.exec(content)?.[1];
  assert.ok(payButtonRef, content);
  const foundMatches = await call('browser_find', { text: 'Pay' }, tabId);
  assert.equal(foundMatches.text, '1 of 1 matches.');
  assert.match(foundMatches.content ?? '', new RegExp(`\\[ref=${payButtonRef}\\].*\\(in frame f\\d+`));
  assert.equal(
    (await fixture.callExpectingFailure('browser_snapshot', { target: 'f99999e1' }, tabId)).code,
    'stale_ref',
  );
});

test('a ref is invalid after the tab has loaded another document', async () => {
  const { callTool: call, callExpectingFailure, open: openTab, origin } = fixture;
  const tabId = await openTab('/shop');
  const firstSnapshot = await call('browser_snapshot', {}, tabId);
  const payButtonRef = /button "New order" \[ref=(e\d+)\]/.exec(firstSnapshot.content ?? '')?.[1] ?? '';
  await call('browser_navigate', { url: `${origin}/middle` }, tabId);
  await call('browser_snapshot', {}, tabId);
  assert.equal((await callExpectingFailure('browser_snapshot', { target: payButtonRef }, tabId)).code, 'stale_ref');
  await call('browser_navigate', { url: `${origin}/shop` }, tabId);
  const lastSnapshot = await call('browser_snapshot', {}, tabId);
  assert.doesNotMatch(lastSnapshot.content ?? '', new RegExp(`\\[ref=${payButtonRef}\\]`));
});

test('the extension runs no script in a page in which no browser tool was used', async () => {
  const { userPage, chrome, callTool: call, open: openTab, origin } = fixture;
  const tabId = await openTab('/shop');
  const worker = chrome.context.serviceWorkers()[0];
  const hasScript = (id: number) =>
    worker?.evaluate(
      `chrome.scripting
        .executeScript({ target: { tabId: ${id} }, func: () => Reflect.has(globalThis, 'opentabsPage') })
        .then(([frame]) => frame.result)`,
    );
  assert.equal(await hasScript(tabId), false);
  await call('browser_snapshot', {}, tabId);
  assert.equal(await hasScript(tabId), true);
  assert.equal(userPage.url(), `${origin}/`);
});

test('refs are the same after a restart of the worker', async () => {
  const { callTool: call, chrome, open: openTab, server } = fixture;
  const tabId = await openTab('/shop');
  const snapshotBefore = await call('browser_snapshot', {}, tabId);
  await chrome.stopWorker();
  const panel = await chrome.openPage(`chrome-extension://${chrome.extensionId}/panel.html`);
  await waitFor('the worker to restart', async () => (await server.request('tab.describe', {})).result !== undefined);
  await panel.close();
  const snapshotAfter = await call('browser_snapshot', {}, tabId);
  const getRef = (content = '') => /button "New order" \[ref=(e\d+)\]/.exec(content)?.[1];
  assert.equal(getRef(snapshotAfter.content), getRef(snapshotBefore.content));
});

test('without the debugger, only the front tab can be captured as a screenshot', async () => {
  const { callTool: call, callExpectingFailure, open: openTab, userPage } = fixture;
  const tabId = await openTab('/shop');
  const hiddenFailure = await callExpectingFailure('browser_take_screenshot', {}, tabId);
  assert.equal(hiddenFailure.code, 'needs_debugger');
  assert.match(hiddenFailure.message, /extension install --debugger/);
  const { tabId: userTab = 0 } = await call('browser_tabs', { action: 'select' });
  for (const type of ['webp', 'jpeg', 'png']) {
    const { image, text: outputText } = await call('browser_take_screenshot', { type, maxWidth: 300 }, userTab);
    assert.equal(image?.mimeType, `image/${type}`);
    assert.match(outputText ?? '', /300 x \d+ pixels/);
    assert.ok((image?.data.length ?? 0) > 500);
  }
  const fullPageFailure = await callExpectingFailure('browser_take_screenshot', { fullPage: true }, userTab);
  assert.equal(fullPageFailure.code, 'needs_debugger');
  // The tab is in front, so the advice to show the tab would be wrong.
  assert.match(fullPageFailure.message, /Either scroll and take pictures of the visible part/);
  assert.doesNotMatch(fullPageFailure.message, /show the tab/);
  assert.equal(userPage.isClosed(), false);
});

test('pictures of a zoomed page have the size of the page in CSS pixels', async () => {
  const { callTool: call, origin, setPage, userPage } = fixture;
  const style = 'margin:150px 0 0 200px;width:80px;height:40px;background:red;border:0';
  setPage('/zoomed', `<!doctype html><title>Zoomed</title><body style="background:blue"><button style="${style}">`);
  await userPage.goto(`${origin}/zoomed`);
  const { tabId = 0 } = await call('browser_tabs', { action: 'select' });
  const [worker] = fixture.chrome.context.serviceWorkers();
  await worker?.evaluate((id) => chrome.tabs.setZoom(id, 1.5), tabId);
  const { content = '' } = await call('browser_snapshot', {}, tabId);
  const target = /button .*\[ref=(e\d+)\]/.exec(content)?.[1];
  const pictureOutcome = await call('browser_take_screenshot', { type: 'png', target }, tabId);
  assert.deepEqual(readPngSize(pictureOutcome), [80, 40]);
  for (const [x, y] of [
    [2, 2],
    [77, 37],
  ] as const)
    assert.deepEqual(await readColorAt(userPage, pictureOutcome, x, y), [255, 0, 0]);
  // Agents use the pixels of a picture of the whole viewport as coordinates for clicks.
  const viewportScreenshot = await call('browser_take_screenshot', { type: 'png' }, tabId);
  assert.deepEqual(await readColorAt(userPage, viewportScreenshot, 240, 170), [255, 0, 0]);
  assert.deepEqual(await readColorAt(userPage, viewportScreenshot, 300, 225), [0, 0, 255]);
  await worker?.evaluate((id) => chrome.tabs.setZoom(id, 1), tabId);
});

test('a page is read as Markdown in parts, with the texts of its frames', async () => {
  const { callTool: call, open: openTab, otherOrigin, setPage } = fixture;
  const paragraphsHtml = Array.from({ length: 300 }, (_, i) => `<p>Paragraph ${i} has some words.</p>`).join('');
  setPage(
    '/long',
    `<!doctype html><title>Long</title><h1>Title</h1>${paragraphsHtml}<iframe src="${otherOrigin}/inner"></iframe>`,
  );
  const tabId = await openTab('/long');
  await fixture.takeSnapshot(tabId); // the frame has loaded
  const readParts: string[] = [];
  for (let cursor = ''; readParts.length < 20; ) {
    const args = { maxTokens: 1000, ...(cursor === '' ? {} : { cursor }) };
    const { content = '', text: outputText = '' } = await call('browser_read_page', args, tabId);
    assert.ok(content.length <= 8000, `${content.length} characters`);
    readParts.push(content);
    cursor = /cursor "([^"]+)"/.exec(outputText)?.[1] ?? '';
    if (cursor === '') break;
  }
  const joinedText = readParts.join('\n');
  assert.match(joinedText, /^# Title/);
  for (const i of [0, 150, 299])
    assert.ok(joinedText.includes(`Paragraph ${i} has some words.`), `the page text must contain paragraph ${i}`);
  assert.match(joinedText, /\[frame f\d+\]\nDeep text/);
});

test('without the debugger, computed styles can be read, and errors of other tools describe how to add the debugger', async () => {
  fixture.setPage('/plain', '<!doctype html><button style="color: rgb(1, 2, 3)">Go</button>');
  const tabId = await fixture.open('/plain');
  const { content: snapshotTree = '' } = await fixture.callTool('browser_snapshot', {}, tabId);
  const target = /"Go".*\[ref=(\w+)\]/.exec(snapshotTree)?.[1];
  const styles = await fixture.callTool('browser_get_styles', { target, properties: ['color'] }, tabId);
  assert.equal(styles.text, 'Computed values. Matched rules need the debugger.');
  assert.match(styles.content ?? '', /^color: rgb\(1, 2, 3\)$/m);
  for (const [tool, args] of [
    ['browser_get_styles', { target, forceState: ['hover'] }],
    ['browser_console_messages', {}],
    ['browser_resources', {}],
  ] as const) {
    const { code, message: errorMessage } = await fixture.callExpectingFailure(tool, args, tabId);
    assert.equal(code, 'needs_debugger', tool);
    assert.match(errorMessage, /opentabs extension install --debugger/, tool);
  }
});

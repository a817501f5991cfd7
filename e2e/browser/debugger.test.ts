/** With the debugger, browser tools work in background tabs and send trusted input. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import type { Page, Worker } from 'playwright-core';
import { waitFor } from '../harness/wait.ts';
import { type BrowserFixture, startBrowserFixture } from './browser-fixture.ts';
import { readColorAt, readPngSize } from './pixels.ts';

let fixture: BrowserFixture;
/** Tests call chrome.debugger in extensionPage, which shows the side panel in a background tab. */
let extensionPage: Page;

before(async () => {
  fixture = await startBrowserFixture('--debugger');
  const { chrome, userPage } = fixture;
  extensionPage = await chrome.openPage(`chrome-extension://${chrome.extensionId}/panel.html`);
  await userPage.bringToFront();
});
after(() => fixture.close());

async function openPage(path: string, body: string): Promise<number> {
  fixture.setPage(path, `<!doctype html><title>${path}</title><script>window.log = []</script>${body}`);
  return await fixture.open(path);
}

async function findRef(tabId: number, elementName: string): Promise<string> {
  const { content = '' } = await fixture.takeSnapshot(tabId);
  const line = content.split('\n').find((snapshotLine) => snapshotLine.includes(elementName));
  const elementRef = /\[ref=(\w+)\]/.exec(line ?? '')?.[1];
  if (elementRef === undefined) throw new Error(`no ref for ${elementName} in:\n${content}`);
  return elementRef;
}

function findExtensionWorker(): Promise<Worker> {
  return waitFor('the worker', () => fixture.chrome.context.serviceWorkers()[0]);
}

/** The argument `page` must be an extension page, because only extension pages can call chrome.debugger. */
async function isAttached(page: Page, tabId: number): Promise<boolean> {
  return await page.evaluate(
    (id) =>
      chrome.debugger.sendCommand({ tabId: id }, 'Page.getLayoutMetrics').then(
        () => true,
        () => false,
      ),
    tabId,
  );
}

test('20 screenshots of a background tab do not change the tab that the user sees', async () => {
  const tabId = await openPage('/picture', '<style>body { background: rgb(0, 128, 0); margin: 0 }</style>');
  for (let i = 0; i < 20; i++) {
    const pictureOutcome = await fixture.callTool('browser_take_screenshot', { type: 'png' }, tabId);
    assert.match(
      pictureOutcome.text ?? '',
      /^Picture of the visible part of the page, \d+ x \d+ pixels\. Taken with the debugger\./,
    );
    assert.deepEqual(await readColorAt(fixture.userPage, pictureOutcome, 20, 20), [0, 128, 0]);
  }
  const { tabs = [] } = await fixture.callTool('browser_tabs', { action: 'list' });
  assert.deepEqual(
    tabs.filter(({ active }) => active).map(({ url }) => url),
    [`${fixture.origin}/`],
  );
  assert.ok(await isAttached(extensionPage, tabId));
});

test('pictures have the type, the element and the size that the client asks for', async () => {
  fixture.setPage(
    '/inner',
    '<!doctype html><body style="margin:0"><button style="margin:30px;width:80px;height:40px;background:red;border:0;padding:0"></button>',
  );
  const tabId = await openPage(
    '/parts',
    `<style>body { margin: 0 }</style><div style="height:12000px;background:linear-gradient(blue, blue)">
     <div role="button" aria-label="Box" style="position:absolute;left:10px;top:3000px;width:120px;height:50px;background:lime"></div>
     <iframe src="${fixture.otherOrigin}/inner" style="position:absolute;left:50px;top:5000px;border:7px solid;padding:5px;width:300px;height:200px"></iframe></div>`,
  );
  const elementScreenshotOutcome = await fixture.callTool(
    'browser_take_screenshot',
    { type: 'png', target: await findRef(tabId, '"Box"') },
    tabId,
  );
  assert.deepEqual(readPngSize(elementScreenshotOutcome), [120, 50]);
  for (const [x, y] of [
    [1, 1],
    [118, 48],
  ] as const)
    assert.deepEqual(await readColorAt(fixture.userPage, elementScreenshotOutcome, x, y), [0, 255, 0]);
  const innerOutcome = await fixture.callTool(
    'browser_take_screenshot',
    { type: 'png', target: await findRef(tabId, 'button [') },
    tabId,
  );
  assert.deepEqual(readPngSize(innerOutcome), [80, 40]);
  for (const [x, y] of [
    [1, 1],
    [78, 38],
  ] as const)
    assert.deepEqual(await readColorAt(fixture.userPage, innerOutcome, x, y), [255, 0, 0]);
  const fullOutcome = await fixture.callTool('browser_take_screenshot', { type: 'png', fullPage: true }, tabId);
  assert.equal(readPngSize(fullOutcome)[1], 8000);
  assert.match(fullOutcome.text ?? '', /The page is 12000 pixels high; the picture ends at 8000\./);
  const wideTab = await openPage('/wide', '<body style="margin:0;width:20000px;height:300px">');
  const wideScreenshotOutcome = await fixture.callTool('browser_take_screenshot', { fullPage: true }, wideTab);
  assert.match(
    wideScreenshotOutcome.text ?? '',
    /full page, 8000 x \d+ pixels\. The page is 20000 pixels wide; the picture ends/,
  );
  const smallScreenshotOutcome = await fixture.callTool(
    'browser_take_screenshot',
    { type: 'png', maxWidth: 200 },
    tabId,
  );
  assert.equal(readPngSize(smallScreenshotOutcome)[0], 200);
  for (const [type, pictureStart] of [
    ['jpeg', '/9j/'],
    ['webp', 'UklG'],
  ] as const) {
    const pictureOutcome = await fixture.callTool('browser_take_screenshot', { type }, tabId);
    assert.equal(pictureOutcome.image?.mimeType, `image/${type}`);
    assert.ok(pictureOutcome.image?.data.startsWith(pictureStart));
  }
});

test('a screenshot of an element in a frame of another site contains the element and does not resize the page', async () => {
  const body = '<button style="width:80px;height:40px;background:red;border:0"></button>';
  fixture.setPage('/small', `<!doctype html><body style="margin:0">${body}`);
  const frame = `<iframe src="${fixture.otherOrigin}/small" style="margin-top:3000px"></iframe>`;
  const resizeLogHtml = `<script>addEventListener('resize', () => log.push(innerWidth + ' x ' + innerHeight))</script>`;
  const tabId = await openPage('/unresized', `<body style="background:blue">${resizeLogHtml}${frame}`);
  const target = await findRef(tabId, 'button [');
  const page = await fixture.findPage(`${fixture.origin}/unresized`);
  for (let i = 0; i < 2; i++) {
    await page.evaluate('log = []'); // Chrome resizes a background page when it draws the page for the first time
    const pictureOutcome = await fixture.callTool('browser_take_screenshot', { type: 'png', target }, tabId);
    assert.deepEqual(readPngSize(pictureOutcome), [80, 40]);
    assert.deepEqual(await readColorAt(fixture.userPage, pictureOutcome, 40, 20), [255, 0, 0]);
  }
  // If Chrome resizes a page for a picture, the picture can lack the frames of other sites.
  assert.deepEqual(await page.evaluate('log'), []);
});

test('the result of a click names the download that the click starts', async () => {
  fixture.setPage('/file', 'A file');
  const tabId = await openPage(
    '/downloads',
    `<a href="/file?download">File</a><a href="/file?download" target="_blank">New tab</a>
     <button onclick="document.body.append(Object.assign(document.createElement('iframe'), { src: '/file?download' }))">
     Frame</button>`,
  );
  const newTabTarget = await findRef(tabId, '"New tab"');
  for (const name of ['"File"', '"Frame"']) {
    const target = await findRef(tabId, name);
    const outcome = await fixture.callTool('browser_click', { target }, tabId);
    assert.match(outcome.text ?? '', /A download began\./, name);
    assert.match(outcome.content ?? '', /^download: a\.txt$/m, name);
    assert.doesNotMatch(outcome.text ?? '', /another document|changed: nothing/, name);
  }
  const outcome = await fixture.callTool('browser_click', { target: newTabTarget }, tabId);
  assert.match(outcome.text ?? '', /opened a tab that closed again/);
  assert.doesNotMatch(outcome.text ?? '', /browser_tabs/);
});

test('the result of a click on a link to a page that cannot load names the reason', async () => {
  const tabId = await openPage('/dead-link', '<a href="http://127.0.0.1:9/">Dead</a>');
  const outcome = await fixture.callTool('browser_click', { target: await findRef(tabId, '"Dead"') }, tabId);
  assert.match(outcome.text ?? '', /Clicked e\d+\..*requested another document, which failed: net::ERR_/);
});

test('a screenshot of an element outside of the page fails', async () => {
  const tabId = await openPage('/outside', '<p>Page</p><button style="position:absolute;left:-3000px">Far</button>');
  const findOutput = await fixture.callTool('browser_find', { selector: 'button' }, tabId);
  const target = /\[ref=(e\d+)\]/.exec(findOutput.content ?? '')?.[1];
  const failure = await fixture.callExpectingFailure('browser_take_screenshot', { target }, tabId);
  assert.equal(failure.code, 'not_hittable');
  assert.match(failure.message, /is outside of the page/);
});

test('pictures of a zoomed page show the element and the full page', async () => {
  const markerStyle = 'position:absolute;background:lime';
  const tabId = await openPage(
    '/zoomed',
    `<body style="margin:0;background:blue"><div style="${markerStyle};right:0;top:0;width:50px;height:50px"></div>
     <div role="button" aria-label="Small" style="${markerStyle};left:200px;top:150px;width:80px;height:40px"></div>
     <div role="button" aria-label="Tall" style="${markerStyle};left:20px;top:300px;width:100px;height:3000px"></div>`,
  );
  const worker = await findExtensionWorker();
  const setZoom = (zoomFactor: number) =>
    worker.evaluate(({ id, factor }) => chrome.tabs.setZoom(id, factor), { id: tabId, factor: zoomFactor });
  await setZoom(1.5);
  for (const [name, wantWidth, wantHeight] of [
    ['Small', 80, 40],
    ['Tall', 100, 3000],
  ] as const) {
    const target = await findRef(tabId, `"${name}"`);
    const pictureOutcome = await fixture.callTool('browser_take_screenshot', { type: 'png', target }, tabId);
    const [width, height] = readPngSize(pictureOutcome);
    // The size of a zoomed viewport need not be a whole number of CSS pixels.
    assert.ok(Math.abs(width - wantWidth) <= 1 && Math.abs(height - wantHeight) <= 1, `${name}: ${width} x ${height}`);
    for (const [x, y] of [
      [2, 2],
      [width - 3, height - 3],
    ] as const)
      assert.deepEqual(
        await readColorAt(fixture.userPage, pictureOutcome, x, y),
        [0, 255, 0],
        `${name}: the pixel at ${x}, ${y} must be green`,
      );
  }
  const fullOutcome = await fixture.callTool('browser_take_screenshot', { type: 'png', fullPage: true }, tabId);
  const [width] = readPngSize(fullOutcome);
  assert.deepEqual(
    await readColorAt(fixture.userPage, fullOutcome, width - 20, 20),
    [0, 255, 0],
    `full page, ${width} wide`,
  );
  // Agents use the pixels of a picture of the viewport as coordinates for clicks.
  const page = await fixture.findPage(`${fixture.origin}/zoomed`);
  const viewportScreenshot = await fixture.callTool('browser_take_screenshot', { type: 'png' }, tabId);
  assert.ok(Math.abs(readPngSize(viewportScreenshot)[0] - Number(await page.evaluate('innerWidth'))) <= 1);
  await setZoom(1);
});

test('a trusted hover opens a menu with the CSS state :hover in a background tab, even in a frame of another site', async () => {
  const menuHtml = `<style>nav ul { display: none } nav:hover ul { display: block }</style>
    <nav><button onmouseover="document.title = 'trusted: ' + event.isTrusted">File</button><ul><li>Save as</li></ul></nav>`;
  fixture.setPage('/menu', `<!doctype html><body>${menuHtml}`);
  const tabId = await openPage('/hover', `<div style="height:3000px"></div>${menuHtml}`);
  const hoverOutcome = await fixture.callTool(
    'browser_hover',
    { target: await findRef(tabId, 'button "File"') },
    tabId,
  );
  assert.match(hoverOutcome.text ?? '', /^Moved the pointer over \w+\. input: trusted\./);
  assert.match(hoverOutcome.content ?? '', /Save as/);
  assert.equal(hoverOutcome.page?.title, 'trusted: true');
  const tabIdWithFrame = await openPage('/framed', `<iframe src="${fixture.otherOrigin}/menu"></iframe>`);
  const innerOutcome = await fixture.callTool(
    'browser_hover',
    { target: await findRef(tabIdWithFrame, 'button "File"') },
    tabIdWithFrame,
  );
  assert.match(innerOutcome.text ?? '', /input: trusted\./);
  assert.match(innerOutcome.content ?? '', /Save as/);
});

test('the debugger is detached from a tab that navigates to a page that tools must not see', async () => {
  const tabId = await openPage('/leaving', 'Leaving');
  await fixture.callTool('browser_take_screenshot', {}, tabId);
  assert.ok(await isAttached(extensionPage, tabId));
  await extensionPage.evaluate((id) => chrome.tabs.update(id, { url: 'about:blank' }), tabId);
  await waitFor('the debugger to be detached', async () => !(await isAttached(extensionPage, tabId)));
});

async function restartWorker(): Promise<Page> {
  const { chrome, server } = fixture;
  await chrome.stopWorker();
  const panel = await chrome.openPage(`chrome-extension://${chrome.extensionId}/panel.html`);
  await waitFor('the worker to restart', async () => (await server.request('tab.describe', {})).result !== undefined);
  return panel;
}

test('after Cancel, no tool attaches the debugger until the user allows it in the side panel', async () => {
  const tabId = await openPage('/cancel', 'Cancel');
  await fixture.callTool('browser_take_screenshot', {}, tabId);
  // A headless browser has no debugger bar with a Cancel button, so the test simulates Chrome's event.
  const worker = await findExtensionWorker();
  await worker.evaluate(async (id) => {
    await chrome.debugger.detach({ tabId: id });
    const { onDetach } = chrome.debugger;
    const dispatch: unknown = Reflect.get(onDetach, 'dispatch');
    if (typeof dispatch !== 'function') throw new Error('the event onDetach of chrome.debugger has no method dispatch');
    dispatch.call(onDetach, { tabId: id }, 'canceled_by_user');
  }, tabId);
  assert.equal((await fixture.callExpectingFailure('browser_take_screenshot', {}, tabId)).code, 'debugger_refused');
  const panel = await restartWorker();
  const refusedOutcome = await fixture.callExpectingFailure('browser_take_screenshot', {}, tabId);
  assert.equal(refusedOutcome.code, 'debugger_refused');
  assert.match(refusedOutcome.message, /side panel/);
  assert.equal(await isAttached(panel, tabId), false);
  await panel.getByRole('button', { name: 'Allow the debugger again' }).click();
  await panel.getByText('You switched the debugger off.').waitFor({ state: 'detached' });
  assert.match((await fixture.callTool('browser_take_screenshot', {}, tabId)).text ?? '', /with the debugger/);
  await panel.close();
});

test('a restarted worker uses the debugger that the previous worker attached', async () => {
  const tabId = await openPage('/restart', 'Restart');
  await fixture.callTool('browser_take_screenshot', {}, tabId);
  const panel = await restartWorker();
  assert.match((await fixture.callTool('browser_take_screenshot', {}, tabId)).text ?? '', /with the debugger/);
  await panel.close();
});

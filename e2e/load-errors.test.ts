/** A call whose tab cannot load fails with the network error. */
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { after, before, type TestContext, test } from 'node:test';
import { findFreePort } from './harness/chromium.ts';
import type { McpClient } from './harness/client.ts';
import { placesPlugin, type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

/** If a tab cannot load, opentabs fails the call after 8 s; without Chrome's load error, after 20 s. */
const maxLoadErrorDelayMs = 18_000;

let stack: Stack;
let client: McpClient;

before(async () => {
  stack = await startStack({ plugins: [placesPlugin] });
  client = await stack.connectHttp();
});
after(() => stack?.close());

async function expectNoTabError(args: Record<string, unknown> = {}): Promise<string> {
  const startMs = Date.now();
  const callOutcome = await client.call('places__where', args);
  const durationMs = Date.now() - startMs;
  assert.equal(callOutcome.code, 'no_tab', callOutcome.text);
  assert.ok(
    durationMs < maxLoadErrorDelayMs,
    `the call took ${durationMs} ms, want less than ${maxLoadErrorDelayMs} ms: ${callOutcome.text}`,
  );
  return callOutcome.text;
}

async function openOnlyTab(url: string): Promise<number> {
  const page = await stack.chrome.openPage('about:blank');
  for (const otherPage of stack.chrome.context.pages()) if (otherPage !== page) await otherPage.close();
  await page.goto(url).catch(() => undefined);
  const tab = await waitFor('the browser to report the load error of the tab', async () =>
    (await stack.listTabs()).find((tab) => tab.url === url && tab.loadError !== undefined),
  );
  return tab.tabId;
}

test('the permission to observe load errors adds no warning at installation', async () => {
  const worker = await waitFor('the service worker to start', () => stack.chrome.context.serviceWorkers()[0]);
  const [permissionWarnings, warningsWithoutAllSites] = await worker.evaluate(async () => {
    const manifest = chrome.runtime.getManifest();
    const permissions = manifest.permissions?.filter((permission) => permission !== 'webNavigation');
    const manifestTexts = [manifest, { ...manifest, permissions }].map((value) => JSON.stringify(value));
    return Promise.all(
      manifestTexts.map((answerText) => chrome.management.getPermissionWarningsByManifest(answerText)),
    );
  });
  assert.deepEqual(permissionWarnings, warningsWithoutAllSites);
  assert.deepEqual(permissionWarnings, ['Read and change all your data on all websites', 'Display notifications']);
});

test('a call in a tab whose page cannot load names the reason, for each kind of failure', async () => {
  const closedUrl = `http://127.0.0.1:${await findFreePort()}/`;
  assert.match(
    await expectNoTabError({ tabId: await openOnlyTab(closedUrl) }),
    /its page can't be loaded \(tab .*the server refused the connection \(net::ERR_CONNECTION_REFUSED\); check that the site is running/,
  );
  // A restarted service worker does not have Chrome's report that the tab failed to load.
  await stack.chrome.stopWorker();
  await waitFor('the new service worker to report the tab', async () =>
    (await stack.listTabs()).some((tab) => tab.url === closedUrl && tab.loadError === undefined),
  );
  assert.match(await expectNoTabError(), /net::ERR_CONNECTION_REFUSED/);
  const httpsUrl = `https://127.0.0.1:${new URL(stack.site.origin).port}/`;
  await openOnlyTab(httpsUrl);
  assert.match(
    await expectNoTabError(),
    /no secure connection to the site is possible \(net::ERR_SSL_PROTOCOL_ERROR\)/,
  );
  assert.match(
    (await stack.runCli('status')).stdout,
    /places \(the page can't be loaded: net::ERR_SSL_PROTOCOL_ERROR\)/,
  );
  const silentServer = createServer((request) => request.socket.destroy());
  await new Promise<void>((resolve) => silentServer.listen(0, '127.0.0.1', resolve));
  const serverAddress = silentServer.address();
  assert.ok(serverAddress !== null && typeof serverAddress === 'object');
  await openOnlyTab(`http://127.0.0.1:${serverAddress.port}/`);
  assert.match(await expectNoTabError(), /the server sent no answer \(net::ERR_EMPTY_RESPONSE\)/);
  silentServer.close();
});

async function configureOpenUrl(url: string): Promise<void> {
  const settingResponse = await fetch(`http://127.0.0.1:${stack.port}/plugins/places/settings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ values: { site: url } }),
  });
  assert.equal(settingResponse.status, 200, await settingResponse.text());
  const permissionCommand = await stack.runCli('plugin', 'permission', 'places', '--open-tabs', 'on');
  assert.equal(permissionCommand.code, 0, permissionCommand.stderr);
  const frontPage = await stack.chrome.openPage('about:blank#front');
  for (const page of stack.chrome.context.pages()) if (page !== frontPage) await page.close();
  await waitFor('all tabs to be closed', async () => (await stack.listTabs()).length === 0);
}

async function serveSite(t: TestContext, listener: RequestListener): Promise<number> {
  const site = createServer(listener);
  t.after(() => {
    site.closeAllConnections();
    site.close();
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const serverAddress = site.address();
  assert.ok(serverAddress !== null && typeof serverAddress === 'object');
  return serverAddress.port;
}

const pageHtml = '<!doctype html><title>Here</title><link rel="icon" href="data:,">';

test('a page that was opened for a call and cannot load fails the call, and the next call runs after the site is back', async () => {
  const port = await findFreePort();
  await configureOpenUrl(`http://127.0.0.1:${port}/start`);
  assert.match(
    await expectNoTabError(),
    /was opened for the call, but its page can't be loaded: the server refused the connection \(net::ERR_CONNECTION_REFUSED\)/,
  );
  // The second call must reload the tab that the first call opened, not open another tab.
  assert.match(await expectNoTabError(), /is open, but its page can't be loaded .*net::ERR_CONNECTION_REFUSED/);
  assert.equal((await stack.listTabs()).length, 1);
  const site = createServer((_, response) => response.setHeader('content-type', 'text/html').end(pageHtml));
  await new Promise<void>((resolve) => site.listen(port, '127.0.0.1', resolve));
  const callOutcome = await client.call('places__where');
  assert.equal(callOutcome.isError, false, callOutcome.text);
  const tabs = await stack.listTabs();
  assert.deepEqual([tabs.length, tabs[0]?.loadError], [1, undefined]);
  site.closeAllConnections();
  site.close();
});

test('a site that accepts connections and never answers fails the call, and calls run after the site answers', async (t) => {
  let isSiteSilent = true;
  const port = await serveSite(t, (_, response) => {
    if (isSiteSilent) return;
    response.setHeader('content-type', 'text/html');
    response.end(pageHtml);
  });
  await configureOpenUrl(`http://127.0.0.1:${port}/start`);
  assert.match(
    await expectNoTabError(),
    /was opened for the call, but its page can't be loaded: the site has not answered for 8 s; check that the site is running/,
  );
  assert.match((await stack.runCli('status')).stdout, /places \(the site does not answer\)/);
  // The second call must reload the tab that the first call opened, not open another tab.
  await expectNoTabError();
  assert.equal((await stack.listTabs()).length, 1);
  isSiteSilent = false;
  await waitFor('a successful call', async () => !(await client.call('places__where')).isError);
  assert.equal((await stack.listTabs()).length, 1);
});

for (const [name, makeUnreachableUrl, reason] of [
  ['refuses connections', async () => `http://dead.localhost:${await findFreePort()}/`, /net::ERR_CONNECTION_REFUSED/],
  ['never answers', undefined, /the site has not answered for 8 s/],
] as const) {
  test(`a page that redirects to a site without a plugin, which ${name}, fails the call`, async (t) => {
    const unresponsivePort = await serveSite(t, () => undefined);
    const redirectUrl = makeUnreachableUrl ? await makeUnreachableUrl() : `http://dead.localhost:${unresponsivePort}/`;
    let isSiteRepaired = false;
    const port = await serveSite(t, (_, response) => {
      response.writeHead(isSiteRepaired ? 200 : 302, { 'content-type': 'text/html', location: redirectUrl });
      response.end(pageHtml);
    });
    await configureOpenUrl(`http://127.0.0.1:${port}/start`);
    const answerText = await expectNoTabError();
    assert.match(answerText, /was opened for the call, but its page can't be loaded/);
    assert.match(answerText, reason);
    assert.doesNotMatch(answerText, /dead\.localhost/);
    assert.match(await expectNoTabError(), /its page can't be loaded/);
    isSiteRepaired = true;
    const callOutcome = await waitFor('a successful call', async () => {
      const callOutcome = await client.call('places__where');
      return callOutcome.isError ? undefined : callOutcome;
    });
    assert.deepEqual(
      [Object(callOutcome.structured).path, (await stack.listTabs()).length],
      ['/start', 1],
      callOutcome.text,
    );
  });
}

test('a page that loads slowly does not fail the call', async (t) => {
  const port = await serveSite(t, (_, response) => {
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.write(pageHtml);
      setTimeout(() => response.end('<p>the end'), 9000);
    }, 4000);
  });
  await configureOpenUrl(`http://127.0.0.1:${port}/start`);
  const callOutcome = await client.call('places__where');
  assert.deepEqual([callOutcome.isError, Object(callOutcome.structured).path], [false, '/start'], callOutcome.text);
});

/** Promise: a call whose tab can't load ends within 10 s with the network's reason, and runs as soon as the site is back. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { freePort } from './harness/chromium.ts';
import type { McpClient } from './harness/client.ts';
import { places, type Stack, startStack } from './harness/stack.ts';
import { until } from './harness/wait.ts';

/** LimitMs is how long such a call may take, in milliseconds. */
const LimitMs = 10_000;

let stack: Stack;
let client: McpClient;

before(async () => {
  stack = await startStack({ plugins: [places] });
  client = await stack.client();
});
after(() => stack?.close());

/** refused calls a tool that can't run, and returns what the agent reads. */
async function refused(args: Record<string, unknown> = {}): Promise<string> {
  const began = Date.now();
  const out = await client.call('places__where', args);
  const tookMs = Date.now() - began;
  assert.equal(out.code, 'no_tab', out.text);
  assert.ok(tookMs < LimitMs, `the call took ${tookMs} ms: ${out.text}`);
  return out.text;
}

/** onlyTab opens a tab at url, which may fail to load, and closes all others. */
async function onlyTab(url: string): Promise<number> {
  const page = await stack.chrome.open('about:blank');
  for (const other of stack.chrome.context.pages()) if (other !== page) await other.close();
  await page.goto(url).catch(() => undefined);
  const tab = await until('the error page', async () =>
    (await stack.tabs()).find((one) => one.url === url && one.loadError !== undefined),
  );
  return tab.tabId;
}

test('the permission that this needs adds no warning at the installation', async () => {
  const worker = await until('the worker', () => stack.chrome.context.serviceWorkers()[0]);
  const [all, without] = await worker.evaluate(async () => {
    const manifest = chrome.runtime.getManifest();
    const permissions = manifest.permissions?.filter((p) => p !== 'webNavigation');
    const manifests = [manifest, { ...manifest, permissions }];
    return Promise.all(manifests.map((m) => chrome.management.getPermissionWarningsByManifest(JSON.stringify(m))));
  });
  assert.deepEqual(all, without);
  assert.equal(all?.length, 1, String(all));
});

test('a call in a tab whose page cannot load names the reason, for each kind of failure', async () => {
  const closed = `http://127.0.0.1:${await freePort()}/`;
  assert.match(
    await refused({ tabId: await onlyTab(closed) }),
    /its page can't be loaded \(tab .*the server refused the connection \(net::ERR_CONNECTION_REFUSED\); check that the site is running/,
  );
  // A new worker has not seen the failure.
  await stack.chrome.stopWorker();
  await until('the new worker', async () =>
    (await stack.tabs()).some((one) => one.url === closed && one.loadError === undefined),
  );
  assert.match(await refused(), /net::ERR_CONNECTION_REFUSED/);
  const tls = `https://127.0.0.1:${new URL(stack.site.origin).port}/`;
  await onlyTab(tls);
  assert.match(await refused(), /no secure connection to the site is possible \(net::ERR_SSL_PROTOCOL_ERROR\)/);
  assert.match((await stack.cli('status')).stdout, /places \(the page can't be loaded: net::ERR_SSL_PROTOCOL_ERROR\)/);
  const silent = createServer((request) => request.socket.destroy());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const address = silent.address();
  assert.ok(address !== null && typeof address === 'object');
  await onlyTab(`http://127.0.0.1:${address.port}/`);
  assert.match(await refused(), /the server sent no answer \(net::ERR_EMPTY_RESPONSE\)/);
  silent.close();
});

test('a page that was opened for a call and cannot load fails the call; the next one runs once the site is back', async () => {
  const port = await freePort();
  const set = await fetch(`http://127.0.0.1:${stack.port}/plugins/places/settings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ values: { site: `http://127.0.0.1:${port}/start` } }),
  });
  assert.equal(set.status, 200, await set.text());
  const allowed = await stack.cli('plugin', 'permission', 'places', '--open-tabs', 'on');
  assert.equal(allowed.code, 0, allowed.stderr);
  const front = await stack.chrome.open('about:blank#front');
  for (const page of stack.chrome.context.pages()) if (page !== front) await page.close();
  await until('no tab', async () => (await stack.tabs()).length === 0);
  assert.match(
    await refused(),
    /was opened for the call, but its page can't be loaded: the server refused the connection \(net::ERR_CONNECTION_REFUSED\)/,
  );
  // The second call loads the same tab once more.
  assert.match(await refused(), /is open, but its page can't be loaded .*net::ERR_CONNECTION_REFUSED/);
  assert.equal((await stack.tabs()).length, 1);
  const site = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>Back</title><link rel="icon" href="data:,">');
  });
  await new Promise<void>((resolve) => site.listen(port, '127.0.0.1', resolve));
  const out = await client.call('places__where');
  assert.equal(out.isError, false, out.text);
  const tabs = await stack.tabs();
  assert.deepEqual([tabs.length, tabs[0]?.loadError], [1, undefined]);
  site.closeAllConnections();
  site.close();
});

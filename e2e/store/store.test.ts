/**
 * The extension from a store connects with a pairing code, and works only on the sites that the user allows in the side
 * panel.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Chrome, deriveExtensionId, findFreePort, launchChrome } from '../harness/chromium.ts';
import { type CallOutcome, connectHttp, type McpClient } from '../harness/client.ts';
import { addClient } from '../harness/daemon-api.ts';
import { copyMessagesPlugin } from '../harness/home.ts';
import { repositoryRoot, runOrThrow, type StartedCommand, startOpentabs, stopProcess } from '../harness/process.ts';
import { type Site, startSite } from '../harness/site.ts';
import { waitFor } from '../harness/wait.ts';
import { unpackStorePackage } from './store-package.ts';

let homeFolder: string;
let env: Record<string, string>;
let daemon: StartedCommand | undefined;
let chrome: Chrome;
let panel: Page;
let client: McpClient;
let site: Site;
let allowedSite: string;
let otherSite: string;

before(async () => {
  mkdirSync(`${repositoryRoot}e2e/out`, { recursive: true });
  homeFolder = mkdtempSync(join(tmpdir(), 'opentabs-e2e-'));
  const extension = join(homeFolder, 'extension');
  unpackStorePackage(extension);
  const port = await findFreePort();
  env = {
    OPENTABS_HOME: homeFolder,
    OPENTABS_PORT: String(port),
    OPENTABS_STORE_EXTENSIONS: `chrome=${deriveExtensionId(extension)}`,
    NO_COLOR: '1',
  };
  const plugin = join(homeFolder, 'messages-plugin');
  copyMessagesPlugin(plugin);
  await runOrThrow(['plugin', 'build', plugin], env);
  await runOrThrow(['plugin', 'install', plugin, '--permission', 'auto'], env);
  await runOrThrow(['browser', 'tools', 'on'], env);
  site = await startSite();
  allowedSite = site.origin;
  otherSite = site.origin.replace('127.0.0.1', 'localhost');
  for (const siteHost of [allowedSite, otherSite]) await runOrThrow(['browser', 'site', siteHost, 'auto'], env);
  daemon = startOpentabs(['serve'], env);
  await waitFor('the daemon to answer /healthz', async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok);
  client = await connectHttp(port, await addClient(env, 'e2e'));
  chrome = await launchChrome({ extension, grantableSites: ['*://127.0.0.1/*'] });
  panel = await chrome.openPanel();
  await panel.getByLabel('Port of the server').fill(String(port));
  await panel.getByRole('button', { name: 'Use this port' }).click();
});
after(async () => {
  await client?.close();
  await chrome?.close();
  if (daemon) await stopProcess(daemon);
  await site?.close();
  rmSync(homeFolder, { recursive: true, force: true, maxRetries: 5 });
});

const openTab = (url: string) => client.call('browser_tabs', { action: 'new', url, focus: true });

const callEcho = () => client.call('messages__echo', { value: 'hello' });

function assertFailure(callOutcome: CallOutcome, errorPattern: RegExp): void {
  assert.equal(callOutcome.isError, true, callOutcome.text);
  assert.match(callOutcome.text, errorPattern);
}

test('the pairing code connects the extension, whose ID a setting allows', async () => {
  const command = panel.locator('.pairing code');
  await command.waitFor();
  await panel.screenshot({ path: `${repositoryRoot}e2e/out/store-pairing.png` });
  const [, , code = ''] = ((await command.textContent()) ?? '').split(' ');
  await runOrThrow(['pair', code], env);
  await panel.locator('header .link', { hasText: 'Connected' }).waitFor();
});

test('on a site that the user has not allowed, calls fail and name the next step', async () => {
  const { text: errorPattern } = await openTab(`${allowedSite}/`);
  assert.match(errorPattern, /The tab shows the page, but Chrome gives opentabs no access to 127\.0\.0\.1/);
  assertFailure(
    await client.call('browser_snapshot'),
    /Chrome gives opentabs no access to 127\.0\.0\.1; ask the user to open the side panel of opentabs and to press "Allow on 127\.0\.0\.1"/,
  );
  assertFailure(
    await callEcho(),
    /Messages is open, but Chrome gives opentabs no access to its site .*Ask the user to open the side panel of opentabs and to press "Allow on"/,
  );
  const status = await runOrThrow(['status'], env);
  assert.match(status, /messages \(Chrome gives the extension no access to the site\)/);
  await panel.screenshot({ path: `${repositoryRoot}e2e/out/store-needed.png` });
  await panel.getByRole('tab', { name: /Plugins/ }).click();
  await panel.getByText('Messages: no access to the site').waitFor();
  await panel.screenshot({ path: `${repositoryRoot}e2e/out/store-plugins.png` });
});

test('after a click in the side panel, a plugin and browser tools work on this site and on no other', async () => {
  await panel.getByRole('tab', { name: 'Calls' }).click();
  await panel.getByRole('button', { name: 'Allow on 127.0.0.1' }).click();
  await panel.getByText('An agent needs access').waitFor({ state: 'detached' });
  const snapshot = await client.call('browser_snapshot');
  assert.equal(snapshot.isError, false, snapshot.text);
  const callOutcome = await callEcho();
  assert.equal(callOutcome.isError, false, callOutcome.text);
  assert.match(callOutcome.text, /hello/);

  const { text: errorPattern } = await openTab(`${otherSite}/`);
  assert.match(errorPattern, /Chrome gives opentabs no access to localhost/);
  assertFailure(await client.call('browser_snapshot'), /no access to localhost/);
  const tabId = Number(/Opened tab (\d+)/.exec(errorPattern)?.[1]);
  assertFailure(await client.call('messages__echo', { value: 'hello', tabId }), /no access to its site/);
  await panel.getByText('An agent needs access to localhost.').waitFor();
});

test('a screenshot needs access to all sites, and the error names the switch', async () => {
  await openTab(`${allowedSite}/`);
  assertFailure(
    await client.call('browser_take_screenshot'),
    /access to all sites\..*switch on "All sites" .*code=needs_permission/,
  );
});

test('calls fail again on a site that the user has removed', async () => {
  await panel.getByRole('tab', { name: 'Browser' }).click();
  await panel.getByRole('heading', { name: 'Sites in Chrome' }).scrollIntoViewIfNeeded();
  await panel.screenshot({ path: `${repositoryRoot}e2e/out/store-sites.png` });
  await panel.getByRole('button', { name: 'Remove access to 127.0.0.1' }).click();
  await panel.getByRole('button', { name: 'Allow on 127.0.0.1' }).first().waitFor();
  assertFailure(await client.call('browser_snapshot'), /no access to 127\.0\.0\.1/);
  // The plugin's adapter still runs in the page, but the user has revoked the access to the site.
  assertFailure(await callEcho(), /no access to/);
});

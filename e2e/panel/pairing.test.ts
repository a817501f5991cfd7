/**
 * An extension without the file connection.json connects after the user has run `opentabs pair` with the code
 * from the side panel.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Chrome, findFreePort, launchChrome } from '../harness/chromium.ts';
import { getJson } from '../harness/daemon-api.ts';
import { runOpentabs, runOrThrow, type StartedCommand, startOpentabs, stopProcess } from '../harness/process.ts';
import { waitFor } from '../harness/wait.ts';
import { saveScreenshots } from './screenshot.ts';

let homeFolder: string;
let env: Record<string, string>;
let port: number;
let daemon: StartedCommand;
let chrome: Chrome;
let panel: Page;

before(async () => {
  homeFolder = mkdtempSync(join(tmpdir(), 'opentabs-e2e-'));
  port = await findFreePort();
  env = { OPENTABS_HOME: homeFolder, OPENTABS_PORT: String(port), NO_COLOR: '1' };
  const extension = join(homeFolder, 'unpacked');
  await runOrThrow(['extension', 'install', '--dir', extension], env);
  rmSync(join(extension, 'connection.json'));
  daemon = startOpentabs(['serve'], env);
  await waitFor('the daemon to answer /healthz', async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok);
  chrome = await launchChrome({ extension });
  panel = await chrome.openPage(`chrome-extension://${chrome.extensionId}/panel.html`);
});
after(async () => {
  await chrome?.close();
  await stopProcess(daemon);
  rmSync(homeFolder, { recursive: true, force: true, maxRetries: 5 });
});

const readPairCommand = async () => (await panel.locator('.pairing code').textContent()) ?? '';
const waitForHeading = (headingName: string, timeout = 60_000) =>
  panel.locator('.notice h2', { hasText: headingName }).waitFor({ timeout });

interface ListedBrowser {
  readonly connected: boolean;
}

async function listBrowsers(): Promise<readonly ListedBrowser[]> {
  const token = readFileSync(join(homeFolder, 'token'), 'utf8').trim();
  const browsers: unknown = Object(await getJson({ port, token }, '/status')).browsers;
  return Array.isArray(browsers) ? browsers : [];
}

test('the panel shows a command and the port, and a wrong code connects no browser', async () => {
  await waitForHeading('Pair this browser with opentabs.');
  assert.match(await readPairCommand(), /^opentabs pair [0-9A-Z]{5}(-[0-9A-Z]{5}){3}$/);
  await panel.getByLabel('Port of the server').fill(String(port));
  await panel.getByRole('button', { name: 'Use this port' }).click();
  await waitFor(
    'the panel to show the new port',
    async () => (await panel.getByLabel('Port of the server').inputValue()) === String(port),
  );
  const invalidCodeResult = await runOpentabs(['pair', '00000-00000-00000-00000'], env);
  assert.equal(invalidCodeResult.code, 2);
  assert.match(invalidCodeResult.stderr, /the browser shows another code, so the code was not kept/);
  assert.match((await runOpentabs(['pair', 'nonsense'], env)).stderr, /a code has 20 letters and digits/);
  assert.deepEqual(await listBrowsers(), []);
  await saveScreenshots(panel, 'pairing');
});

test('the code connects the browser, which stays paired with a new key', async () => {
  const [, , code = ''] = (await readPairCommand()).split(' ');
  const pairCommandResult = await runOpentabs(['pair', code.toLowerCase()], env);
  assert.equal(pairCommandResult.code, 0, pairCommandResult.stderr);
  assert.match(pairCommandResult.stderr, /the browser .* is paired and connected/);
  await panel.locator('header .link', { hasText: 'Connected' }).waitFor();
  await panel.locator('.pairing').waitFor({ state: 'detached' });
  // After a restart, the extension's worker has only the stored key, and no pairing code.
  await chrome.stopWorker();
  await panel.reload();
  await waitFor('the browser to connect again', async () => (await listBrowsers()).some(({ connected }) => connected));
  const pairingList = JSON.parse(await runOrThrow(['pair', 'list', '--json'], env));
  assert.deepEqual([pairingList.length, pairingList[0].confirmed], [1, true]);
  assert.equal(
    readFileSync(join(homeFolder, 'paired-browsers.json'), 'utf8').includes(code.replaceAll('-', '')),
    false,
  );
});

test('a removed pairing ends the link, and the panel offers a new code', async () => {
  const [{ id }] = JSON.parse(await runOrThrow(['pair', 'list', '--json'], env));
  await runOrThrow(['pair', 'remove', id], env);
  await waitForHeading('The server does not know this browser.');
  await panel.getByRole('button', { name: 'Show a new pairing code' }).click();
  // Without a report of the new code, the panel shows the code only after the next start of the worker, up to 30 s later.
  await waitForHeading('Pair this browser with opentabs.', 20_000);
  const pairCommandResult = await runOpentabs(['pair', (await readPairCommand()).split(' ')[2] ?? ''], env);
  assert.equal(pairCommandResult.code, 0, pairCommandResult.stderr);
});

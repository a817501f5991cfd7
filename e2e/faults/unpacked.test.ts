/** An extension installed with "Load unpacked" works after every restart of the browser. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Browser } from '../harness/browser.ts';
import { findFreePort } from '../harness/chromium.ts';
import { type DaemonAddress, getJson } from '../harness/daemon-api.ts';
import { runOrThrow, type StartedCommand, startOpentabs, stopProcess } from '../harness/process.ts';
import { type Site, startSite } from '../harness/site.ts';
import { writeSmallPlugin } from '../harness/small-plugin.ts';
import type { Tab } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';

const homeFolder = mkdtempSync(join(tmpdir(), 'opentabs-e2e-'));
let site: Site | undefined;
let daemon: StartedCommand | undefined;
let browser: Browser | undefined;

after(async () => {
  await browser?.close();
  if (daemon) await stopProcess(daemon);
  await site?.close();
  rmSync(homeFolder, { recursive: true, force: true, maxRetries: 5 });
});

test('the first page and a later page get their plugin after each of three browser restarts', async () => {
  const port = await findFreePort();
  const env = { OPENTABS_HOME: homeFolder, OPENTABS_PORT: String(port) };
  const extension = join(homeFolder, 'unpacked');
  const hash = writeSmallPlugin(join(homeFolder, 'small'), {
    name: 'small',
    version: 1,
    urlPatterns: ['http://127.0.0.1/*'],
  });
  await runOrThrow(['plugin', 'add', join(homeFolder, 'small'), '--permission', 'auto'], env);
  await runOrThrow(['extension', 'install', '--dir', extension], env);
  site = await startSite();
  browser = new Browser(join(homeFolder, 'profile'), extension);
  await browser.install(); // closes the browser while the worker starts, which could end a handshake with a server
  daemon = startOpentabs(['serve', '--log-level', 'debug'], env);
  await waitFor('the server', async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok);
  const server: DaemonAddress = { port, token: readFileSync(join(homeFolder, 'token'), 'utf8').trim() };
  for (let restartCount = 0; restartCount <= 3; restartCount++) {
    const urls = [`${site.origin}/with-${restartCount}`, `${site.origin}/later-${restartCount}`];
    const [firstUrl = '', secondUrl = ''] = urls;
    await browser.start(firstUrl);
    for (const url of urls) {
      if (url === secondUrl) await browser.cdp.sendCommand('Target.createTarget', { url });
      await waitFor(`the plugin in ${url}`, async () => {
        const { browsers } = Object(await getJson(server, '/status'));
        const tabs: Tab[] = Array.isArray(browsers) ? browsers.flatMap((browser) => Object(browser).tabs ?? []) : [];
        return tabs.some((tab) => tab.url === url && tab.plugins?.some((plugin) => Object(plugin).hash === hash));
      });
    }
    await browser.close();
  }
  assert.doesNotMatch(daemon.stderr(), /link ended before hello/, 'no link must end during its handshake');
});

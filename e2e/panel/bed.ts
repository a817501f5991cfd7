/** A browser with the extension, its panel, and a server that a test plays. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page, Worker } from 'playwright-core';
import type { CallView } from '../../wire/wire.gen.ts';
import { type Chrome, launchChrome } from '../harness/chromium.ts';
import { runChecked } from '../harness/process.ts';
import { startSite } from '../harness/site.ts';
import { waitFor } from '../harness/wait.ts';
import { type FakeServer, startFakeServer } from './fake-server.ts';

/** Bed is what a test of the panel lies in. */
export interface Bed {
  readonly server: FakeServer;
  readonly chrome: Chrome;
  /** panel is the panel's page in a tab of its own, 360 px wide: a side panel can't be made as high as what it shows. */
  readonly panel: Page;
  readonly worker: Worker;
  /** site is a page that a plugin matches, and tabId its tab's. */
  readonly site: Page;
  readonly tabId: number;
  /** show tells the panel of calls; they are there a moment later. */
  show(calls: readonly CallView[]): void;
  close(): Promise<void>;
}

/** makeBed brings all up. */
export async function makeBed(): Promise<Bed> {
  const home = mkdtempSync(join(tmpdir(), 'opentabs-panel-'));
  const extension = join(home, 'unpacked');
  await runChecked(['extension', 'install', '--dir', extension], { OPENTABS_HOME: home, NO_COLOR: '1' });
  const server = await startFakeServer(extension);
  server.sync([
    { name: 'messages', displayName: 'Messages', hash: 'aa', script: 's', world: 'main', matches: ['*://127.0.0.1/*'] },
  ]);
  const chrome = await launchChrome({ extension });
  const web = await startSite();
  const site = await chrome.openPage(web.url);
  const tabId = await waitFor('the tab', () => server.tabs().find((tab) => tab.url === web.url)?.tabId);
  const panel = await chrome.openPage(`chrome-extension://${chrome.extensionId}/panel.html`);
  await panel.setViewportSize({ width: 360, height: 640 });
  return {
    server,
    chrome,
    panel,
    worker: await waitFor('the service worker', () => chrome.context.serviceWorkers()[0]),
    site,
    tabId,
    show(calls) {
      const running = calls.filter((one) => one.status === 'running' || one.status === 'pending').length;
      server.tell('state.sync', { serverVersion: '0.1.0', calls, running });
    },
    async close() {
      await chrome.close();
      await server.close();
      await web.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Starts a browser with the extension and the side panel, connected to a fake daemon that the test controls. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page, Worker } from 'playwright-core';
import type { CallView, StateSyncParams } from '../../wire/wire.gen.ts';
import { type Chrome, launchChrome } from '../harness/chromium.ts';
import { fillHome } from '../harness/home.ts';
import { startSite } from '../harness/site.ts';
import { waitFor } from '../harness/wait.ts';
import { type FakeServer, startFakeServer } from './fake-server.ts';

export interface PanelFixture {
  readonly server: FakeServer;
  readonly chrome: Chrome;
  /** The side panel's page is open in a tab, because a screenshot of a tab can be as high as the whole page. */
  readonly panel: Page;
  readonly worker: Worker;
  readonly sitePage: Page;
  readonly tabId: number;
  /** The panel keeps ended calls that it received earlier, until the panel's page is reloaded. */
  showCalls(calls: readonly CallView[], stateFields?: Partial<StateSyncParams>): void;
  close(): Promise<void>;
}

export interface PanelFixtureOptions {
  /** isNewUser simulates a user who has made no successful call, so that the side panel shows the setup checklist. */
  readonly isNewUser?: boolean;
  readonly userScripts?: boolean;
}

export async function startPanelFixture(options: PanelFixtureOptions = {}): Promise<PanelFixture> {
  const homeFolder = mkdtempSync(join(tmpdir(), 'opentabs-panel-'));
  const { extensionFolder: extension } = await fillHome(homeFolder, 0);
  const server = await startFakeServer(extension);
  server.syncPlugins([
    { name: 'messages', displayName: 'Messages', hash: 'aa', script: 's', world: 'main', matches: ['*://127.0.0.1/*'] },
  ]);
  const chrome = await launchChrome({ extension, userScripts: options.userScripts ?? true });
  const siteServer = await startSite();
  const sitePage = await chrome.openPage(siteServer.url);
  const tabId = await waitFor(
    "the extension to report the site's tab",
    () => server.listTabs().find((tab) => tab.url === siteServer.url)?.tabId,
  );
  const worker = await waitFor('the service worker to start', () => chrome.context.serviceWorkers()[0]);
  if (options.isNewUser !== true) await worker.evaluate("chrome.storage.local.set({ hadSuccess: 'yes' })");
  const panel = await chrome.openPage(`chrome-extension://${chrome.extensionId}/panel.html`);
  await panel.setViewportSize({ width: 360, height: 640 });
  return {
    server,
    chrome,
    panel,
    worker,
    sitePage,
    tabId,
    showCalls(calls, stateFields = {}) {
      const isOpen = ({ status }: CallView) => status === 'running' || status === 'pending';
      const [openCalls, endedCalls] = [calls.filter(isOpen), calls.filter((call) => !isOpen(call))];
      server.notifyPanel('state.sync', {
        serverVersion: '0.1.0',
        calls: openCalls,
        ended: endedCalls,
        running: openCalls.length,
        ...stateFields,
      });
    },
    async close() {
      await chrome.close();
      await server.close();
      await siteServer.close();
      rmSync(homeFolder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A real headless Chromium with the opentabs extension. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { waitFor } from './wait.ts';

/** Chrome is a running browser with a separate profile. */
export interface Chrome {
  readonly context: BrowserContext;
  readonly extensionId: string;
  /** The port of the DevTools protocol; see cdp.ts. */
  readonly debugPort: number;
  openPage(url: string): Promise<Page>;
  /** openPanel opens the side panel by a click on the extension's icon and returns the panel as a page. */
  openPanel(): Promise<Page>;
  /** stopWorker stops the extension's service worker, as Chrome does when the worker is idle. */
  stopWorker(): Promise<void>;
  close(): Promise<void>;
}

/** ChromeOptions configure the start of a browser. */
export interface ChromeOptions {
  /** The folder of the unpacked extension. */
  readonly extension: string;
  /** Whether "Allow User Scripts" is on; default true. */
  readonly userScripts?: boolean;
  /** Folders of further unpacked extensions; default none. */
  readonly otherExtensions?: readonly string[];
  readonly args?: readonly string[];
}

/** extensionIdOf computes the extension's id, which Chrome derives from the manifest's key. */
export function extensionIdOf(folder: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  if (typeof manifest !== 'object' || manifest === null || !('key' in manifest) || typeof manifest.key !== 'string') {
    throw new Error(`${folder}/manifest.json has no key`);
  }
  const hash = createHash('sha256').update(Buffer.from(manifest.key, 'base64')).digest().subarray(0, 16);
  return [...hash].map((b) => String.fromCharCode(97 + (b >> 4), 97 + (b & 15))).join('');
}

/** chromiumPath is the path of the browser that tests run. */
export const chromiumPath = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** chromiumFlags returns the command-line flags of every browser in a test. extensions are the folders of extensions that are not in the profile. */
export function chromiumFlags(debugPort: number, extensions: readonly string[]): string[] {
  return [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    `--remote-debugging-port=${debugPort}`,
    ...(extensions.length > 0
      ? [`--disable-extensions-except=${extensions.join(',')}`, `--load-extension=${extensions.join(',')}`]
      : []),
  ];
}

/**
 * prepareProfile creates a profile with developer mode on. If userScripts is set, the extension in the profile may run
 * user scripts.
 */
export function prepareProfile(profile: string, extension: string, userScripts = true): void {
  mkdirSync(join(profile, 'Default'), { recursive: true });
  const settings = { [extension]: { user_scripts_enabled: userScripts } };
  const preferences = { extensions: { ui: { developer_mode: true }, settings } };
  writeFileSync(join(profile, 'Default', 'Preferences'), JSON.stringify(preferences));
}

/** launchChrome starts a browser in a new profile. */
export async function launchChrome(options: ChromeOptions): Promise<Chrome> {
  const extension = extensionIdOf(options.extension);
  const profile = mkdtempSync(join(tmpdir(), 'opentabs-chrome-'));
  prepareProfile(profile, extension, options.userScripts);
  const debugPort = await freePort();
  const context = await chromium.launchPersistentContext(profile, {
    headless: false,
    executablePath: chromiumPath,
    viewport: { width: 1000, height: 700 },
    // Playwright turns off the throttling of hidden tabs; users have the throttling on.
    ignoreDefaultArgs: [
      '--disable-background-timer-throttling',
      '--disable-backgrounding-occluded-windows',
      '--disable-renderer-backgrounding',
    ],
    args: [
      ...chromiumFlags(debugPort, [options.extension, ...(options.otherExtensions ?? [])]),
      ...(options.args ?? []),
    ],
  });
  let cdpBrowser: Browser | undefined;
  return {
    context,
    extensionId: extension,
    debugPort,
    async openPage(url) {
      const page = await context.newPage();
      await page.goto(url);
      return page;
    },
    async openPanel() {
      const opener = await context.newPage();
      await opener.goto(`chrome-extension://${extension}/panel.html`);
      await opener.evaluate(() => {
        document.addEventListener(
          'click',
          async () => {
            const window = await chrome.windows.getCurrent();
            await chrome.sidePanel.open({ windowId: window.id ?? 0 });
          },
          { once: true },
        );
      });
      await opener.mouse.click(2, 2);
      await waitFor('the side panel to open', () =>
        opener.evaluate(async () => {
          const types = [chrome.runtime.ContextType.SIDE_PANEL];
          return (await chrome.runtime.getContexts({ contextTypes: types })).length > 0;
        }),
      );
      await opener.close();
      // Playwright's own context does not list the side panel, but a CDP connection to the browser lists the panel.
      cdpBrowser ??= await chromium.connectOverCDP(`http://127.0.0.1:${debugPort}`);
      const browser = cdpBrowser;
      const panel = await waitFor('the page of the side panel', () =>
        browser
          .contexts()
          .flatMap((context) => context.pages())
          .find((page) => page.url().startsWith(`chrome-extension://${extension}/panel.html`)),
      );
      return panel;
    },
    async stopWorker() {
      const [page] = context.pages();
      if (!page) throw new Error('the browser has no tab');
      const session = await context.newCDPSession(page);
      await session.send('ServiceWorker.enable');
      await session.send('ServiceWorker.stopAllWorkers');
      await session.detach();
    },
    async close() {
      await cdpBrowser?.close();
      await context.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** freePort returns a free port on loopback. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('no port'));
        else resolve(address.port);
      });
    });
  });
}

/** A real headless Chromium with the opentabs extension. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { waitFor, withLimit } from './wait.ts';

/** Chrome is a running browser with a separate profile. */
export interface Chrome {
  readonly context: BrowserContext;
  readonly extensionId: string;
  /** The port of the DevTools protocol; see cdp.ts. */
  readonly debugPort: number;
  openPage(url: string): Promise<Page>;
  /** openPanel opens the side panel by a click on the extension's icon and returns the panel as a page. */
  openPanel(): Promise<Page>;
  /** findPanel returns the page of the side panel, or undefined if no side panel is open. */
  findPanel(): Promise<Page | undefined>;
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
  /**
   * Match patterns of sites that the user has granted before, so that Chrome grants the sites again without a
   * dialog, which a test could not answer. The extension has no access to these sites at first.
   */
  readonly grantableSites?: readonly string[];
  /** Environment variables of the browser, for example the variables of a simulated desktop (desktop.ts). */
  readonly env?: Readonly<Record<string, string>>;
  /** The folder for downloads; by default, the download folder of the user who runs the tests. */
  readonly downloadFolder?: string;
}

/**
 * extensionIdOf computes the extension's ID. Chrome derives the ID from the key in the manifest, or from the path
 * if the manifest has no key.
 */
export function extensionIdOf(folder: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  const { key }: { key?: unknown } = Object(manifest);
  const source = typeof key === 'string' ? Buffer.from(key, 'base64') : folder;
  const hash = createHash('sha256').update(source).digest().subarray(0, 16);
  return [...hash].map((b) => String.fromCharCode(97 + (b >> 4), 97 + (b & 15))).join('');
}

/** chromiumPath is the path of the browser that tests run. */
export const chromiumPath = process.env.CHROMIUM ?? '/usr/bin/chromium';

/**
 * disabledFeatures are the features of Chromium that are off in every test. The flag replaces the list that Playwright
 * passes, so the features of that list are repeated here.
 */
const disabledFeatures = [
  // Two hidden pages of the address bar, which use a third of the CPU time of a start.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  // Requests to servers of Google.
  'AimEnabled',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PreconnectToSearch',
  // Features that Playwright cannot handle, or that change addresses of local sites.
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
];

const disableFeatures = '--disable-features=';

/**
 * chromiumFlags returns the command-line flags of a browser. extensions are the folders of extensions that are not in
 * the profile. otherFlags are the flags of one test. Chromium reads only the last --disable-features, so chromiumFlags
 * adds the features in otherFlags to the features that are off in every test.
 */
export function chromiumFlags(
  debugPort: number,
  extensions: readonly string[],
  otherFlags: readonly string[] = [],
): string[] {
  const otherFeatures = otherFlags
    .filter((flag) => flag.startsWith(disableFeatures))
    .map((flag) => flag.slice(disableFeatures.length));
  return [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    `${disableFeatures}${[...disabledFeatures, ...otherFeatures].join(',')}`,
    `--remote-debugging-port=${debugPort}`,
    ...(extensions.length > 0
      ? [`--disable-extensions-except=${extensions.join(',')}`, `--load-extension=${extensions.join(',')}`]
      : []),
    ...otherFlags.filter((flag) => !flag.startsWith(disableFeatures)),
  ];
}

/**
 * prepareProfile creates a profile with developer mode on. If userScripts is set, the extension in the profile may run
 * user scripts.
 */
export function prepareProfile(
  profile: string,
  extension: string,
  userScripts = true,
  downloadFolder?: string,
  grantableSites: readonly string[] = [],
): void {
  mkdirSync(join(profile, 'Default'), { recursive: true });
  const granted = { api: [], explicit_host: grantableSites, manifest_permissions: [], scriptable_host: [] };
  const settings = {
    [extension]: {
      user_scripts_enabled: userScripts,
      ...(grantableSites.length > 0 ? { runtime_granted_permissions: granted } : {}),
    },
  };
  const preferences = {
    extensions: { ui: { developer_mode: true }, settings },
    ...(downloadFolder === undefined ? {} : { download: { default_directory: downloadFolder } }),
  };
  writeFileSync(join(profile, 'Default', 'Preferences'), JSON.stringify(preferences));
}

/** launchChrome starts a browser in a new profile. */
export async function launchChrome(options: ChromeOptions): Promise<Chrome> {
  const extension = extensionIdOf(options.extension);
  const profile = mkdtempSync(join(tmpdir(), 'opentabs-chrome-'));
  prepareProfile(profile, extension, options.userScripts, options.downloadFolder, options.grantableSites);
  const debugPort = await freePort();
  const context = await chromium.launchPersistentContext(profile, {
    headless: false,
    executablePath: chromiumPath,
    viewport: { width: 1000, height: 700 },
    // A browser without a simulated desktop must not show notifications on the developer's desktop.
    env: { ...process.env, DBUS_SESSION_BUS_ADDRESS: 'disabled:', ...options.env },
    // Playwright turns off the throttling of hidden tabs; users have the throttling on.
    ignoreDefaultArgs: [
      '--disable-background-timer-throttling',
      '--disable-backgrounding-occluded-windows',
      '--disable-renderer-backgrounding',
    ],
    args: chromiumFlags(debugPort, [options.extension, ...(options.otherExtensions ?? [])], options.args),
  });
  context.pages().forEach(limitOperations);
  context.on('page', limitOperations);
  let cdpBrowser: Browser | undefined;
  /**
   * findExtensionPage finds a page of the extension, such as the side panel, which only a CDP connection to the
   * browser lists.
   */
  const findExtensionPage = async (file: string): Promise<Page | undefined> => {
    cdpBrowser ??= await chromium.connectOverCDP(`http://127.0.0.1:${debugPort}`);
    return cdpBrowser
      .contexts()
      .flatMap((context) => context.pages())
      .find((page) => page.url().startsWith(`chrome-extension://${extension}/${file}`));
  };
  return {
    context,
    extensionId: extension,
    debugPort,
    async openPage(url) {
      const page = await withLimit(`opening a tab for ${url}`, context.newPage());
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
      return await waitFor('the page of the side panel', () => findExtensionPage('panel.html'));
    },
    findPanel: () => findExtensionPage('panel.html'),
    async stopWorker() {
      const [page] = context.pages();
      if (!page) throw new Error('the browser has no tab');
      const session = await context.newCDPSession(page);
      await session.send('ServiceWorker.enable');
      await session.send('ServiceWorker.stopAllWorkers');
      await session.detach();
    },
    async close() {
      await withLimit('the end of the browser', Promise.all([cdpBrowser?.close(), context.close()]));
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** CloseAgainMs is the time between two attempts to close a tab, in milliseconds. */
const CloseAgainMs = 5_000;

/** limitOperations sets a time limit for the page operations that Playwright does not limit. */
function limitOperations(page: Page): void {
  const closeOnce = page.close.bind(page);
  page.close = async (options) => {
    // A tab stays open if Chrome commits a navigation of the tab, such as a reload by the extension, while the tab
    // closes. Playwright ignores a second close without runBeforeUnload.
    const timer = setInterval(() => void closeOnce({ runBeforeUnload: true }).catch(() => undefined), CloseAgainMs);
    try {
      await closeOnce(options);
    } finally {
      clearInterval(timer);
    }
  };
  for (const name of ['bringToFront', 'close', 'evaluate'] as const) {
    const operation: unknown = Reflect.get(page, name);
    if (typeof operation !== 'function') throw new Error(`a page has no operation ${name}`);
    Reflect.set(page, name, (...args: unknown[]) =>
      withLimit(`page.${name} in ${page.url()}`, Promise.resolve(Reflect.apply(operation, page, args))),
    );
  }
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

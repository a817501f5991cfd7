/** Launches a real headless Chromium with the opentabs extension. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { OperationTimeoutMs, waitFor, withOperationTimeout } from './wait.ts';

export interface Chrome {
  readonly context: BrowserContext;
  readonly extensionId: string;
  readonly debugPort: number;
  openPage(url: string): Promise<Page>;
  openPanel(): Promise<Page>;
  findPanel(): Promise<Page | undefined>;
  stopWorker(): Promise<void>;
  close(): Promise<void>;
}

export interface ChromeOptions {
  readonly extension: string;
  /** userScripts turns on Chrome's setting "Allow User Scripts"; true by default. */
  readonly userScripts?: boolean;
  readonly otherExtensions?: readonly string[];
  readonly args?: readonly string[];
  /**
   * grantableSites are match patterns of sites that the extension can get access to without a dialog. Tests cannot
   * answer Chrome's dialog, and Chrome shows none for sites to which the user granted access before.
   */
  readonly grantableSites?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly downloadFolder?: string;
}

/** Chrome derives the ID of an unpacked extension from the manifest's key, or from the folder's path without a key. */
export function deriveExtensionId(folder: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  const { key }: { key?: unknown } = Object(manifest);
  const extensionIdSource = typeof key === 'string' ? Buffer.from(key, 'base64') : folder;
  const hash = createHash('sha256').update(extensionIdSource).digest().subarray(0, 16);
  return [...hash].map((b) => String.fromCharCode(97 + (b >> 4), 97 + (b & 15))).join('');
}

/** The environment variable CHROMIUM overrides the default path of Chromium. */
export const chromiumPath = process.env.CHROMIUM ?? '/usr/bin/chromium';

/**
 * Chromium reads only the last --disable-features, so disabledFeatures repeats the features that Playwright turns off.
 */
const disabledFeatures = [
  // Two hidden pages of the address bar use a third of the CPU time of a browser start.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  // The Chromium features in the next lines send requests to Google's servers.
  'AimEnabled',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PreconnectToSearch',
  // The Chromium features in the next lines do not work with Playwright, or change the URLs of local sites.
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

export function makeChromiumFlags(
  debugPort: number,
  extensionFolders: readonly string[],
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
    ...(extensionFolders.length > 0
      ? [`--disable-extensions-except=${extensionFolders.join(',')}`, `--load-extension=${extensionFolders.join(',')}`]
      : []),
    ...otherFlags.filter((flag) => !flag.startsWith(disableFeatures)),
  ];
}

export function prepareProfile(
  profile: string,
  extension: string,
  userScripts = true,
  downloadFolder?: string,
  grantableSites: readonly string[] = [],
): void {
  mkdirSync(join(profile, 'Default'), { recursive: true });
  const grantedPermissions = { api: [], explicit_host: grantableSites, manifest_permissions: [], scriptable_host: [] };
  const settings = {
    [extension]: {
      user_scripts_enabled: userScripts,
      ...(grantableSites.length > 0 ? { runtime_granted_permissions: grantedPermissions } : {}),
    },
  };
  const profilePreferences = {
    extensions: { ui: { developer_mode: true }, settings },
    ...(downloadFolder === undefined ? {} : { download: { default_directory: downloadFolder } }),
  };
  writeFileSync(join(profile, 'Default', 'Preferences'), JSON.stringify(profilePreferences));
}

export async function launchChrome(options: ChromeOptions): Promise<Chrome> {
  const extension = deriveExtensionId(options.extension);
  const profile = mkdtempSync(join(tmpdir(), 'opentabs-chrome-'));
  prepareProfile(profile, extension, options.userScripts, options.downloadFolder, options.grantableSites);
  const debugPort = await findFreePort();
  const context = await chromium.launchPersistentContext(profile, {
    headless: false,
    timeout: OperationTimeoutMs,
    executablePath: chromiumPath,
    viewport: { width: 1000, height: 700 },
    // Without a simulated desktop, the browser must not show notifications on the developer's real desktop.
    env: { ...process.env, DBUS_SESSION_BUS_ADDRESS: 'disabled:', ...options.env },
    // Playwright turns off the throttling of hidden tabs, which is active in the browsers of users.
    ignoreDefaultArgs: [
      '--disable-background-timer-throttling',
      '--disable-backgrounding-occluded-windows',
      '--disable-renderer-backgrounding',
    ],
    args: makeChromiumFlags(debugPort, [options.extension, ...(options.otherExtensions ?? [])], options.args),
  });
  context.setDefaultTimeout(OperationTimeoutMs);
  context.pages().forEach(addOperationTimeouts);
  context.on('page', addOperationTimeouts);
  let cdpBrowser: Browser | undefined;
  /** Playwright lists the side panel only over a separate CDP connection. */
  const findExtensionPage = async (file: string): Promise<Page | undefined> => {
    if (!cdpBrowser) {
      cdpBrowser = await chromium.connectOverCDP(`http://127.0.0.1:${debugPort}`, { timeout: OperationTimeoutMs });
      for (const context of cdpBrowser.contexts()) context.setDefaultTimeout(OperationTimeoutMs);
    }
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
      const page = await withOperationTimeout(`opening a tab for ${url}`, context.newPage());
      await page.goto(url);
      return page;
    },
    async openPanel() {
      const openerPage = await context.newPage();
      await openerPage.goto(`chrome-extension://${extension}/panel.html`);
      await openerPage.evaluate(async () => {
        // Chrome opens the side panel only shortly after a click, so the click handler does not wait for the window.
        const { id = 0 } = await chrome.windows.getCurrent();
        document.addEventListener('click', () => void chrome.sidePanel.open({ windowId: id }), { once: true });
      });
      await openerPage.mouse.click(2, 2);
      await waitFor('the side panel to open', () =>
        openerPage.evaluate(async () => {
          const panelContextTypes = [chrome.runtime.ContextType.SIDE_PANEL];
          return (await chrome.runtime.getContexts({ contextTypes: panelContextTypes })).length > 0;
        }),
      );
      await openerPage.close();
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
      await withOperationTimeout('the end of the browser', Promise.all([cdpBrowser?.close(), context.close()]));
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

const CloseRetryMs = 5_000;

function addOperationTimeouts(page: Page): void {
  const closePage = page.close.bind(page);
  page.close = async (options) => {
    // Playwright ignores a second page.close() unless runBeforeUnload is set.
    const timer = setInterval(() => void closePage({ runBeforeUnload: true }).catch(() => undefined), CloseRetryMs);
    try {
      await closePage(options);
    } finally {
      clearInterval(timer);
    }
  };
  for (const name of ['bringToFront', 'close', 'evaluate'] as const) {
    const operation: unknown = Reflect.get(page, name);
    if (typeof operation !== 'function') throw new Error(`a page has no operation ${name}`);
    Reflect.set(page, name, (...args: unknown[]) =>
      withOperationTimeout(`page.${name} in ${page.url()}`, Promise.resolve(Reflect.apply(operation, page, args))),
    );
  }
}

/**
 * The operating system gives ports below 32,768 neither to outgoing connections nor to servers that listen on port 0.
 */
export function findFreePort(): Promise<number> {
  const port = 12_000 + Math.floor(Math.random() * 20_000);
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', (error) => {
      if ('code' in error && error.code === 'EADDRINUSE') findFreePort().then(resolve, reject);
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(port)));
  });
}

/** Starts a complete setup: a daemon, a browser with the extension, a plugin, and a local site in a tab. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type Chrome, type ChromeOptions, findFreePort, launchChrome } from './chromium.ts';
import { connectHttp, connectStdio, type FormHandler, type McpClient } from './client.ts';
import { type CallRecord, fetchCallRecords, getJson } from './daemon-api.ts';
import { fillHome, messagesPlugin } from './home.ts';
import { grantOptionalPermissions } from './permissions.ts';
import { type CommandResult, runOpentabs, type StartedCommand, startOpentabs, stopProcess } from './process.ts';
import { type Proxy as LinkProxy, startProxy } from './proxy.ts';
import { type Site, startSite } from './site.ts';
import { waitFor } from './wait.ts';

export interface StackOptions {
  readonly serveFlags?: readonly string[];
  readonly chrome?: Partial<ChromeOptions>;
  readonly hasProxy?: boolean;
  readonly installFlags?: readonly string[];
  readonly hasOptionalPermissions?: boolean;
  readonly plugins?: readonly ExtraPlugin[];
}

export interface ExtraPlugin {
  readonly dir: string;
  readonly permission?: 'off' | 'ask' | 'auto';
}

export const placesPlugin: ExtraPlugin = { dir: 'e2e/testdata/places' };

export const everythingPlugin: ExtraPlugin = { dir: 'e2e/testdata/everything' };

export interface Stack {
  readonly homeFolder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly port: number;
  readonly token: string;
  readonly clientToken: string;
  readonly extensionFolder: string;
  readonly pluginFolder: string;
  readonly site: Site;
  readonly chrome: Chrome;
  readonly proxy: LinkProxy | undefined;
  readonly page: Page;
  daemon: StartedCommand;
  connectHttp(answerForm?: FormHandler): Promise<McpClient>;
  connectStdio(answerForm?: FormHandler): Promise<McpClient>;
  runCli(...args: string[]): Promise<CommandResult>;
  readStatus(): Promise<DaemonStatus>;
  listTabs(): Promise<readonly Tab[]>;
  listCalls(): Promise<readonly CallRecord[]>;
  openTab(path: string): Promise<Page>;
  waitForPlugins(path: string): Promise<void>;
  restartDaemon(signal: NodeJS.Signals, serveFlags?: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export const clientTransports = [
  ['http', (stack: Stack) => stack.connectHttp()],
  ['stdio', (stack: Stack) => stack.connectStdio()],
] as const;

export interface DaemonStatus {
  readonly browsers?: readonly {
    readonly id: string;
    readonly name: string;
    readonly tabs?: readonly Tab[];
    readonly held_tabs?: readonly { readonly tab_id: number; readonly taken?: boolean }[];
  }[];
  readonly plugins?: readonly { readonly name: string; readonly state: string; readonly changed?: boolean }[];
}

export interface Tab {
  readonly tabId: number;
  readonly url: string;
  readonly active: boolean;
  readonly discarded?: boolean;
  readonly loadError?: string;
  readonly plugins?: readonly TabPlugin[];
  readonly frames?: readonly { readonly url: string; readonly plugins?: readonly TabPlugin[] }[];
}

export interface TabPlugin {
  readonly name: string;
  readonly ready?: boolean;
}

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const homeFolder = mkdtempSync(join(tmpdir(), 'opentabs-e2e-'));
  const port = await findFreePort();
  const env = {
    OPENTABS_HOME: homeFolder,
    OPENTABS_PORT: String(port),
    NO_COLOR: '1',
    // Turn off the rate limits for browser actions and screenshots, because tests act faster than agents.
    OPENTABS_BROWSER_ACTS: '0',
    OPENTABS_BROWSER_PICTURES: '0',
  };
  const extraPlugins = options.plugins ?? [];
  const extraSources = extraPlugins.map(({ dir, permission = 'auto' }, i) => {
    return { folder: `plugin-${i}`, sources: [dir], permission };
  });
  const {
    extensionFolder: extension,
    token,
    clientToken,
  } = await fillHome(homeFolder, port, {
    plugins: [messagesPlugin, ...extraSources],
    clientName: 'e2e',
    installFlags: options.installFlags ?? [],
  });
  if (options.hasOptionalPermissions) grantOptionalPermissions(extension);
  const site = await startSite();
  const startDaemon = (flags = options.serveFlags ?? []) => startOpentabs(['serve', ...flags], env);
  let daemon = startDaemon();
  const waitForDaemon = () =>
    waitFor('the daemon to answer /healthz', async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok);
  let proxy: LinkProxy | undefined;
  const startChrome = async (): Promise<Chrome> => {
    await waitForDaemon();
    proxy = options.hasProxy ? await startProxy(port) : undefined;
    const proxyArgs = proxy ? [`--host-resolver-rules=MAP 127.0.0.1:${port} 127.0.0.1:${proxy.port}`] : [];
    return launchChrome({ extension, ...options.chrome, args: [...(options.chrome?.args ?? []), ...proxyArgs] });
  };
  const closeServers = async () => {
    await proxy?.close();
    await stopProcess(daemon);
    await site.close();
  };
  const chrome = await startChrome().catch(async (error: unknown) => {
    await closeServers(); // an open server prevents the test process from exiting
    throw error;
  });
  const clients: McpClient[] = [];
  const closeClientWithStack = (client: McpClient) => {
    clients.push(client);
    return client;
  };
  const server = { port, token };
  // Tests poll the daemon over HTTP, because an HTTP request is much cheaper than a start of `opentabs status`.
  const readStatus = async (): Promise<DaemonStatus> => {
    const value = await getJson(server, '/status');
    return isStatus(value) ? value : {};
  };
  const listTabs = async () => (await readStatus()).browsers?.flatMap((browser) => browser.tabs ?? []) ?? [];
  const waitForPlugins = async (path: string) => {
    await waitFor(`the plugin in ${path}`, async () =>
      (await listTabs()).some(
        (tab) => tab.url === `${site.origin}${path}` && (tab.plugins ?? []).length > extraPlugins.length,
      ),
    );
  };
  const openFirstPage = async (): Promise<Page> => {
    await waitFor('the browser to connect to the daemon', async () => ((await readStatus()).browsers ?? []).length > 0);
    const page = await chrome.openPage(site.url);
    await waitForPlugins('/');
    return page;
  };
  let page: Page;
  try {
    page = await openFirstPage();
  } catch (error) {
    await chrome.close();
    await closeServers();
    throw error;
  }
  return {
    homeFolder,
    env,
    port,
    token,
    clientToken,
    extensionFolder: extension,
    pluginFolder: join(homeFolder, messagesPlugin.folder),
    site,
    chrome,
    proxy,
    page,
    get daemon() {
      return daemon;
    },
    connectHttp: async (answerForm) => closeClientWithStack(await connectHttp(port, clientToken, answerForm)),
    connectStdio: async (answerForm) => closeClientWithStack(await connectStdio(env, answerForm)),
    runCli: (...args) => runOpentabs(args, env),
    readStatus,
    listTabs,
    listCalls: () => fetchCallRecords(server),
    async openTab(path) {
      const newPage = await chrome.openPage(`${site.origin}${path}`);
      await waitForPlugins(path);
      return newPage;
    },
    waitForPlugins,
    async restartDaemon(signal, serveFlags) {
      await stopProcess(daemon, signal);
      daemon = startDaemon(serveFlags);
      await waitForDaemon();
    },
    async close() {
      await Promise.allSettled(clients.map((client) => client.close()));
      await chrome.close();
      await closeServers();
      rmSync(homeFolder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function isStatus(value: unknown): value is DaemonStatus {
  return typeof value === 'object' && value !== null;
}

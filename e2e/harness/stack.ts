/** A complete setup: the daemon, the extension in a browser, a plugin, and a site that is open in a tab. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { addClient } from './api.ts';
import { type Chrome, type ChromeOptions, freePort, launch } from './chromium.ts';
import { connectHttp, connectStdio, type FormHandler, type McpClient } from './client.ts';
import { type CommandResult, must, type Running, root, run, start, stop } from './process.ts';
import { type Site, startSite } from './site.ts';
import { until } from './wait.ts';

/** StackOptions override defaults of startStack. */
export interface StackOptions {
  /** Flags for opentabs serve, for example ['--idle-timeout', '3s']. */
  readonly serve?: readonly string[];
  readonly chrome?: Partial<ChromeOptions>;
  /** Plugins to add besides messages. */
  readonly plugins?: readonly ExtraPlugin[];
  /** Start no browser. */
  readonly noChrome?: boolean;
}

/** ExtraPlugin is a plugin that is built and added before the daemon starts. */
export interface ExtraPlugin {
  readonly dir: string;
  /** The permission of the plugin's tools; "auto" if absent. */
  readonly permission?: 'off' | 'ask' | 'auto';
}

/** places is a plugin whose tools return the document they run in; it works in frames too. */
export const places: ExtraPlugin = { dir: 'e2e/testdata/places' };

/** everything is a plugin with one tool for each feature of a call. */
export const everything: ExtraPlugin = { dir: 'e2e/testdata/everything' };

/** Stack is a running opentabs with a browser, a site and clients. */
export interface Stack {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  readonly port: number;
  /** The administrator's token. */
  readonly token: string;
  /** The token of the MCP client e2e. */
  readonly clientToken: string;
  readonly extension: string;
  readonly plugin: string;
  readonly site: Site;
  readonly chrome: Chrome;
  /** The tab that shows the site. */
  readonly page: Page;
  daemon: Running;
  /** client connects over HTTP, stdioClient over `opentabs mcp`. answerForm answers the forms that the client receives. */
  client(answerForm?: FormHandler): Promise<McpClient>;
  stdioClient(answerForm?: FormHandler): Promise<McpClient>;
  cli(...args: string[]): Promise<CommandResult>;
  status(): Promise<Status>;
  /** tabs returns the tabs that match a plugin, of all browsers. */
  tabs(): Promise<readonly Tab[]>;
  calls(): Promise<readonly CallView[]>;
  /** open opens another tab and waits until all plugins are live in it. */
  open(path: string): Promise<Page>;
  /** live waits until all plugins are live in a tab of the site that shows path. */
  live(path: string): Promise<void>;
  restartDaemon(signal: NodeJS.Signals): Promise<void>;
  close(): Promise<void>;
}

/** bothWays are the two transports between a client and the daemon, by name. */
export const bothWays = [
  ['http', (stack: Stack) => stack.client()],
  ['stdio', (stack: Stack) => stack.stdioClient()],
] as const;

/** Status is what tests read of opentabs status --json. */
export interface Status {
  readonly browsers?: readonly { readonly id: string; readonly tabs?: readonly Tab[] }[];
  readonly plugins?: readonly { readonly name: string; readonly state: string }[];
}

/** Tab is what tests read of one tab. */
export interface Tab {
  readonly tabId: number;
  readonly url: string;
  readonly active: boolean;
  readonly discarded?: boolean;
  readonly loadError?: string;
  readonly plugins?: readonly TabPlugin[];
  readonly frames?: readonly { readonly url: string; readonly plugins?: readonly TabPlugin[] }[];
}

/** TabPlugin is what tests read of a plugin in a document. */
export interface TabPlugin {
  readonly name: string;
  readonly ready?: boolean;
}

/** CallView is what tests read of opentabs calls --json. */
export interface CallView {
  readonly call_id: string;
  readonly tool_name: string;
  readonly status: string;
  readonly reports: number;
  readonly invalid_reports?: number;
  readonly stopped?: string;
  readonly cancel_reason?: string;
  readonly error_code?: string;
  readonly tab_id?: number;
}

/** startStack starts a stack and waits until the plugin is live in the site's tab. */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const home = mkdtempSync(join(tmpdir(), 'opentabs-e2e-'));
  const port = await freePort();
  const env = { OPENTABS_HOME: home, OPENTABS_PORT: String(port), NO_COLOR: '1' };
  const plugin = join(home, 'messages-plugin');
  cpSync(join(root, 'sdk-ts/examples/messages'), plugin, { recursive: true });
  await must(['plugin', 'build', plugin], env);
  await must(['plugin', 'add', plugin, '--permission', 'auto'], env);
  const extra = options.plugins ?? [];
  for (const [i, { dir, permission = 'auto' }] of extra.entries()) {
    const copy = join(home, `plugin-${i}`);
    cpSync(join(root, dir), copy, { recursive: true });
    await must(['plugin', 'build', copy], env);
    await must(['plugin', 'add', copy, '--permission', permission], env);
  }
  const extension = join(home, 'unpacked');
  await must(['extension', 'install', '--dir', extension], env);
  const site = await startSite();
  const serve = () => start(['serve', ...(options.serve ?? [])], env);
  let daemon = serve();
  const healthy = () => until('the daemon', async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok);
  await healthy();
  const token = readFileSync(join(home, 'token'), 'utf8').trim();
  const clientToken = await addClient(env, 'e2e');
  const chrome = await launch({ extension, ...options.chrome });
  const clients: McpClient[] = [];
  const keep = (client: McpClient) => {
    clients.push(client);
    return client;
  };
  const json = async (...args: string[]): Promise<unknown> => JSON.parse(await must([...args, '--json'], env));
  const status = async (): Promise<Status> => {
    const value: unknown = await json('status');
    return isStatus(value) ? value : {};
  };
  const tabs = async () => (await status()).browsers?.flatMap((b) => b.tabs ?? []) ?? [];
  const live = async (path: string) => {
    await until(`the plugin in ${path}`, async () =>
      (await tabs()).some((t) => t.url === `${site.origin}${path}` && (t.plugins ?? []).length > extra.length),
    );
  };
  const firstPage = async (): Promise<Page> => {
    await until('the browser at the daemon', async () => ((await status()).browsers ?? []).length > 0);
    const page = await chrome.open(site.url);
    await live('/');
    return page;
  };
  let page: Page;
  try {
    page = await firstPage();
  } catch (error) {
    await chrome.close();
    await stop(daemon);
    await site.close();
    throw error;
  }
  return {
    home,
    env,
    port,
    token,
    clientToken,
    extension,
    plugin,
    site,
    chrome,
    page,
    get daemon() {
      return daemon;
    },
    client: async (answerForm) => keep(await connectHttp(port, clientToken, answerForm)),
    stdioClient: async (answerForm) => keep(await connectStdio(env, answerForm)),
    cli: (...args) => run(args, env),
    status,
    tabs,
    async calls() {
      const value: unknown = await json('calls');
      return Array.isArray(value) ? value.filter(isCallView) : [];
    },
    async open(path) {
      const opened = await chrome.open(`${site.origin}${path}`);
      await live(path);
      return opened;
    },
    live,
    async restartDaemon(signal) {
      await stop(daemon, signal);
      daemon = serve();
      await healthy();
    },
    async close() {
      await Promise.allSettled(clients.map((c) => c.close()));
      await chrome.close();
      await stop(daemon);
      await site.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function isStatus(value: unknown): value is Status {
  return typeof value === 'object' && value !== null;
}

function isCallView(value: unknown): value is CallView {
  return typeof value === 'object' && value !== null && 'call_id' in value;
}

/**
 * Starts the processes of a soak test: a daemon, a browser, a TCP proxy between daemon and browser, and a test site.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Browser } from '../harness/browser.ts';
import { findFreePort } from '../harness/chromium.ts';
import { fillHome } from '../harness/home.ts';
import { type StartedCommand, startOpentabs } from '../harness/process.ts';
import { type Proxy as LinkProxy, startProxy } from '../harness/proxy.ts';
import { type Site, startSite } from '../harness/site.ts';
import { pause, waitFor } from '../harness/wait.ts';
import { limitsByName, maxResultBytes, maxRunning, type TimeoutLimits } from './plan.ts';
import { makeRawHttpClient } from './raw-http.ts';

export interface SystemStatus {
  readonly memory: { readonly heap_bytes: number; readonly system_bytes: number; readonly goroutines: number };
  readonly calls: { readonly running: number; readonly queued: number };
  readonly browsers: readonly {
    readonly connected: boolean;
    readonly running: number;
    readonly tabs: readonly Tab[];
  }[];
  readonly clients: readonly { readonly name: string; readonly transport: string }[];
}

export interface Tab {
  readonly tabId: number;
  readonly url: string;
  readonly plugins?: readonly { readonly problem?: string }[];
}

export class SystemUnderTest {
  readonly homeFolder = mkdtempSync(join(tmpdir(), 'opentabs-soak-'));
  readonly paths: readonly string[];
  env: Readonly<Record<string, string>> = {};
  port = 0;
  token = '';
  clientToken = '';
  limits: TimeoutLimits = 'short';
  /** handlerStartCounts maps the key of each call to how often pages have started a handler for the call. */
  readonly handlerStartCounts = new Map<string, number>();
  #site: Site | undefined;
  #proxy: LinkProxy | undefined;
  #browser: Browser | undefined;
  #startedServers: StartedCommand[] = [];

  readonly #extraSettings: Readonly<Record<string, number | string>>;

  constructor(tabs: number, settings: Readonly<Record<string, number | string>> = {}) {
    this.#extraSettings = settings;
    this.paths = Array.from({ length: tabs }, (_, i) => `/tab${i}`);
  }

  get site(): Site {
    return requireStarted(this.#site);
  }

  get proxy(): LinkProxy {
    return requireStarted(this.#proxy);
  }

  get browser(): Browser {
    return requireStarted(this.#browser);
  }

  async start(): Promise<void> {
    this.port = await findFreePort();
    this.env = { OPENTABS_HOME: this.homeFolder, NO_COLOR: '1' };
    this.writeConfig('short');
    const plugins = [{ folder: 'work-plugin', sources: ['e2e/soak/testdata/work'] }];
    const home = await fillHome(this.homeFolder, this.port, { plugins, clientName: 'soak' });
    this.token = home.token;
    this.clientToken = home.clientToken;
    this.#proxy = await startProxy(this.port);
    this.#site = await startSite();
    await this.startServer();
    this.#browser = new Browser(join(this.homeFolder, 'profile'), home.extensionFolder, [
      // Chrome connects to the proxy instead of the daemon, so the extension needs no other configuration.
      `--host-resolver-rules=MAP 127.0.0.1:${this.port} 127.0.0.1:${this.proxy.port}`,
    ]);
    await this.browser.start();
    await waitFor('the browser to connect to the server', async () =>
      (await this.readStatus()).browsers.some((browser) => browser.connected),
    );
    await this.restoreTabs();
  }

  /** A daemon reads config.json only when it starts. */
  writeConfig(nextLimits: TimeoutLimits): void {
    this.limits = nextLimits;
    const { idleMs, hardMs } = limitsByName[nextLimits];
    const settings = {
      port: this.port,
      idleTimeout: `${idleMs}ms`,
      hardTimeout: `${hardMs}ms`,
      maxResultBytes,
      maxRunning,
      logLevel: 'warn',
      ...this.#extraSettings,
    };
    writeFileSync(join(this.homeFolder, 'config.json'), JSON.stringify(settings));
  }

  async startServer(): Promise<void> {
    this.#startedServers = this.#startedServers.filter(
      (command) => command.child.exitCode === null && command.child.signalCode === null,
    );
    this.#startedServers.push(startOpentabs(['serve'], this.env));
    await waitFor('the server to report its process id', () => this.serverPid());
  }

  async serverPid(): Promise<number> {
    const healthResponse: unknown = await (await fetch(`http://127.0.0.1:${this.port}/healthz`)).json();
    return Number(Object(healthResponse).pid);
  }

  async readStatus(): Promise<SystemStatus> {
    const headers = { authorization: `Bearer ${this.token}` };
    const statusResponse = await fetch(`http://127.0.0.1:${this.port}/status`, { headers });
    const status: unknown = await statusResponse.json();
    if (!isStatus(status)) throw new Error(`/status answered ${statusResponse.status}`);
    return status;
  }

  readServerLog(): string {
    return this.#startedServers.map((command) => command.stderr()).join('');
  }

  urlOf(path: string): string {
    return `${this.site.origin}${path}`;
  }

  async findPage(path: string): Promise<string | undefined> {
    return (await this.browser.listPages()).find((page) => page.url === this.urlOf(path))?.id;
  }

  async findTabId(path: string): Promise<number | undefined> {
    const { browsers } = await this.readStatus();
    return browsers.flatMap((browser) => browser.tabs).find((tab) => tab.url === this.urlOf(path))?.tabId;
  }

  async waitUntilCallsWork(precedingEvent: string, limitMs = 30_000): Promise<number> {
    const startMs = performance.now();
    await waitFor(
      `a call that works after ${precedingEvent}`,
      async () => {
        const probeClient = makeRawHttpClient('probe', this.port, this.clientToken);
        const ending = await probeClient.call('work__echo', { key: 'probe', value: 1 }, {});
        await probeClient.close();
        if (ending.code !== 'ok') throw new Error(`${ending.code}: ${ending.text}`);
        return true;
      },
      limitMs,
    );
    return performance.now() - startMs;
  }

  /** The first handler that waits adds two message ports to its document. Later handlers add none. */
  async runFirstWait(): Promise<void> {
    const client = makeRawHttpClient('first wait', this.port, this.clientToken);
    await client.call('work__steps', { key: 'probe', count: 1, everyMs: 1 }, {});
    await client.close();
  }

  async restoreTabs(): Promise<void> {
    for (const path of this.paths) {
      if ((await this.findPage(path)) === undefined)
        await this.browser.cdp.sendCommand('Target.createTarget', { url: this.urlOf(path) });
    }
    for (const path of this.paths) {
      await waitFor(`the plugin in ${path}`, () => this.isPluginLive(path), 2_000).catch(async () => {
        const id = await this.findPage(path);
        if (id) await this.browser.withPageSession(id, (page) => page.sendCommand('Page.reload'));
        await waitFor(`the plugin in ${path} after a reload`, () => this.isPluginLive(path));
      });
    }
  }

  async isPluginLive(path: string): Promise<boolean> {
    const { browsers } = await this.readStatus();
    const url = this.urlOf(path);
    return browsers.some(
      (browser) =>
        browser.connected &&
        browser.tabs.some((tab) => tab.url === url && tab.plugins?.some((plugin) => !plugin.problem)),
    );
  }

  async listRunningKeys(): Promise<string[]> {
    const keys: string[] = [];
    for (const { id, url } of await this.browser.listPages()) {
      if (!url.startsWith(this.site.origin)) continue;
      const runningText = await this.browser.withPageSession(id, (pageSession) =>
        pageSession.evaluate('document.documentElement.dataset.running ?? ""'),
      );
      keys.push(...String(runningText).split(' ').filter(Boolean));
    }
    return keys;
  }

  async describePageRunningCall(key: string): Promise<string> {
    for (const { id, url } of await this.browser.listPages()) {
      if (!url.startsWith(this.site.origin)) continue;
      const pageState = await this.browser.withPageSession(id, async (pageSession) => {
        const keys = String(await pageSession.evaluate('document.documentElement.dataset.running ?? ""')).split(' ');
        if (!keys.includes(key)) return undefined;
        const pageState = await pageSession.evaluate(
          'document.visibilityState + ", " + Math.round(performance.now()) + " ms old"',
        );
        const timer = pageSession.evaluate('new Promise((resolve) => setTimeout(() => resolve("its timers run"), 50))');
        return `${url}, ${pageState}, ${await Promise.race([timer, pause(3_000).then(() => 'its timers do not run')])}`;
      });
      if (pageState) return pageState;
    }
    return 'the page is gone';
  }

  countHandlerStarts(): void {
    for (const noteText of this.site.receivedNotes.splice(0)) {
      const [event, key] = noteText.split(' ');
      if (event === 'begin' && key) this.handlerStartCounts.set(key, (this.handlerStartCounts.get(key) ?? 0) + 1);
    }
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    const pid = await this.serverPid().catch(() => undefined);
    if (pid !== undefined) process.kill(pid, 'SIGTERM');
    await Promise.all(this.#startedServers.map((command) => command.commandResult));
    await this.#proxy?.close();
    await this.#site?.close();
    rmSync(this.homeFolder, { recursive: true, force: true, maxRetries: 10 });
  }
}

function requireStarted<T>(component: T | undefined): T {
  if (component === undefined) throw new Error('the system has not been started');
  return component;
}

function isStatus(value: unknown): value is SystemStatus {
  return typeof value === 'object' && value !== null && 'memory' in value && 'calls' in value && 'browsers' in value;
}

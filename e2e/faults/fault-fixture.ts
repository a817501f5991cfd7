/**
 * Starts what the fault tests need: a daemon, a browser, a TCP proxy between daemon and browser, a test site, and MCP
 * clients.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Browser } from '../harness/browser.ts';
import { findFreePort } from '../harness/chromium.ts';
import { connectHttp, connectStdio, type McpClient } from '../harness/client.ts';
import { fillHome, messagesPlugin } from '../harness/home.ts';
import { type StartedCommand, startOpentabs, stopProcess } from '../harness/process.ts';
import { type Proxy as LinkProxy, startProxy } from '../harness/proxy.ts';
import { type Site, startSite } from '../harness/site.ts';
import { pause, waitFor } from '../harness/wait.ts';

export interface Tab {
  readonly tabId: number;
  readonly windowId: number;
  readonly url: string;
  readonly documentId?: string;
  readonly plugins?: readonly unknown[];
}

export interface BrowserView {
  readonly id: string;
  readonly connected: boolean;
  readonly since: string;
  readonly tabs?: readonly Tab[];
  readonly held_tabs?: readonly unknown[];
}

/**
 * FaultFixture controls a daemon, a browser without a debugger, the TCP proxy that connects the two, a test site, and
 * MCP clients.
 */
export class FaultFixture {
  readonly homeFolder = mkdtempSync(join(tmpdir(), 'opentabs-faults-'));
  readonly extension = join(this.homeFolder, 'unpacked');
  readonly env: Readonly<Record<string, string>>;
  readonly port: number;
  readonly site: Site;
  readonly proxy: LinkProxy;
  token = '';
  clientToken = '';
  #browser: Browser | undefined;
  #server: StartedCommand | undefined;
  readonly #serveFlags: readonly string[];
  readonly #browsers: Browser[] = [];
  readonly #clients: McpClient[] = [];
  #tabCount = 0;

  private constructor(port: number, site: Site, proxy: LinkProxy, serveFlags: readonly string[]) {
    this.port = port;
    this.site = site;
    this.proxy = proxy;
    this.#serveFlags = serveFlags;
    this.env = {
      OPENTABS_HOME: this.homeFolder,
      OPENTABS_PORT: String(port),
      NO_COLOR: '1',
      // Turn off the rate limits for browser actions and screenshots, because tests act faster than agents.
      OPENTABS_BROWSER_ACTS: '0',
      OPENTABS_BROWSER_PICTURES: '0',
      OPENTABS_UPLOAD_FOLDERS: join(this.homeFolder, 'uploads'),
    };
  }

  static start(...serveFlags: string[]): Promise<FaultFixture> {
    return FaultFixture.startWithFlags(serveFlags, []);
  }

  static async startWithFlags(serveFlags: readonly string[], installFlags: readonly string[]): Promise<FaultFixture> {
    const port = await findFreePort();
    const fixture = new FaultFixture(port, await startSite(), await startProxy(port), serveFlags);
    try {
      const homeOptions = { plugins: [messagesPlugin], clientName: 'faults', installFlags };
      const home = await fillHome(fixture.homeFolder, port, homeOptions);
      fixture.token = home.token;
      fixture.clientToken = home.clientToken;
      await fixture.startServer();
      fixture.#browser = fixture.newBrowser('profile');
      await fixture.browser.start();
      await fixture.waitForBrowser();
    } catch (error) {
      await fixture.close();
      throw error;
    }
    return fixture;
  }

  get browser(): Browser {
    if (!this.#browser) throw new Error('the browser has not been started');
    return this.#browser;
  }

  newBrowser(profile: string): Browser {
    const browser = new Browser(join(this.homeFolder, profile), this.extension, [
      `--host-resolver-rules=MAP 127.0.0.1:${this.port} 127.0.0.1:${this.proxy.port}`,
    ]);
    this.#browsers.push(browser);
    return browser;
  }

  async startServer(): Promise<void> {
    this.#server = startOpentabs(['serve', ...this.#serveFlags], this.env);
    await waitFor(
      'the server to answer /healthz',
      async () => (await fetch(`http://127.0.0.1:${this.port}/healthz`)).ok,
    );
  }

  async stopServer(signal: NodeJS.Signals): Promise<void> {
    if (this.#server) await stopProcess(this.#server, signal);
  }

  get serverPid(): number {
    const pid = this.#server?.child.pid;
    if (pid === undefined) throw new Error('the server has not been started');
    return pid;
  }

  browserPids(): number[] {
    const profilePath = join(this.homeFolder, 'profile');
    const processIds = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    const parentPids = new Map<number, number>();
    const browserProcessIds = new Set<number>();
    for (const name of processIds) {
      try {
        const processStat = readFileSync(`/proc/${name}/stat`, 'utf8');
        parentPids.set(Number(name), Number(processStat.slice(processStat.lastIndexOf(')') + 4).split(' ')[0]));
        if (readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(profilePath)) browserProcessIds.add(Number(name));
      } catch {
        // The process has exited since readdirSync listed the process in /proc.
      }
    }
    for (let hasNewProcess = true; hasNewProcess; ) {
      hasNewProcess = false;
      for (const [pid, parentPid] of parentPids) {
        if (!browserProcessIds.has(parentPid) || browserProcessIds.has(pid)) continue;
        browserProcessIds.add(pid);
        hasNewProcess = true;
      }
    }
    return [...browserProcessIds];
  }

  async suspendBrowser(durationMs: number, ...otherPids: readonly number[]): Promise<void> {
    const stoppedPids = [...this.browserPids(), ...otherPids];
    const sendSignalToAll = (signal: NodeJS.Signals) => {
      for (const pid of stoppedPids) {
        try {
          process.kill(pid, signal);
        } catch (error) {
          if (Object(error).code !== 'ESRCH') throw error;
        }
      }
    };
    sendSignalToAll('SIGSTOP');
    await pause(durationMs);
    sendSignalToAll('SIGCONT');
  }

  async connectHttp(): Promise<McpClient> {
    const client = await connectHttp(this.port, this.clientToken);
    this.#clients.push(client);
    return client;
  }

  async connectStdio(): Promise<McpClient> {
    const client = await connectStdio(this.env);
    this.#clients.push(client);
    return client;
  }

  async listBrowsers(): Promise<readonly BrowserView[]> {
    const headers = { authorization: `Bearer ${this.token}` };
    const status: unknown = await (await fetch(`http://127.0.0.1:${this.port}/status`, { headers })).json();
    const browsers: unknown = Object(status).browsers;
    return Array.isArray(browsers) ? browsers : [];
  }

  async countReports(tool: string): Promise<number> {
    const headers = { authorization: `Bearer ${this.token}` };
    const calls: unknown = await (await fetch(`http://127.0.0.1:${this.port}/calls`, { headers })).json();
    const callList: readonly unknown[] = Array.isArray(calls) ? calls : Object(calls).calls;
    return Number(Object(callList.find((call) => Object(call).tool_name === tool)).reports);
  }

  async waitForBrowser(count = 1): Promise<number> {
    const startMs = performance.now();
    await waitFor(
      'the browser to connect to the server',
      async () => (await this.listBrowsers()).filter((browser) => browser.connected).length === count,
    );
    return performance.now() - startMs;
  }

  async findLiveTab(path: string): Promise<Tab | undefined> {
    const tabs = (await this.listBrowsers())
      .filter((browser) => browser.connected)
      .flatMap((browser) => browser.tabs ?? []);
    return tabs.find((tab) => tab.url === this.urlOf(path) && tab.documentId !== undefined);
  }

  urlOf(path: string): string {
    return `${this.site.origin}${path}`;
  }

  async openTab(browser = this.browser): Promise<{ path: string; tab: Tab }> {
    const path = `/tab${++this.#tabCount}`;
    await browser.cdp.sendCommand('Target.createTarget', { url: this.urlOf(path) });
    return { path, tab: await waitFor(`the plugin in ${path}`, () => this.findLiveTab(path)) };
  }

  async findTarget(path: string): Promise<string> {
    const page = (await this.browser.listPages()).find((page) => page.url === this.urlOf(path));
    if (!page) throw new Error(`no tab shows ${path}`);
    return page.id;
  }

  async evaluateInPage(path: string, expression: string): Promise<unknown> {
    return this.browser.withPageSession(await this.findTarget(path), (page) => page.evaluate(expression));
  }

  /** A debugger is attached to the extension's service worker only during the evaluation. */
  evaluateInWorker(expression: string): Promise<unknown> {
    return this.browser.withWorkerSession((worker) => worker.evaluate(expression));
  }

  async stopWorker(): Promise<void> {
    const [page] = await this.browser.listPages();
    if (!page) throw new Error('the browser has no tab');
    await this.browser.withPageSession(page.id, async (session) => {
      await session.sendCommand('ServiceWorker.enable');
      await session.sendCommand('ServiceWorker.stopAllWorkers');
    });
  }

  async closeTabs(): Promise<void> {
    for (const { id, url } of await this.browser.listPages()) {
      if (url.startsWith(this.site.origin)) await this.browser.cdp.sendCommand('Target.closeTarget', { targetId: id });
    }
    await waitFor('all tabs to be closed', async () =>
      (await this.listBrowsers()).every((browser) => (browser.tabs ?? []).length === 0),
    );
  }

  async getDocumentCreatedMs(path: string): Promise<number> {
    return Number(await this.evaluateInPage(path, 'performance.timeOrigin'));
  }

  async waitForCancelInPage(path: string, documentCreatedMs: number): Promise<void> {
    await waitFor('the page to receive the cancel of its call', () =>
      this.evaluateInPage(
        path,
        `document.documentElement.dataset.aborted !== undefined || performance.timeOrigin > ${documentCreatedMs}`,
      ),
    );
  }

  async close(): Promise<void> {
    this.proxy.resume();
    await Promise.allSettled(this.#clients.map((client) => client.close()));
    await Promise.allSettled(this.#browsers.map((browser) => browser.close()));
    await this.stopServer('SIGTERM');
    await this.proxy.close();
    await this.site.close();
    rmSync(this.homeFolder, { recursive: true, force: true, maxRetries: 10 });
  }
}

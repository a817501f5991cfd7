/** The setup of a fault test: the built server, a real browser without a debugger, the proxy between them, a site in a tab, and a client. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Browser } from '../harness/browser.ts';
import { freePort } from '../harness/chromium.ts';
import { connectHttp, connectStdio, type McpClient } from '../harness/client.ts';
import { addClient } from '../harness/daemon-api.ts';
import { repositoryRoot, runChecked, type StartedCommand, startOpentabs, stopProcess } from '../harness/process.ts';
import { type Proxy as LinkProxy, startProxy } from '../harness/proxy.ts';
import { type Site, startSite } from '../harness/site.ts';
import { waitFor } from '../harness/wait.ts';

/** Tab is a tab in /status. */
export interface Tab {
  readonly tabId: number;
  readonly windowId: number;
  readonly url: string;
  readonly documentId?: string;
  readonly plugins?: readonly unknown[];
}

/** BrowserView is a browser in /status. */
export interface BrowserView {
  readonly id: string;
  readonly connected: boolean;
  /** The time when the link connected or disconnected. */
  readonly since: string;
  readonly tabs?: readonly Tab[];
}

/** Bed is a server, a browser, a proxy, a site and its clients. */
export class Bed {
  readonly home = mkdtempSync(join(tmpdir(), 'opentabs-faults-'));
  readonly extension = join(this.home, 'unpacked');
  readonly env: Readonly<Record<string, string>>;
  readonly port: number;
  readonly site: Site;
  readonly proxy: LinkProxy;
  token = '';
  clientToken = '';
  #browser: Browser | undefined;
  #server: StartedCommand | undefined;
  readonly #serve: readonly string[];
  readonly #browsers: Browser[] = [];
  readonly #clients: McpClient[] = [];
  #paths = 0;

  private constructor(port: number, site: Site, proxy: LinkProxy, serve: readonly string[]) {
    this.port = port;
    this.site = site;
    this.proxy = proxy;
    this.#serve = serve;
    this.env = { OPENTABS_HOME: this.home, OPENTABS_PORT: String(port), NO_COLOR: '1' };
  }

  /** make starts everything. serve are flags for opentabs serve. */
  static async make(...serve: string[]): Promise<Bed> {
    const port = await freePort();
    const bed = new Bed(port, await startSite(), await startProxy(port), serve);
    try {
      const plugin = join(bed.home, 'messages-plugin');
      cpSync(join(repositoryRoot, 'sdk-ts/examples/messages'), plugin, { recursive: true });
      await runChecked(['plugin', 'build', plugin], bed.env);
      await runChecked(['plugin', 'add', plugin, '--permission', 'auto'], bed.env);
      await runChecked(['extension', 'install', '--dir', bed.extension], bed.env);
      bed.token = readFileSync(join(bed.home, 'token'), 'utf8').trim();
      bed.clientToken = await addClient(bed.env, 'faults');
      await bed.startServer();
      bed.#browser = bed.newBrowser('profile');
      await bed.browser.start();
      await bed.connected();
    } catch (error) {
      await bed.close();
      throw error;
    }
    return bed;
  }

  get browser(): Browser {
    if (!this.#browser) throw new Error('there is no browser');
    return this.#browser;
  }

  /** newBrowser returns a browser that has not been started. The bed closes it. */
  newBrowser(profile: string): Browser {
    const browser = new Browser(join(this.home, profile), this.extension, [
      // The browser connects through the proxy, which is transparent.
      `--host-resolver-rules=MAP 127.0.0.1:${this.port} 127.0.0.1:${this.proxy.port}`,
    ]);
    this.#browsers.push(browser);
    return browser;
  }

  async startServer(): Promise<void> {
    this.#server = startOpentabs(['serve', ...this.#serve], this.env);
    await waitFor('the server', async () => (await fetch(`http://127.0.0.1:${this.port}/healthz`)).ok);
  }

  async stopServer(signal: NodeJS.Signals): Promise<void> {
    if (this.#server) await stopProcess(this.#server, signal);
  }

  get serverPid(): number {
    const pid = this.#server?.child.pid;
    if (pid === undefined) throw new Error('there is no server');
    return pid;
  }

  /** browserPids returns the ids of all processes of a browser. */
  browserPids(): number[] {
    const mark = join(this.home, 'profile');
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    const parents = new Map<number, number>();
    const found = new Set<number>();
    for (const name of all) {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ')[0]));
        if (readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(mark)) found.add(Number(name));
      } catch {
        // The process has just exited.
      }
    }
    for (let grown = true; grown; ) {
      grown = false;
      for (const [pid, parent] of parents) {
        if (!found.has(parent) || found.has(pid)) continue;
        found.add(pid);
        grown = true;
      }
    }
    return [...found];
  }

  /** client returns a new client over HTTP. */
  async client(): Promise<McpClient> {
    const client = await connectHttp(this.port, this.clientToken);
    this.#clients.push(client);
    return client;
  }

  async stdioClient(): Promise<McpClient> {
    const client = await connectStdio(this.env);
    this.#clients.push(client);
    return client;
  }

  async browsers(): Promise<readonly BrowserView[]> {
    const headers = { authorization: `Bearer ${this.token}` };
    const status: unknown = await (await fetch(`http://127.0.0.1:${this.port}/status`, { headers })).json();
    const browsers: unknown = Object(status).browsers;
    return Array.isArray(browsers) ? browsers : [];
  }

  /** reports returns the number of reports of the tool's call that ended last, as counted by the server. */
  async reports(tool: string): Promise<number> {
    const headers = { authorization: `Bearer ${this.token}` };
    const calls: unknown = await (await fetch(`http://127.0.0.1:${this.port}/calls`, { headers })).json();
    const list: readonly unknown[] = Array.isArray(calls) ? calls : Object(calls).calls;
    return Number(Object(list.find((call) => Object(call).tool_name === tool)).reports);
  }

  /** connected waits until a browser has a link and an adapter, and returns how long that took, in milliseconds. */
  async connected(count = 1): Promise<number> {
    const begun = performance.now();
    await waitFor(
      'the browser at the server',
      async () => (await this.browsers()).filter((b) => b.connected).length === count,
    );
    return performance.now() - begun;
  }

  /** tab returns the tab that shows a path, once the plugin is live in it. */
  async tab(path: string): Promise<Tab | undefined> {
    const tabs = (await this.browsers()).filter((b) => b.connected).flatMap((b) => b.tabs ?? []);
    return tabs.find((t) => t.url === this.url(path) && t.documentId !== undefined);
  }

  url(path: string): string {
    return `${this.site.origin}${path}`;
  }

  /** open opens a new tab and waits until the plugin is live in it. */
  async open(browser = this.browser): Promise<{ path: string; tab: Tab }> {
    const path = `/tab${++this.#paths}`;
    await browser.cdp.send('Target.createTarget', { url: this.url(path) });
    return { path, tab: await waitFor(`the plugin in ${path}`, () => this.tab(path)) };
  }

  /** target returns the id of the tab that shows a path, for the DevTools protocol. */
  async target(path: string): Promise<string> {
    const found = (await this.browser.listPages()).find((p) => p.url === this.url(path));
    if (!found) throw new Error(`no tab shows ${path}`);
    return found.id;
  }

  /** evaluate runs an expression in the page at this path. */
  async evaluate(path: string, expression: string): Promise<unknown> {
    return this.browser.inPage(await this.target(path), (page) => page.evaluate(expression));
  }

  /** inWorker evaluates in the service worker, with a debugger attached for that moment. */
  inWorker(expression: string): Promise<unknown> {
    return this.browser.inWorker((worker) => worker.evaluate(expression));
  }

  /** stopWorker stops the extension's service worker, as Chrome does when the worker is idle. */
  async stopWorker(): Promise<void> {
    const [page] = await this.browser.listPages();
    if (!page) throw new Error('the browser has no tab');
    await this.browser.inPage(page.id, async (session) => {
      await session.send('ServiceWorker.enable');
      await session.send('ServiceWorker.stopAllWorkers');
    });
  }

  /** closeTabs closes all tabs of the site. */
  async closeTabs(): Promise<void> {
    for (const { id, url } of await this.browser.listPages()) {
      if (url.startsWith(this.site.origin)) await this.browser.cdp.send('Target.closeTarget', { targetId: id });
    }
    await waitFor('no tab', async () => (await this.browsers()).every((b) => (b.tabs ?? []).length === 0));
  }

  /** born returns when the document at a path was created, in milliseconds since 1970. */
  async born(path: string): Promise<number> {
    return Number(await this.evaluate(path, 'performance.timeOrigin'));
  }

  /** stopReceived waits until the page at a path received the cancel, or was reloaded since it was born. */
  async stopReceived(path: string, born: number): Promise<void> {
    await waitFor('the page to receive the cancel', () =>
      this.evaluate(path, `document.documentElement.dataset.aborted !== undefined || performance.timeOrigin > ${born}`),
    );
  }

  async close(): Promise<void> {
    this.proxy.resume();
    await Promise.allSettled(this.#clients.map((c) => c.close()));
    await Promise.allSettled(this.#browsers.map((b) => b.close()));
    await this.stopServer('SIGTERM');
    await this.proxy.close();
    await this.site.close();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10 });
  }
}

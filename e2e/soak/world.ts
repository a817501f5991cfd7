/** What a soak breaks: server, browser with tabs, the proxy between them, a site, and the books of the handlers that ran. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Browser } from '../harness/browser.ts';
import { freePort } from '../harness/chromium.ts';
import { addClient } from '../harness/daemon-api.ts';
import { repositoryRoot, runChecked, type StartedCommand, startOpentabs } from '../harness/process.ts';
import { type Proxy as LinkProxy, startProxy } from '../harness/proxy.ts';
import { type Site, startSite } from '../harness/site.ts';
import { pause, waitFor } from '../harness/wait.ts';
import { type Limits, limits, maxResultBytes, maxRunning } from './plan.ts';
import { rawHttp } from './raw-http.ts';

/** Status is what the soak reads of /status. */
export interface Status {
  readonly memory: { readonly heap_bytes: number; readonly system_bytes: number; readonly goroutines: number };
  readonly calls: { readonly running: number; readonly pending: number };
  readonly browsers: readonly {
    readonly connected: boolean;
    readonly running: number;
    readonly tabs: readonly Tab[];
  }[];
  readonly clients: readonly { readonly name: string; readonly transport: string }[];
}

/** Tab is a tab in /status. */
export interface Tab {
  readonly tabId: number;
  readonly url: string;
  readonly plugins?: readonly { readonly problem?: string }[];
}

/** World is everything but the clients. */
export class World {
  readonly home = mkdtempSync(join(tmpdir(), 'opentabs-soak-'));
  readonly paths: readonly string[];
  env: Readonly<Record<string, string>> = {};
  port = 0;
  token = '';
  clientToken = '';
  limits: Limits = 'short';
  /** How often each key began to run in a page. */
  readonly begun = new Map<string, number>();
  #site: Site | undefined;
  #proxy: LinkProxy | undefined;
  #browser: Browser | undefined;
  #servers: StartedCommand[] = [];

  readonly #settings: Readonly<Record<string, number | string>>;

  /** The settings are those of config.json, beyond the limits that configure sets. */
  constructor(tabs: number, settings: Readonly<Record<string, number | string>> = {}) {
    this.#settings = settings;
    this.paths = Array.from({ length: tabs }, (_, i) => `/tab${i}`);
  }

  get site(): Site {
    return needed(this.#site);
  }

  get proxy(): LinkProxy {
    return needed(this.#proxy);
  }

  get browser(): Browser {
    return needed(this.#browser);
  }

  /** start brings everything up; when it returns, the plugin is live in every tab. */
  async start(): Promise<void> {
    this.port = await freePort();
    this.env = { OPENTABS_HOME: this.home, NO_COLOR: '1' };
    this.configure('short');
    const plugin = join(this.home, 'work-plugin');
    cpSync(join(repositoryRoot, 'e2e/soak/testdata/work'), plugin, { recursive: true });
    await runChecked(['plugin', 'build', plugin], this.env);
    await runChecked(['plugin', 'add', plugin, '--permission', 'auto'], this.env);
    const extension = join(this.home, 'unpacked');
    await runChecked(['extension', 'install', '--dir', extension], this.env);
    this.token = readFileSync(join(this.home, 'token'), 'utf8').trim();
    this.clientToken = await addClient(this.env, 'soak');
    this.#proxy = await startProxy(this.port);
    this.#site = await startSite();
    await this.startServer();
    this.#browser = new Browser(join(this.home, 'profile'), extension, [
      // The browser reaches the server through the proxy, and knows nothing of it.
      `--host-resolver-rules=MAP 127.0.0.1:${this.port} 127.0.0.1:${this.proxy.port}`,
    ]);
    await this.browser.start();
    await waitFor('the browser at the server', async () => (await this.status()).browsers.some((b) => b.connected));
    await this.heal();
  }

  /** configure writes the settings that the next server reads, whoever starts it: an `opentabs mcp` may be faster. */
  configure(next: Limits): void {
    this.limits = next;
    const { idleMs, hardMs } = limits[next];
    const settings = {
      port: this.port,
      idleTimeout: `${idleMs}ms`,
      hardTimeout: `${hardMs}ms`,
      maxResultBytes,
      maxRunning,
      logLevel: 'warn',
      ...this.#settings,
    };
    writeFileSync(join(this.home, 'config.json'), JSON.stringify(settings));
  }

  /** startServer starts a server unless a client has done it already. */
  async startServer(): Promise<void> {
    this.#servers = this.#servers.filter((s) => s.child.exitCode === null && s.child.signalCode === null);
    this.#servers.push(startOpentabs(['serve'], this.env));
    await waitFor('the server', () => this.serverPid());
  }

  /** serverPid asks the server for its process id. */
  async serverPid(): Promise<number> {
    const health: unknown = await (await fetch(`http://127.0.0.1:${this.port}/healthz`)).json();
    return Number(Object(health).pid);
  }

  async status(): Promise<Status> {
    const headers = { authorization: `Bearer ${this.token}` };
    const answer = await fetch(`http://127.0.0.1:${this.port}/status`, { headers });
    const status: unknown = await answer.json();
    if (!isStatus(status)) throw new Error(`/status answered ${answer.status}`);
    return status;
  }

  /** log is what the running servers have logged that this world started itself. */
  log(): string {
    return this.#servers.map((s) => s.stderr()).join('');
  }

  url(path: string): string {
    return `${this.site.origin}${path}`;
  }

  /** page returns the id of the tab that shows a path. */
  async page(path: string): Promise<string | undefined> {
    return (await this.browser.listPages()).find((p) => p.url === this.url(path))?.id;
  }

  /** tabId returns the number of the tab that shows a path, as agents name it. */
  async tabId(path: string): Promise<number | undefined> {
    const { browsers } = await this.status();
    return browsers.flatMap((b) => b.tabs).find((t) => t.url === this.url(path))?.tabId;
  }

  /** works waits until an echo comes back, as an agent's next call would, and returns how long that took. */
  async works(what: string, limitMs = 30_000): Promise<number> {
    const begun = performance.now();
    await waitFor(
      `a call that works after ${what}`,
      async () => {
        const probe = rawHttp('probe', this.port, this.clientToken);
        const ending = await probe.call('work__echo', { key: 'probe', value: 1 }, {});
        await probe.close();
        if (ending.code !== 'ok') throw new Error(`${ending.code}: ${ending.text}`);
        return true;
      },
      limitMs,
    );
    return performance.now() - begun;
  }

  /** heal opens what is missing and reloads what has no adapter, as a person would: the plugin is live in every tab afterwards. */
  async heal(): Promise<void> {
    for (const path of this.paths) {
      if ((await this.page(path)) === undefined)
        await this.browser.cdp.send('Target.createTarget', { url: this.url(path) });
    }
    for (const path of this.paths) {
      await waitFor(`the plugin in ${path}`, () => this.live(path), 2_000).catch(async () => {
        const id = await this.page(path);
        if (id) await this.browser.inPage(id, (page) => page.send('Page.reload'));
        await waitFor(`the plugin in ${path} after a reload`, () => this.live(path));
      });
    }
  }

  async live(path: string): Promise<boolean> {
    const { browsers } = await this.status();
    const url = this.url(path);
    return browsers.some((b) => b.connected && b.tabs.some((t) => t.url === url && t.plugins?.some((p) => !p.problem)));
  }

  /** running returns the keys of the handlers that run in any page now. */
  async running(): Promise<string[]> {
    const keys: string[] = [];
    for (const { id, url } of await this.browser.listPages()) {
      if (!url.startsWith(this.site.origin)) continue;
      const text = await this.browser.inPage(id, (p) => p.evaluate('document.documentElement.dataset.running ?? ""'));
      keys.push(...String(text).split(' ').filter(Boolean));
    }
    return keys;
  }

  /** whereRuns tells about the page in which a key is said to run: its address, whether it is visible, whether its timers run. */
  async whereRuns(key: string): Promise<string> {
    for (const { id, url } of await this.browser.listPages()) {
      if (!url.startsWith(this.site.origin)) continue;
      const state = await this.browser.inPage(id, async (p) => {
        const keys = String(await p.evaluate('document.documentElement.dataset.running ?? ""')).split(' ');
        if (!keys.includes(key)) return undefined;
        const age = await p.evaluate('document.visibilityState + ", " + Math.round(performance.now()) + " ms old"');
        const timer = p.evaluate('new Promise((resolve) => setTimeout(() => resolve("its timers run"), 50))');
        return `${url}, ${age}, ${await Promise.race([timer, pause(3_000).then(() => 'its timers stand still')])}`;
      });
      if (state) return state;
    }
    return 'no page any more';
  }

  /** count takes the notes of the pages into the books. */
  count(): void {
    for (const note of this.site.notes.splice(0)) {
      const [what, key] = note.split(' ');
      if (what === 'begin' && key) this.begun.set(key, (this.begun.get(key) ?? 0) + 1);
    }
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    const pid = await this.serverPid().catch(() => undefined);
    if (pid !== undefined) process.kill(pid, 'SIGTERM');
    await Promise.all(this.#servers.map((s) => s.ended));
    await this.#proxy?.close();
    await this.#site?.close();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10 });
  }
}

function needed<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('the world has not been started');
  return part;
}

function isStatus(value: unknown): value is Status {
  return typeof value === 'object' && value !== null && 'memory' in value && 'calls' in value && 'browsers' in value;
}

/** A Chromium that can be killed and started again with the same profile, and has no debugger attached but for single commands. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Cdp, connectCdp, type Session } from './cdp.ts';
import { extensionId, flags, freePort, prepareProfile, program } from './chromium.ts';
import { loadUnpacked } from './unpacked.ts';
import { until } from './wait.ts';

/** Browser is a running browser, or one that was killed and waits for start. */
export class Browser {
  readonly extensionId: string;
  readonly #profile: string;
  readonly #extension: string;
  readonly #args: readonly string[];
  #isInstalled = false;
  #child: ChildProcess | undefined;
  #cdp: Cdp | undefined;

  constructor(profile: string, extension: string, args: readonly string[] = []) {
    this.#args = args;
    this.#profile = profile;
    this.#extension = extension;
    this.extensionId = extensionId(extension);
    prepareProfile(profile, this.extensionId);
  }

  /** start opens a tab with this address. */
  async start(url = 'about:blank'): Promise<void> {
    const port = await freePort();
    this.#child = spawn(
      program,
      [
        ...flags(port, this.#isInstalled ? [] : [this.#extension]),
        '--hide-crash-restore-bubble',
        `--user-data-dir=${this.#profile}`,
        ...this.#args,
        url,
      ],
      { stdio: 'ignore' },
    );
    this.#cdp = await connectCdp(port);
  }

  /** install has the profile keep the extension, as "Load unpacked" does; start loads it for one run of the browser otherwise. */
  async install(): Promise<void> {
    await loadUnpacked(this.#profile, this.#extension, this.extensionId);
    this.#isInstalled = true;
  }

  /** pid is that of the browser's first process, which has started all others. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get cdp(): Cdp {
    if (!this.#cdp) throw new Error('the browser is gone');
    return this.#cdp;
  }

  /** pages returns the ids of the open tabs with their addresses. */
  async pages(): Promise<{ id: string; url: string }[]> {
    const targets = await this.cdp.targets();
    return targets.filter((t) => t.type === 'page').map((t) => ({ id: t.targetId, url: t.url }));
  }

  /** inPage attaches to a tab for one command. */
  async inPage<T>(id: string, run: (page: Session) => Promise<T>): Promise<T> {
    const page = await this.cdp.attach(id);
    try {
      return await run(page);
    } finally {
      await page.detach();
    }
  }

  /** inWorker attaches to the extension's service worker for one command. */
  async inWorker<T>(run: (worker: Session) => Promise<T>): Promise<T> {
    const target = await until('the service worker', () => this.worker());
    return this.inPage(target, run);
  }

  /** worker returns the id of the service worker, if it runs. */
  async worker(): Promise<string | undefined> {
    const targets = await this.cdp.targets();
    return targets.find((t) => t.type === 'service_worker' && t.url.includes(this.extensionId))?.targetId;
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async close(): Promise<void> {
    await this.#cdp?.send('Browser.close').catch(() => undefined);
    await this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child && child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await once(child, 'exit');
    }
    this.#cdp?.close();
    this.#cdp = undefined;
  }
}

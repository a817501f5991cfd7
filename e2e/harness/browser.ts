/**
 * Runs a Chromium that tests can kill and restart with the same profile. A permanent debugger would keep the service
 * worker alive, so tests attach a debugger only for single commands.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Cdp, type CdpSession, connectCdp } from './cdp.ts';
import { chromiumPath, deriveExtensionId, findFreePort, makeChromiumFlags, prepareProfile } from './chromium.ts';
import { loadUnpacked } from './unpacked.ts';
import { waitFor, withOperationTimeout } from './wait.ts';

export class Browser {
  readonly extensionId: string;
  readonly #profile: string;
  readonly #extension: string;
  readonly #launchArgs: readonly string[];
  #isInstalled = false;
  #child: ChildProcess | undefined;
  #cdp: Cdp | undefined;

  constructor(profile: string, extension: string, args: readonly string[] = []) {
    this.#launchArgs = args;
    this.#profile = profile;
    this.#extension = extension;
    this.extensionId = deriveExtensionId(extension);
    prepareProfile(profile, this.extensionId);
  }

  async start(url = 'about:blank'): Promise<void> {
    const port = await findFreePort();
    this.#child = spawn(
      chromiumPath,
      [
        ...makeChromiumFlags(port, this.#isInstalled ? [] : [this.#extension], this.#launchArgs),
        '--hide-crash-restore-bubble',
        `--user-data-dir=${this.#profile}`,
        url,
      ],
      { stdio: 'ignore' },
    );
    this.#cdp = await connectCdp(port);
  }

  /** If `install` is not called, Chrome removes the extension from the profile when the browser exits. */
  async install(): Promise<void> {
    await loadUnpacked(this.#profile, this.#extension, this.extensionId);
    this.#isInstalled = true;
  }

  /** The field `pid` is the process ID of the browser's main process, or 0 before start. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get cdp(): Cdp {
    if (!this.#cdp) throw new Error('the browser is gone');
    return this.#cdp;
  }

  async listPages(): Promise<{ id: string; url: string }[]> {
    const targets = await this.cdp.targets();
    return targets
      .filter((target) => target.type === 'page')
      .map((target) => ({ id: target.targetId, url: target.url }));
  }

  async withPageSession<T>(id: string, runInPage: (page: CdpSession) => Promise<T>): Promise<T> {
    const page = await this.cdp.attach(id);
    try {
      return await runInPage(page);
    } finally {
      await page.detach();
    }
  }

  async withWorkerSession<T>(runInPage: (workerId: CdpSession) => Promise<T>): Promise<T> {
    const target = await waitFor('the service worker to start', () => this.workerId());
    return this.withPageSession(target, runInPage);
  }

  async workerId(): Promise<string | undefined> {
    const targets = await this.cdp.targets();
    return targets.find((target) => target.type === 'service_worker' && target.url.includes(this.extensionId))
      ?.targetId;
  }

  async kill(): Promise<void> {
    await this.#stopProcess('SIGKILL');
  }

  async close(): Promise<void> {
    await this.#cdp?.sendCommand('Browser.close').catch(() => undefined);
    await this.#stopProcess('SIGTERM');
  }

  async #stopProcess(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child && child.exitCode === null && child.signalCode === null) {
      const exitPromise = once(child, 'exit');
      child.kill(signal);
      await withOperationTimeout('the end of the browser', exitPromise).catch(async (error: unknown) => {
        child.kill('SIGKILL');
        await exitPromise;
        throw error;
      });
    }
    this.#cdp?.close();
    this.#cdp = undefined;
  }
}

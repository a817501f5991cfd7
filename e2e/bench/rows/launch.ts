/** Measures how soon after a browser's launch a plugin can run a call, and how much memory the plugins use. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Browser } from '../../harness/browser.ts';
import { findFreePort } from '../../harness/chromium.ts';
import { connectHttp } from '../../harness/client.ts';
import { addClient } from '../../harness/daemon-api.ts';
import { runOrThrow, startOpentabs, stopProcess } from '../../harness/process.ts';
import { startSite } from '../../harness/site.ts';
import { pause, waitFor } from '../../harness/wait.ts';
import { readResidentMemory } from '../../load/measure.ts';
import { makeHost } from '../many-plugins.ts';
import { type MemoryUsage, settleDelayMs } from './start.ts';

const launchCount = 3;
/** profileWriteDelayMs is long enough for the extension to save which plugins were used, in milliseconds. */
const profileWriteDelayMs = 7_000;

export interface LaunchTimes {
  readonly newProfileCallTimes: readonly number[];
  readonly samePluginCallTimes: readonly number[];
  readonly otherPluginCallTimes: readonly number[];
  /** pageLoadTimes are the times from the launch of a browser with a new profile until a page has loaded. */
  readonly pageLoadTimes: readonly number[];
  readonly pssBytes: number;
  readonly server: MemoryUsage;
}

interface MutableLaunchTimes {
  readonly newProfileCallTimes: number[];
  readonly samePluginCallTimes: number[];
  readonly otherPluginCallTimes: number[];
  readonly pageLoadTimes: number[];
}

/**
 * removeProfile logs an error instead of throwing, because helper processes of the browser may still write to the
 * folder.
 */
function removeProfile(profile: string): void {
  try {
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 300 });
  } catch (error) {
    console.error(`bench: ${profile} could not be removed: ${String(error)}`);
  }
}

export async function measureLaunch(homeFolder: string, plugins: readonly string[]): Promise<LaunchTimes> {
  const env = { OPENTABS_HOME: homeFolder, OPENTABS_PORT: String(await findFreePort()) };
  const extension = join(homeFolder, 'unpacked');
  await runOrThrow(['extension', 'install', '--dir', extension], env);
  const daemon = startOpentabs(['serve'], env);
  const site = await startSite();
  const makePluginUrl = (plugin: string) => site.url.replace('127.0.0.1', makeHost(plugin));
  await waitFor(
    'the server to answer /healthz',
    async () => (await fetch(`http://127.0.0.1:${env.OPENTABS_PORT}/healthz`)).ok,
  );
  const client = await connectHttp(Number(env.OPENTABS_PORT), await addClient(env, 'launch'));
  const launchTimes: MutableLaunchTimes = {
    newProfileCallTimes: [],
    samePluginCallTimes: [],
    otherPluginCallTimes: [],
    pageLoadTimes: [],
  };
  const measureLaunchUntilCall = async (browser: Browser, plugin: string): Promise<number> => {
    const beganMs = performance.now();
    await browser.start(makePluginUrl(plugin));
    await waitFor(`${plugin} in ${makePluginUrl(plugin)}`, async () => {
      const callOutcome = await client.call(`${plugin}__tool_0`, { channel: 'x' });
      if (callOutcome.isError) throw new Error(callOutcome.text);
      return true;
    });
    return performance.now() - beganMs;
  };
  const measureLaunchUntilShown = async (browser: Browser): Promise<number> => {
    const beganMs = performance.now();
    await browser.start(makePluginUrl('none'));
    await waitFor('Chrome to list the page', async () => {
      const page = (await browser.listPages()).find((page) => page.url === makePluginUrl('none'));
      const pageState =
        page && (await browser.withPageSession(page.id, (session) => session.evaluate('document.readyState')));
      return pageState === 'complete';
    });
    return performance.now() - beganMs;
  };
  let pssBytes = 0;
  let server: MemoryUsage = { rssBytes: 0, anonBytes: 0 };
  try {
    for (let i = 0; i < launchCount; i++) {
      const profile = mkdtempSync(join(tmpdir(), 'opentabs-bench-profile-'));
      const browser = new Browser(profile, extension);
      const [plugin = '', otherPlugin = ''] = plugins.slice(i * 2);
      try {
        if (plugin === '') launchTimes.pageLoadTimes.push(await measureLaunchUntilShown(browser));
        else launchTimes.newProfileCallTimes.push(await measureLaunchUntilCall(browser, plugin));
        if (i === 0) await pause(settleDelayMs);
        else if (plugin !== '') await pause(profileWriteDelayMs);
        if (i === 0) {
          pssBytes = readPss(browser.pid);
          const { currentResidentBytes, anonymousBytes } = readResidentMemory(daemon.child.pid ?? 0);
          server = { rssBytes: currentResidentBytes, anonBytes: anonymousBytes };
        }
        await browser.close();
        if (plugin === '') continue;
        launchTimes.samePluginCallTimes.push(await measureLaunchUntilCall(browser, plugin));
        await browser.close();
        launchTimes.otherPluginCallTimes.push(await measureLaunchUntilCall(browser, otherPlugin));
        await browser.close();
      } finally {
        await browser.close();
        removeProfile(profile);
      }
    }
    return { ...launchTimes, pssBytes, server };
  } finally {
    await client.close();
    await stopProcess(daemon);
    await site.close();
  }
}

/** PSS counts memory that several processes share only once. */
function readPss(rootPid: number): number {
  const parentPids = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    try {
      // In /proc/PID/stat, the program's name is in parentheses and may contain any character.
      const statFields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      parentPids.set(pid, Number(statFields[1]));
    } catch {
      // If the process has ended since readdirSync listed it, its file in /proc no longer exists.
    }
  }
  const isDescendant = (pid: number): boolean =>
    pid === rootPid || (parentPids.has(pid) && isDescendant(parentPids.get(pid) ?? 0));
  let bytes = 0;
  for (const pid of parentPids.keys()) {
    if (!isDescendant(pid)) continue;
    try {
      const [, kilobytes] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
      bytes += Number(kilobytes ?? 0) * 1024;
    } catch {
      // A process that has ended uses no memory.
    }
  }
  return bytes;
}

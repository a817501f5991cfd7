/**
 * Promise: a page gets its plugin by itself, whenever it opens: while the browser starts, while plugins arrive and get new
 * builds, while the extension's worker restarts. There are more plugins than are registered ahead, so most come on demand.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { getJson, type Server } from '../harness/api.ts';
import { Browser } from '../harness/browser.ts';
import { freePort } from '../harness/chromium.ts';
import { must, type Running, run, start, stop } from '../harness/process.ts';
import { type Site, startSite } from '../harness/site.ts';
import { writeSmallPlugin } from '../harness/small.ts';
import type { Tab } from '../harness/stack.ts';
import { pause, until } from '../harness/wait.ts';

/** limitMs is how long a page may take to get its plugin on the slowest machine. */
const limitMs = 60_000;
/** spreadMs is the time in which the pages of a test open. */
const spreadMs = 3000;
/** seed makes the moments; that of a run that failed can be given again. */
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

const home = mkdtempSync(join(tmpdir(), 'opentabs-e2e-'));
let env: Record<string, string> = {};
let server: Server;
let site: Site;
let daemon: Running;
let browser: Browser;
/** hashes are those of the adapters that pages should have, by plugin. */
const hashes = new Map<string, string>();
const ordinary = Array.from({ length: 18 }, (_, i) => `many${i}`);
const all = [...ordinary, 'framed', 'apart'];
let opened = 0;

/** random returns numbers from 0 to 1 that follow from the seed (mulberry32). */
const random = (() => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
})();

/** write writes the package of a plugin for the pages below its name. */
function write(name: string, version: number): string {
  const dir = join(home, 'packages', name);
  const extra = name === 'framed' ? { frames: true } : name === 'apart' ? { world: 'isolated' as const } : {};
  const urlPatterns = [`http://127.0.0.1/${name}/*`, ...(name === 'framed' ? ['http://127.0.0.1/page*'] : [])];
  hashes.set(name, writeSmallPlugin(dir, { name, version, urlPatterns, ...extra }));
  return dir;
}

before(async () => {
  process.stderr.write(`SEED=${seed}\n`);
  const port = await freePort();
  env = { OPENTABS_HOME: home, OPENTABS_PORT: String(port) };
  for (const name of all) await must(['plugin', 'add', write(name, 1), '--permission', 'auto'], env);
  const extension = join(home, 'unpacked');
  await must(['extension', 'install', '--dir', extension], env);
  site = await startSite();
  site.page(
    '<!doctype html><title>With a frame</title><link rel="icon" href="data:,"><iframe src="/framed/inner"></iframe>',
  );
  daemon = start(['serve'], env);
  await until('the server', async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok);
  server = { port, token: readFileSync(join(home, 'token'), 'utf8').trim() };
  // Pages share processes: that so many of them start is not what is tested.
  browser = new Browser(join(home, 'profile'), extension, ['--renderer-process-limit=4']);
});
after(async () => {
  await browser?.close();
  if (daemon) await stop(daemon);
  await site?.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
});

afterEach(() => browser.close());

/** Page is a page that was opened, and when. */
interface Page {
  readonly url: string;
  readonly plugin: string;
  readonly atMs: number;
}

/** openSome opens pages of these plugins in turn, each at a random moment of the next spreadMs. */
async function openSome(plugins: readonly string[], count: number): Promise<Page[]> {
  return await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const plugin = plugins[i % plugins.length] ?? '';
      const url = `${site.origin}${plugin === 'framed' ? `/page?${++opened}` : `/${plugin}/${++opened}`}`;
      await pause(random() * spreadMs);
      const atMs = performance.now();
      await browser.cdp.send('Target.createTarget', { url, background: true });
      return { url, plugin, atMs };
    }),
  );
}

async function tabs(): Promise<readonly Tab[]> {
  const { browsers } = Object(await getJson(server, '/status'));
  return Array.isArray(browsers) ? browsers.flatMap((one) => Object(one).tabs ?? []) : [];
}

/** has tells whether a document has the adapter of a plugin that it should have. */
function has(plugins: Tab['plugins'], name: string): boolean {
  return (plugins ?? []).some((p) => p.name === name && Object(p).hash === hashes.get(name));
}

/** allLive waits until each page has its plugin, and says how long the slowest took. */
async function allLive(what: string, pages: readonly Page[]): Promise<void> {
  const missing = new Set(pages);
  let slowestMs = 0;
  let last: readonly Tab[] = [];
  const endMs = performance.now() + limitMs;
  while (missing.size > 0 && performance.now() < endMs) {
    await pause(50);
    last = await tabs();
    const byUrl = new Map(last.map((tab) => [tab.url, tab]));
    for (const page of missing) {
      const tab = byUrl.get(page.url);
      if (!tab || !has(tab.plugins, page.plugin)) continue;
      if (page.plugin === 'framed' && !tab.frames?.some((frame) => has(frame.plugins, 'framed'))) continue;
      missing.delete(page);
      slowestMs = Math.max(slowestMs, performance.now() - page.atMs);
    }
  }
  process.stderr.write(
    `${what}: ${pages.length - missing.size} of ${pages.length}, the slowest after ${Math.round(slowestMs)} ms\n`,
  );
  const forgotten = [...missing].map(({ url }) => `${url}: ${JSON.stringify(last.find((tab) => tab.url === url))}`);
  assert.deepEqual(forgotten, [], `SEED=${seed}`);
}

for (const what of ['a new profile', 'a profile that was used before']) {
  test(`pages that open while a browser starts, ${what}`, async () => {
    await browser.start();
    await allLive(`start, ${what}`, await openSome(all, 25));
  });
}

test('pages that open while plugins arrive and change', async () => {
  await browser.start();
  await allLive('before', await openSome(all.slice(-3), 3));
  // A folder that has changed is off until its review.
  const changed = ['many3', 'many4', 'framed', 'apart'];
  for (const name of changed) write(name, 2);
  const others = openSome(
    ordinary.filter((name) => !changed.includes(name)),
    20,
  );
  const arrive = async () => {
    await must(['plugin', 'add', write('newcomer', 1), '--permission', 'auto'], env);
    return await openSome(['newcomer'], 15);
  };
  const renew = async () => {
    for (const name of changed) {
      await until(`the review of ${name}`, async () => {
        return (await run(['plugin', 'review', name, '--yes', '--permission', 'auto'], env)).code === 0;
      });
    }
    return await openSome(changed, 15);
  };
  const pages = await Promise.all([others, arrive(), renew()]);
  await allLive('arrival', pages.flat());
});

test('pages that open while the worker restarts', async () => {
  await browser.start();
  await allLive('before', await openSome(all.slice(-3), 3));
  const stopSome = async () => {
    const page = (await browser.pages())[0];
    for (let i = 0; i < 3 && page; i++) {
      await pause((random() * spreadMs) / 3);
      await browser.inPage(page.id, async (session) => {
        await session.send('ServiceWorker.enable');
        await session.send('ServiceWorker.stopAllWorkers');
      });
    }
  };
  const [pages] = await Promise.all([openSome([...all, 'newcomer'], 50), stopSome()]);
  await allLive('worker', pages);
});

test('a page that comes back from the back/forward cache gets the build that came meanwhile', async () => {
  await browser.start();
  for (const plugin of ['apart', 'many5']) {
    const [page] = await openSome([plugin], 1);
    assert.ok(page);
    await allLive('before', [page]);
    const id = (await browser.pages()).find(({ url }) => url === page.url)?.id ?? '';
    const evaluate = (expression: string) =>
      browser.inPage(id, (session) => session.send('Runtime.evaluate', { expression, returnByValue: true }));
    await evaluate('globalThis.kept = "kept"');
    await browser.inPage(id, (session) => session.send('Page.navigate', { url: `${site.origin}/elsewhere` }));
    await until('the other page', async () => (await browser.pages()).some(({ url }) => url.endsWith('/elsewhere')));
    write(plugin, 3);
    await until('the review', async () => {
      return (await run(['plugin', 'review', plugin, '--yes', '--permission', 'auto'], env)).code === 0;
    });
    await evaluate('history.back()');
    await allLive('back', [{ ...page, atMs: performance.now() }]);
    const { result } = Object(await evaluate('globalThis.kept'));
    assert.equal(Object(result).value, 'kept', 'the page was reloaded');
    await evaluate('history.forward()');
  }
});

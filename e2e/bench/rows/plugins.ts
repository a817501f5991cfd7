import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { freePort, launch } from '../../harness/chromium.ts';
import { must, start, stop } from '../../harness/process.ts';
import { pause } from '../../harness/wait.ts';
import { rss } from '../../load/measure.ts';
import type { Bed } from '../bed.ts';
import type { Started } from '../go.ts';
import { addPlugins, pluginCount, pluginTools } from '../many-plugins.ts';
import { atMost, ms, type Row, typical } from '../row.ts';
import { median } from '../samples.ts';
import { type Memory, memory, serve, serveFloor, settleMs, starts } from './start.ts';

/** patienceMs is how long a browser may take to register all adapters. */
const patienceMs = 60_000;

type Start = z.infer<typeof Started>;

/** plugins is the start with many large plugins, and the memory of a server that has them. */
export async function plugins(bed: Bed): Promise<Row[]> {
  const home = join(bed.home, 'plugins');
  await addPlugins(home);
  const first = await serve(bed, home, { list: true });
  const ours: Start[] = [];
  const floor: Start[] = [];
  for (let i = 0; i < starts; i++) {
    floor.push(await serveFloor(bed));
    ours.push(await serve(bed, home, { list: true }));
  }
  await rm(join(home, 'plugin-index'));
  const without = await serve(bed, home, { list: true });
  const alone = await serve(bed, home, { settle: settleMs, list: true });
  const taken = await withBrowser(home);
  const p50 = (all: readonly Start[], what: 'acceptsMs' | 'healthMs' | 'listMs') => median(all.map((s) => s[what]));
  const told = (all: readonly Start[], what: 'acceptsMs' | 'healthMs' | 'listMs') => typical(all.map((s) => s[what]));
  const many = `${pluginCount} plugins of 0.06 to 0.9 MB with ${pluginTools} tools`;
  const whole = [first, without, ...ours].every((s) => s.tools >= pluginTools);
  return [
    {
      id: 'plugins',
      what: `${many}: exec to a port that accepts, p50`,
      ours: told(ours, 'acceptsMs'),
      floor: told(floor, 'acceptsMs'),
      value: p50(ours, 'acceptsMs') / p50(floor, 'acceptsMs'),
      bar: atMost(1.2, 'x'),
    },
    {
      id: 'plugins',
      what: 'exec to the answer of /healthz, p50',
      ours: told(ours, 'healthMs'),
      floor: told(floor, 'healthMs'),
      value: p50(ours, 'healthMs') / p50(floor, 'healthMs'),
      bar: atMost(1.5, 'x'),
    },
    {
      id: 'plugins',
      what: 'exec to all tools, listed over MCP, p50',
      ours: told(ours, 'listMs'),
      floor: told(floor, 'healthMs'),
      value: p50(ours, 'listMs'),
      bar: atMost(200, 'ms'),
      note: `the first start after they were added took ${ms(first.listMs)}, one without an index ${ms(without.listMs)}`,
      ...(whole ? {} : { broken: 'a list lacked tools' }),
    },
    memory('plugins', 'resident memory with them, their tools listed, no browser', alone, 45),
    memory('plugins', 'the same with a browser that has taken them', taken, 80),
    {
      id: 'plugins',
      what: 'all of them registered in a browser that has none',
      ours: `${taken.adapters} of ${pluginCount} after ${ms(taken.tookMs)}`,
      note: 'Chrome keeps the code of user scripts in a store that it writes anew for each change, so this has no floor but Chrome',
    },
  ];
}

/** Taken is a server after a browser has taken adapters from it. */
interface Taken extends Memory {
  readonly adapters: number;
  readonly tookMs: number;
}

/** withBrowser looks at a server of this home some time after a real browser has taken all adapters. */
async function withBrowser(home: string): Promise<Taken> {
  const env = { OPENTABS_HOME: home, OPENTABS_PORT: String(await freePort()) };
  const extension = join(home, 'unpacked');
  await must(['extension', 'install', '--dir', extension], env);
  const daemon = start(['serve'], env);
  const chrome = await launch({ extension });
  try {
    const { context } = chrome;
    const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
    // To list the adapters themselves Chrome copies all their code; each has a probe that is a file.
    const registered = () =>
      worker.evaluate(async () => {
        const scripts = await globalThis.chrome.scripting.getRegisteredContentScripts();
        return scripts.filter((script) => script.id.startsWith('probe-')).length;
      });
    const beganMs = performance.now();
    let tookMs = 0;
    let adapters = 0;
    while (adapters < pluginCount && tookMs < patienceMs) {
      await pause(50);
      adapters = await registered();
      tookMs = performance.now() - beganMs;
    }
    await pause(settleMs);
    const { now, anonymous } = rss(daemon.child.pid ?? 0);
    return { rssBytes: now, anonBytes: anonymous, adapters, tookMs };
  } finally {
    await chrome.close();
    await stop(daemon);
  }
}

import { join } from 'node:path';
import { freePort, launch } from '../../harness/chromium.ts';
import { must, start, stop } from '../../harness/process.ts';
import { pause } from '../../harness/wait.ts';
import { rss } from '../../load/measure.ts';
import type { Bed } from '../bed.ts';
import { Hashed } from '../go.ts';
import { addPlugins, pluginBytes, pluginCount, pluginTools } from '../many-plugins.ts';
import { atMost, mb, ms, type Row, typical } from '../row.ts';
import { median } from '../samples.ts';
import { type Memory, memory, serve, settleMs, starts } from './start.ts';

/** patienceMs is how long a browser may take to register all adapters. */
const patienceMs = 60_000;

/** plugins is the start with many large plugins, and the memory of a server that has them. */
export async function plugins(bed: Bed): Promise<Row[]> {
  const home = join(bed.home, 'plugins');
  const files = await addPlugins(home);
  const first = await serve(bed, home);
  const accepts: number[] = [];
  const later: number[] = [];
  const floor: number[] = [];
  for (let i = 0; i < starts; i++) {
    floor.push((await bed.go.carryOut({ do: 'hash', files }, Hashed)).tookMs);
    const up = await serve(bed, home);
    accepts.push(up.acceptsMs);
    later.push(up.healthMs);
  }
  const alone = await serve(bed, home, settleMs);
  const taken = await withBrowser(home);
  const many = `${pluginCount} plugins of ${mb(pluginBytes)} with ${pluginTools} tools each`;
  return [
    {
      id: 'plugins',
      what: `${many}, added just now: exec to the answer of /healthz`,
      ours: ms(first.healthMs),
      value: first.healthMs,
      bar: atMost(300, 'ms'),
    },
    {
      id: 'plugins',
      what: 'each later start, p50',
      ours: typical(later),
      floor: typical(floor),
      value: median(later),
      bar: atMost(300, 'ms'),
      note: `the port accepts after ${typical(accepts)}, before the plugins are read; the floor reads and hashes their files`,
    },
    memory('plugins', 'resident memory with them, no browser', alone, 80),
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

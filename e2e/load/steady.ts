/** A steady stream of calls at a given rate, and the memory of all processes before and after it. */
import { pause, waitFor } from '../harness/wait.ts';
import type { Client, Ending } from '../soak/ending.ts';
import { rawHttp } from '../soak/raw-http.ts';
import { rawStdio } from '../soak/raw-stdio.ts';
import type { World } from '../soak/world.ts';
import { type Measured, measure, rss } from './measure.ts';

/** Pace is the number of calls and their rate. */
export interface Pace {
  readonly calls: number;
  readonly perMinute: number;
}

/** Streamed is the result of a stream of calls. */
export interface Streamed {
  readonly before: Measured;
  readonly after: Measured;
  /** How many calls ended with each code. */
  readonly endings: ReadonlyMap<string, number>;
  /** Each call that ended in another way than it should. */
  readonly wrong: readonly string[];
  readonly tookMs: number;
  /** The largest resident memory of the server, in bytes. */
  readonly peakRssBytes: number;
}

/** kinds assigns a tool to calls by the last two digits of their number; all others are echoes. */
function kindOf(i: number): 'echo' | 'steps' | 'cancel' | 'fail' | 'big' {
  const n = i % 100;
  if (n < 10) return 'steps';
  if (n < 15) return 'cancel';
  if (n < 20) return 'fail';
  return n === 20 ? 'big' : 'echo';
}

/**
 * warmCalls is the number of calls before the first measurement, so that caches are full. A page's channels count as memory only
 * after their first message, which timers send late.
 */
const warmCalls = 3000;

/** stream makes the calls with eight clients over HTTP and two over stdio. It calls report with a line every 10 s. */
export async function stream(world: World, pace: Pace, report: (line: string) => void): Promise<Streamed> {
  const clients: Client[] = [
    ...Array.from({ length: 8 }, (_, i) => rawHttp(`http-${i}`, world.port, world.clientToken)),
    ...Array.from({ length: 2 }, (_, i) => rawStdio(`stdio-${i}`, world.env)),
  ];
  try {
    await run(world, clients, { calls: warmCalls, perMinute: pace.perMinute }, 'warm', () => undefined);
    const before = await settled(world);
    const { endings, wrong, tookMs, peakRssBytes } = await run(world, clients, pace, 'k', report);
    const after = await settled(world);
    for (const client of clients) wrong.push(...client.strays.map((stray) => `${client.name} got a stray: ${stray}`));
    return { before, after, endings, wrong, tookMs, peakRssBytes };
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

/** settled measures after all calls have ended, their endings are confirmed (1 s) and idle connections are closed. */
async function settled(world: World): Promise<Measured> {
  await waitFor('the end of all calls', async () => {
    const { calls } = await world.status();
    return calls.running + calls.pending === 0;
  });
  await pause(3_000);
  return measure({
    cdp: world.browser.cdp,
    extensionId: world.browser.extensionId,
    pageUrl: world.url(world.paths[0] ?? ''),
    serverPid: await world.serverPid(),
    memory: async () => (await world.status()).memory,
  });
}

async function run(
  world: World,
  clients: readonly Client[],
  pace: Pace,
  prefix: string,
  report: (line: string) => void,
) {
  const endings = new Map<string, number>();
  const wrong: string[] = [];
  const pid = await world.serverPid();
  const begun = performance.now();
  let open = 0;
  let peakRssBytes = 0;
  const look = setInterval(() => {
    peakRssBytes = Math.max(peakRssBytes, rss(pid).now);
    const done = [...endings.values()].reduce((sum, n) => sum + n, 0);
    report(
      `${((performance.now() - begun) / 1000).toFixed(0)} s: ${done} calls ended, ${open} open, server ${(rss(pid).now / 1e6).toFixed(0)} MB`,
    );
  }, 10_000);
  const pending: Promise<void>[] = [];
  const one = async (i: number) => {
    open++;
    const key = `${prefix}${i}`;
    const ending = await call(clients[i % clients.length], kindOf(i), key, i);
    open--;
    endings.set(ending.code, (endings.get(ending.code) ?? 0) + 1);
    const bad = judge(kindOf(i), key, ending);
    if (bad && wrong.length < 20) wrong.push(`${key}: ${bad}: ${ending.text.slice(0, 300)}`);
  };
  try {
    for (let i = 0; i < pace.calls; i++) {
      const due = begun + (i * 60_000) / pace.perMinute - performance.now();
      if (due > 2) await pause(due);
      pending.push(one(i));
    }
    await Promise.all(pending);
  } finally {
    clearInterval(look);
  }
  peakRssBytes = Math.max(peakRssBytes, rss(pid).now);
  return { endings, wrong, tookMs: performance.now() - begun, peakRssBytes };
}

function call(client: Client | undefined, kind: ReturnType<typeof kindOf>, key: string, i: number): Promise<Ending> {
  if (!client) throw new Error('no client');
  switch (kind) {
    case 'echo':
      return client.call('work__echo', { key, value: { i, text: 'x'.repeat(i % 1000) } }, { untold: i % 3 === 0 });
    case 'steps':
      return client.call('work__steps', { key, count: 5, everyMs: 20 }, {});
    case 'fail':
      return client.call('work__fail', { key }, {});
    case 'big':
      return client.call('work__big', { key, bytes: 400_000 }, {});
    case 'cancel': {
      const stop = new AbortController();
      setTimeout(() => stop.abort(), 20 + (i % 7) * 20);
      return client.call('work__beat', { key, everyMs: 10, forMs: 60_000 }, { stop: stop.signal, leave: i % 2 === 0 });
    }
  }
}

function judge(
  kind: ReturnType<typeof kindOf>,
  key: string,
  { code, answers, structured }: Ending,
): string | undefined {
  const want = { echo: 'ok', steps: 'ok', big: 'ok', fail: 'tool_error', cancel: 'silent' }[kind];
  if (code !== want) return `ended with ${code}, not ${want}`;
  if (answers !== (want === 'silent' ? 0 : 1)) return `answered ${answers} times`;
  if (want === 'ok' && Object(structured).key !== key) return `got the result of ${Object(structured).key}`;
  return undefined;
}

/** grown returns the memory that a stream has left behind, apart from noise. */
export function grown({ before, after }: Streamed): string[] {
  const found: string[] = [];
  const check = (what: string, was: number, is: number, room: number) => {
    if (is > was + room) found.push(`${what} grew from ${was} to ${is}`);
  };
  check('goroutines', before.server.goroutines, after.server.goroutines, 8);
  check('the heap of the server', before.server.heapBytes, after.server.heapBytes, 8 << 20);
  check('the resident memory of the server', before.server.rssBytes, after.server.rssBytes, 40 << 20);
  for (const side of ['worker', 'page', 'bridge'] as const) {
    check(`the heap of the ${side}`, before[side].heapBytes, after[side].heapBytes, 1 << 20);
    check(`message ports of the ${side}`, before[side].ports, after[side].ports, 0);
    check(`abort controllers of the ${side}`, before[side].controllers, after[side].controllers, 0);
    check(`promises of the ${side}`, before[side].promises, after[side].promises, 20);
    check(`entries in tables of the ${side}`, before[side].entries, after[side].entries, 20);
  }
  check('listeners of the page', before.listeners, after.listeners, 0);
  check('documents of the page', before.documents, after.documents, 0);
  return found;
}

/** table shows both measurements side by side. */
export function table({ before, after, endings, tookMs, peakRssBytes }: Streamed): string {
  const mb = (bytes: number) => `${(bytes / (1 << 20)).toFixed(1)} MB`;
  const row = (what: string, was: string | number, is: string | number) => `  ${what.padEnd(28)} ${was} -> ${is}`;
  const count = [...endings.values()].reduce((sum, n) => sum + n, 0);
  return [
    `${count} calls in ${(tookMs / 1000).toFixed(1)} s (${[...endings].map(([code, n]) => `${n} ${code}`).join(', ')})`,
    row('server RSS', mb(before.server.rssBytes), `${mb(after.server.rssBytes)} (at most ${mb(peakRssBytes)})`),
    row('server heap', mb(before.server.heapBytes), mb(after.server.heapBytes)),
    row('goroutines', before.server.goroutines, after.server.goroutines),
    ...(['worker', 'page', 'bridge'] as const).flatMap((side) => [
      row(`${side} heap`, mb(before[side].heapBytes), mb(after[side].heapBytes)),
      row(
        `${side} ports, controllers`,
        `${before[side].ports}, ${before[side].controllers}`,
        `${after[side].ports}, ${after[side].controllers}`,
      ),
      row(
        `${side} promises, table entries`,
        `${before[side].promises}, ${before[side].entries}`,
        `${after[side].promises}, ${after[side].entries}`,
      ),
    ]),
    row(
      'page listeners, documents',
      `${before.listeners}, ${before.documents}`,
      `${after.listeners}, ${after.documents}`,
    ),
  ].join('\n');
}

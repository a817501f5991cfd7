/** Mixed calls under random faults: every call must end once, in time, and as the faults that fell into its time allow. */

import { pause } from '../harness/wait.ts';
import { type Measured, measure, rss } from '../load/measure.ts';
import type { Client, ClientKind } from './ending.ts';
import { strike } from './faults.ts';
import { judge, type Made, overlaps, type Struck } from './model.ts';
import type { Plan, PlannedCall } from './plan.ts';
import { rawHttp } from './raw-http.ts';
import { rawStdio } from './raw-stdio.ts';
import { sdkHttp, sdkStdio } from './sdk.ts';
import { World } from './world.ts';

/** Violation is something that may not happen. */
export interface Violation {
  readonly what: string;
  readonly call?: Made;
  /** What else happened in the call's time. */
  readonly during?: readonly Struck[];
}

/** Report is what a soak saw. */
export interface Report {
  readonly plan: Plan;
  readonly made: readonly Made[];
  readonly struck: readonly Struck[];
  readonly violations: readonly Violation[];
  readonly before: Measured;
  readonly after: Measured | undefined;
  /** The server's resident memory, sampled. */
  readonly rssBytes: readonly { readonly atMs: number; readonly bytes: number }[];
}

/** sampleMs is how often pages and memory are looked at; stopMs is how long a page may go on with a call that has ended. */
const sampleMs = 3_000;
const stopMs = 15_000;
/** drainMs is how long calls may take to end after the last one was made, beyond what is left of their own time. */
const drainMs = 45_000;

/** soak runs a plan to its end; say gets a line a minute. */
export async function soak(plan: Plan, say: (line: string) => void): Promise<Report> {
  const run = new Run(plan, say);
  try {
    return await run.all();
  } finally {
    await run.world.close();
  }
}

class Run {
  readonly world: World;
  readonly #plan: Plan;
  readonly #say: (line: string) => void;
  readonly #made: Made[] = [];
  readonly #struck: Struck[] = [];
  readonly #violations: Violation[] = [];
  readonly #rss: { atMs: number; bytes: number }[] = [];
  readonly #open = new Map<string, PlannedCall>();
  #clients: readonly Client[] = [];
  #began = 0;
  #over = false;

  constructor(plan: Plan, say: (line: string) => void) {
    this.#plan = plan;
    this.#say = say;
    this.world = new World(plan.tabs);
  }

  async all(): Promise<Report> {
    const { world } = this;
    await world.start();
    await world.works('the start');
    const before = await this.#measure();
    this.#clients = this.#plan.clients.map((kind, i) => this.#client(kind, `${kind}-${i}`));
    this.#began = performance.now();
    const watching = Promise.all([this.#sample(), this.#minutes()]);
    const calls = this.#calls();
    await this.#faults();
    await this.#drain(calls);
    this.#over = true;
    await watching;
    for (const client of this.#clients) {
      for (const stray of client.strays)
        this.#violations.push({ what: `${client.name} got what no call of its waited for: ${stray}` });
      await client.close();
    }
    await this.#leftovers();
    const after = await this.#measure().catch(() => undefined);
    this.#flat(before, after);
    return {
      plan: this.#plan,
      made: this.#made,
      struck: this.#struck,
      violations: this.#violations,
      before,
      after,
      rssBytes: this.#rss,
    };
  }

  #now(): number {
    return performance.now() - this.#began;
  }

  #client(kind: ClientKind, name: string): Client {
    const { port, clientToken, env } = this.world;
    switch (kind) {
      case 'http':
        return rawHttp(name, port, clientToken);
      case 'http-sdk':
        return sdkHttp(name, port, clientToken);
      case 'stdio':
        return rawStdio(name, env);
      case 'stdio-sdk':
        return sdkStdio(name, env);
    }
  }

  /** calls makes the planned calls at their times and resolves when all have ended. */
  async #calls(): Promise<void> {
    const pending: Promise<void>[] = [];
    for (const [i, call] of this.#plan.calls.entries()) {
      const wait = call.atMs - this.#now();
      if (wait > 1) await pause(wait);
      pending.push(this.#make(call, `k${i}`));
    }
    await Promise.all(pending);
  }

  async #make(plan: PlannedCall, key: string): Promise<void> {
    const client = this.#clients[plan.client];
    if (!client) throw new Error(`the plan has no client ${plan.client}`);
    const tab =
      plan.tab === undefined
        ? undefined
        : await this.world.tabId(this.world.paths[plan.tab] ?? '').catch(() => undefined);
    const stop = new AbortController();
    const timer = plan.stopAfterMs === undefined ? undefined : setTimeout(() => stop.abort(), plan.stopAfterMs);
    const fromMs = this.#now();
    const limits = this.world.limits;
    this.#open.set(key, plan);
    const args = { ...plan.args, ...(tab === undefined ? {} : { tabId: tab }) };
    const ending = await client.call(`work__${plan.tool}`, args, {
      leave: plan.kind === 'left',
      untold: plan.kind === 'untold',
      ...(plan.stopAfterMs === undefined ? {} : { stop: stop.signal }),
    });
    clearTimeout(timer);
    this.#open.delete(key);
    const full: Made = { plan, key, clientName: client.name, limits, fromMs, toMs: this.#now(), ending };
    for (const what of judge(full, this.#struck, this.#made)) this.#violate(full, what);
    // Results were compared; keeping them would be a leak of this program.
    this.#made.push({ ...full, ending: { ...ending, structured: undefined, text: ending.text.slice(0, 400) } });
  }

  #violate(call: Made, what: string): void {
    const during = this.#struck.filter((f) => overlaps(call, f));
    const short = { ...call, ending: { ...call.ending, structured: undefined, text: call.ending.text.slice(0, 400) } };
    this.#violations.push({ what, call: short, during });
    if (this.#violations.length <= 25)
      this.#say(`VIOLATION ${call.key} ${call.plan.kind} of ${call.clientName}: ${what}`);
  }

  async #faults(): Promise<void> {
    for (const plan of this.#plan.faults) {
      const wait = plan.atMs - this.#now();
      if (wait > 0) await pause(wait);
      const struck: Struck = { plan, fromMs: this.#now() };
      this.#struck.push(struck);
      try {
        await strike(this.world, plan, this.#clients);
        struck.overMs = this.#now();
        await this.world.works(plan.kind);
        struck.healedMs = this.#now();
        await this.world.heal();
      } catch (error) {
        this.#violations.push({
          what: `after "${plan.kind}" at ${seconds(struck.fromMs)}: ${String(error)}`,
          during: [struck],
        });
        this.#say(`VIOLATION ${String(error)}`);
        await this.world.heal().catch((e) => this.#say(`no cure: ${String(e)}`));
      }
      struck.untilMs = this.#now();
    }
    const left = this.#plan.durationMs - this.#now();
    if (left > 0) await pause(left);
  }

  async #drain(calls: Promise<void>): Promise<void> {
    const late = pause(drainMs + 60_000).then(() => 'late' as const);
    if ((await Promise.race([calls, late])) !== 'late') return;
    for (const [key, plan] of this.#open)
      this.#violations.push({ what: `${key}, a call of kind ${plan.kind}, has not ended` });
  }

  /** sample looks at memory and at what runs in the pages, while no fault is going on. */
  async #sample(): Promise<void> {
    while (!this.#over) {
      await pause(sampleMs);
      this.world.count();
      const last = this.#struck.at(-1);
      if (last && last.untilMs === undefined) continue;
      try {
        this.#rss.push({ atMs: this.#now(), bytes: rss(await this.world.serverPid()).now });
        await this.#stopped(await this.world.running());
      } catch {
        // A fault began meanwhile.
      }
    }
  }

  /** stopped checks that no page works for a call that has ended long ago. */
  async #stopped(running: readonly string[]): Promise<void> {
    const keys = new Set(running);
    for (const call of this.#made) {
      if (!keys.has(call.key) || this.#now() - call.toMs < stopMs) continue;
      if (call.plan.kind === 'deaf' && this.#now() - call.fromMs < Number(call.plan.args.forMs) + stopMs) continue;
      if (this.#violations.some((v) => v.call?.key === call.key)) continue;
      const since = seconds(this.#now() - call.toMs);
      this.#violate(call, `its page still runs it ${since} after it ended: ${await this.world.whereRuns(call.key)}`);
    }
  }

  async #minutes(): Promise<void> {
    for (let minute = 1; !this.#over; minute++) {
      while (!this.#over && this.#now() < minute * 60_000) await pause(500);
      const last = this.#made.filter((m) => m.toMs > (minute - 1) * 60_000);
      const ok = last.filter((m) => m.ending.code === 'ok').length;
      const struck = this.#struck.filter((f) => f.fromMs > (minute - 1) * 60_000).map((f) => f.plan.kind);
      this.#say(
        `${String(Math.round(this.#now() / 1000)).padStart(5)} s  ${last.length} calls ended, ${ok} ok, ${this.#open.size} open;` +
          ` server ${megabytes(this.#rss.at(-1)?.bytes ?? 0)}; ${this.#violations.length} violations; ${struck.join(', ')}`,
      );
    }
  }

  /** leftovers checks that nothing is left when all clients are gone. */
  async #leftovers(): Promise<void> {
    await pause(3_000);
    this.world.count();
    const status = await this.world.status();
    const left = (what: string, count: number) => {
      if (count > 0) this.#violations.push({ what: `${count} ${what} are left at the end` });
    };
    left('running calls', status.calls.running);
    left('waiting calls', status.calls.pending);
    left(
      'runs of browsers',
      status.browsers.reduce((sum, b) => sum + b.running, 0),
    );
    // Sessions whose client was killed over HTTP stay until they have been idle for long; nobody can tell them from quiet ones.
    const stdio = status.clients.filter((c) => c.transport === 'stdio');
    left(`stdio sessions (${stdio.map((c) => c.name).join(', ')})`, stdio.length);
    const deaf = Math.max(
      0,
      ...this.#made
        .filter((m) => m.plan.kind === 'deaf')
        .map((m) => m.fromMs + Number(m.plan.args.forMs) - this.#now()),
    );
    await pause(Math.min(deaf, 40_000));
    const running = await this.world.running();
    if (running.length > 0) this.#violations.push({ what: `handlers still run in pages: ${running.join(' ')}` });
    const twice = [...this.world.begun].filter(([key, count]) => key !== 'probe' && count > 1);
    for (const [key, count] of twice) {
      this.#violations.push({ what: `${key} began ${count} times in a page`, ...found(this.#made, key) });
    }
    const never = this.#made
      .filter((m) => m.plan.tool === 'nothing' || m.plan.kind === 'invalid')
      .filter((m) => this.world.begun.has(m.key));
    for (const call of never) this.#violate(call, 'it began in a page, and it should not');
  }

  #measure(): Promise<Measured> {
    return this.world.serverPid().then((serverPid) =>
      measure({
        cdp: this.world.browser.cdp,
        extensionId: this.world.browser.extensionId,
        pageUrl: this.world.url(this.world.paths[0] ?? ''),
        serverPid,
        memory: async () => (await this.world.status()).memory,
      }),
    );
  }

  /** flat compares what is held now with what was held before. */
  #flat(before: Measured, after: Measured | undefined): void {
    if (!after) {
      this.#violations.push({ what: 'the end could not be measured' });
      return;
    }
    const grown = (what: string, was: number, is: number, room: number) => {
      if (is > was + room) this.#violations.push({ what: `${what} grew from ${was} to ${is}` });
    };
    grown('goroutines', before.server.goroutines, after.server.goroutines, 5);
    grown('the heap of the server', before.server.heapBytes, after.server.heapBytes, 40 << 20);
    for (const side of ['worker', 'page', 'bridge'] as const) {
      grown(`the heap of the ${side}`, before[side].heapBytes, after[side].heapBytes, 4 << 20);
      grown(`message ports of the ${side}`, before[side].ports, after[side].ports, 2);
      grown(`abort controllers of the ${side}`, before[side].controllers, after[side].controllers, 2);
      grown(`entries in tables of the ${side}`, before[side].entries, after[side].entries, 300);
    }
    // Chrome counts those of a process, which may serve other tabs and documents that wait in the back/forward cache.
    grown('listeners of a document', before.listeners / before.documents, after.listeners / after.documents, 5);
  }
}

function found(made: readonly Made[], key: string): { call?: Made } {
  const call = made.find((m) => m.key === key);
  return call ? { call } : {};
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / (1 << 20))} MB`;
}

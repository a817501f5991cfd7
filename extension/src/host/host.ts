import { UP } from '../handshake.ts';
import { atEndOfTask, atStart, type Channel, makeChannel, pristine } from './channel.ts';
import { makeFlood } from './flood.ts';
import { type EntryPoint, type Evaluate, type Lifecycle, makeLifecycle } from './lifecycle.ts';
import { makeLogs } from './logs.ts';
import { type Options, readOptions } from './options.ts';
import { dataProperty, defineProperty, framed, freeze, hasOwn, realDocument, soon, toJson } from './primordials.ts';
import type { Outcome } from './result.ts';
import { makeSettings } from './settings.ts';
import { makeTimers, type Timers } from './timers.ts';

/**
 * start runs one plugin in this document; options is the JSON text of its Options. It must be called at document_start: in
 * a document that has content already a page script may have run, so nothing is done there. All code of the plugin runs
 * once a bridge has taken the port, still before the first page script; without a bridge its pre-script does alone. Without
 * an adapter the plugin waits for one. It returns the entry point by which the plugin takes an adapter later.
 *
 * Without a plugin it starts the base of those that come later. With `meet` it may be called at any time, in a world that
 * the page has no part in.
 */
export function start(options: string, evaluate?: Evaluate, preScript?: Evaluate): EntryPoint | undefined {
  const given = readOptions(options);
  if (given.meet !== '') return startLate(given, evaluate);
  if (!pristine()) return undefined;
  if (given.plugin === '') return framed && !given.frames ? undefined : startBase();
  const { channel, lifecycle, introduction } = makePlugin(given, evaluate);
  const prepare = () => {
    if (preScript) lifecycle.prepare(preScript);
  };
  if (framed && !given.frames) {
    // All hosts have taken their built-ins by then.
    if (preScript) atStart(() => soon(prepare));
    return undefined;
  }
  channel.offer(introduction, (taken) => {
    prepare();
    if (taken) lifecycle.begin(false);
  });
  return lifecycle.entryPoint;
}

/** Plugin is one plugin of this document. */
interface Plugin {
  readonly channel: Channel;
  readonly lifecycle: Lifecycle;
  /** introduction is what the bridge is given with the channel. */
  readonly introduction: string;
}

/** makePlugin makes a plugin that has not started. */
function makePlugin({ plugin, hash, base, settings: given, late }: Options, evaluate: Evaluate | undefined): Plugin {
  const channel = makeChannel();
  const { up } = channel;
  const settings = makeSettings();
  settings.become(given);
  const flush = () => {
    logs.flush();
    flood.flush();
  };
  const whenIdle = atEndOfTask(flush);
  const logs = makeLogs((count, dropped, entries) => up(`l ${count} ${dropped} ${entries}`), whenIdle);
  const flood = makeFlood((call, count, skipped, reports) => up(`p ${call} ${count} ${skipped} ${reports}`), whenIdle);
  /** now says something about a call, after all that was said before. */
  const now = (text: string) => {
    flush();
    up(text);
  };
  const timers = makeTimers((ms) => up(`w ${ms}`));
  const lifecycle = makeLifecycle({
    services: { plugin, config: settings.config, logs, timers, readinessChanged: () => lifecycle.runner.probe() },
    evaluate,
    late,
    up,
    events: {
      report: flood.add,
      ask: (call, ask, body) => now(`q ${call} ${ask} ${body}`),
      end: (call, outcome) => now(outcomeMessage(call, outcome)),
      aborted: (call) => now(`a ${call}`),
      ready: (ready) => up(ready ? 's 1' : 's 0'),
    },
  });
  channel.listen((parts) => take(parts, lifecycle, timers, settings.become, up));
  return { channel, lifecycle, introduction: toJson([plugin, hash, base, evaluate !== undefined]) };
}

/**
 * startBase offers the bridge a channel by which it asks for plugins whose code comes later. Each gets a channel of its own,
 * over the first one: no page sees it. It returns the entry point for all of them.
 */
function startBase(): EntryPoint {
  const base = makeChannel();
  const entryPoints: EntryPoint[] = [];
  base.listen((parts) => {
    const at = reader(parts);
    if (at(0) !== 'host') return;
    const given = readOptions(asText(at(1)));
    if (given.plugin === '') return;
    const { channel, lifecycle, introduction } = makePlugin(given, undefined);
    defineProperty(entryPoints, entryPoints.length, dataProperty(lifecycle.entryPoint));
    if (channel.give(base.port, UP, `host ${introduction}`)) lifecycle.arm(asText(at(2)), given.hash);
  });
  base.offer(toJson(['', '', '']), ignore);
  return freeze((nonce: unknown, hash: unknown, next: unknown) => {
    for (let i = 0; i < entryPoints.length; i++) if (entryPoints[i]?.(nonce, hash, next) === true) return true;
    return false;
  });
}

/** startLate starts a plugin in a world of its own. If the bridge does not wait for it, nothing starts. */
function startLate(given: Options, evaluate: Evaluate | undefined): EntryPoint | undefined {
  const { channel, lifecycle, introduction } = makePlugin(given, evaluate);
  if (!channel.give(realDocument, given.meet, introduction)) return undefined;
  lifecycle.begin(false);
  return lifecycle.entryPoint;
}

function ignore(): void {
  // The base has nothing to begin.
}

/** reader returns a function that reads a place of a message; one that is not there would be looked up on Array.prototype, which is the page's. */
function reader(parts: readonly unknown[]): (index: number) => unknown {
  return (index) => (hasOwn(parts, index) ? parts[index] : undefined);
}

/** take does what a message of the bridge asks for; see handshake.ts. */
function take(
  parts: readonly unknown[],
  lifecycle: Lifecycle,
  timers: Timers,
  set: (settings: unknown) => void,
  up: (text: string) => void,
): void {
  const at = reader(parts);
  switch (at(0)) {
    case 'begin':
      lifecycle.begin(true);
      return;
    case 'probe':
      lifecycle.runner.probe();
      return;
    case 'wake':
      timers.wake();
      return;
    case 'settings':
      set(at(1));
      return;
    case 'renew':
      lifecycle.arm(asText(at(1)), asText(at(2)));
      return;
    case 'remove':
      lifecycle.remove();
      return;
  }
  const call = at(1);
  if (typeof call === 'number') takeForCall(at, call, lifecycle, up);
}

function takeForCall(
  at: (index: number) => unknown,
  call: number,
  { runner }: Lifecycle,
  up: (text: string) => void,
): void {
  switch (at(0)) {
    case 'cancel':
      if (!runner.cancel(call, asText(at(2)))) up(`f ${call}`);
      return;
    case 'call': {
      const maxBytes = at(3);
      if (typeof maxBytes !== 'number') return;
      const prompt = at(5) === true;
      runner.run({ call, tool: asText(at(2)), maxBytes, args: at(4), prompt, decision: at(6) });
      return;
    }
    case 'answer': {
      const ask = at(2);
      if (typeof ask === 'number') runner.answer(call, ask, at(3) === true, at(4));
      return;
    }
    case 'resync':
      runner.resync(call, asText(at(2)));
      return;
  }
}

function outcomeMessage(call: number, outcome: Outcome): string {
  switch (outcome.kind) {
    case 'result':
      return `r ${call} ${outcome.text}`;
    case 'error':
      return `e ${call} ${outcome.text}`;
    case 'nothing':
      return `n ${call}`;
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

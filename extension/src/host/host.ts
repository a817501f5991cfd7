import { UP } from '../handshake.ts';
import { atEndOfTask, atStart, type Channel, isPristine, makeChannel } from './channel.ts';
import { makeFlood } from './flood.ts';
import { type EntryPoint, type Evaluate, type Lifecycle, makeLifecycle } from './lifecycle.ts';
import { makeLogs } from './logs.ts';
import { type Options, readOptions } from './options.ts';
import { dataProperty, defineProperty, framed, freeze, hasOwn, realDocument, soon, toJson } from './primordials.ts';
import type { Outcome } from './result.ts';
import { makeSettings } from './settings.ts';
import { makeTimers, type Timers } from './timers.ts';

/**
 * start runs one plugin in this document. options is the JSON text of the plugin's Options. Call start at
 * document_start: in a document with content, a page script may already have run, so start does nothing. After a bridge
 * has accepted the port, and before the first page script, the pre-script and the adapter run; without a bridge, only
 * the pre-script runs. start returns the entry point through which the plugin accepts an adapter later.
 *
 * Without a plugin, start creates the base for plugins whose code arrives later. With `meet`, start may be called at
 * any time, in an isolated world.
 */
export function start(options: string, evaluate?: Evaluate, preScript?: Evaluate): EntryPoint | undefined {
  const given = readOptions(options);
  if (given.meet !== '') return startLate(given, evaluate);
  if (!isPristine()) return undefined;
  if (given.plugin === '') return framed && !given.frames ? undefined : startBase();
  const { channel, lifecycle, introduction } = makePlugin(given, evaluate);
  const prepare = () => {
    if (preScript) lifecycle.prepare(preScript);
  };
  if (framed && !given.frames) {
    // At the start of the handshake, all hosts have stored their built-ins.
    if (preScript) atStart(() => soon(prepare));
    return undefined;
  }
  channel.offer(introduction, (isAccepted) => {
    prepare();
    if (isAccepted) lifecycle.begin(false);
  });
  return lifecycle.entryPoint;
}

/** Plugin is one plugin of this document. */
interface Plugin {
  readonly channel: Channel;
  readonly lifecycle: Lifecycle;
  /** introduction is the JSON text of the offer that the bridge receives with the channel. */
  readonly introduction: string;
}

/** makePlugin returns a plugin that has not started. */
function makePlugin({ plugin, hash, base, settings: given, late }: Options, evaluate: Evaluate | undefined): Plugin {
  const channel = makeChannel();
  const { up } = channel;
  const settings = makeSettings();
  settings.update(given);
  const flush = () => {
    logs.flush();
    flood.flush();
  };
  const whenIdle = atEndOfTask(flush);
  const logs = makeLogs((count, dropped, entries) => up(`l ${count} ${dropped} ${entries}`), whenIdle);
  const flood = makeFlood((call, count, skipped, reports) => up(`p ${call} ${count} ${skipped} ${reports}`), whenIdle);
  /** sendNow sends a message after all buffered logs and reports. */
  const sendNow = (text: string) => {
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
      ask: (call, ask, body) => sendNow(`q ${call} ${ask} ${body}`),
      end: (call, outcome) => sendNow(outcomeMessage(call, outcome)),
      aborted: (call) => sendNow(`a ${call}`),
      ready: (ready) => up(ready ? 's 1' : 's 0'),
    },
  });
  channel.listen((parts) => handleMessage(parts, lifecycle, timers, settings.update, up));
  return { channel, lifecycle, introduction: toJson([plugin, hash, base, evaluate !== undefined]) };
}

/**
 * startBase offers the bridge a channel through which the bridge requests plugins whose code arrives later. Each plugin
 * gets a separate channel, which is sent over the first channel and is not visible to the page. startBase returns one
 * entry point for all these plugins.
 */
function startBase(): EntryPoint {
  const base = makeChannel();
  const entryPoints: EntryPoint[] = [];
  base.listen((parts) => {
    const part = makeReader(parts);
    if (part(0) !== 'host') return;
    const given = readOptions(asText(part(1)));
    if (given.plugin === '') return;
    const { channel, lifecycle, introduction } = makePlugin(given, undefined);
    defineProperty(entryPoints, entryPoints.length, dataProperty(lifecycle.entryPoint));
    if (channel.give(base.port, UP, `host ${introduction}`)) lifecycle.arm(asText(part(2)), given.hash);
  });
  base.offer(toJson(['', '', '']), doNothing);
  return freeze((nonce: unknown, hash: unknown, next: unknown) => {
    for (let i = 0; i < entryPoints.length; i++) if (entryPoints[i]?.(nonce, hash, next) === true) return true;
    return false;
  });
}

/** startLate starts a plugin in an isolated world. startLate does nothing unless the bridge waits for the plugin. */
function startLate(given: Options, evaluate: Evaluate | undefined): EntryPoint | undefined {
  const { channel, lifecycle, introduction } = makePlugin(given, evaluate);
  if (!channel.give(realDocument, given.meet, introduction)) return undefined;
  lifecycle.begin(false);
  return lifecycle.entryPoint;
}

function doNothing(): void {
  // The base has no adapter to start.
}

/**
 * makeReader returns a function that reads only own elements of an array, because a missing element would be read from
 * the page's Array.prototype.
 */
function makeReader(parts: readonly unknown[]): (index: number) => unknown {
  return (index) => (hasOwn(parts, index) ? parts[index] : undefined);
}

/** handleMessage executes a message of the bridge (handshake.ts). */
function handleMessage(
  parts: readonly unknown[],
  lifecycle: Lifecycle,
  timers: Timers,
  setSettings: (settings: unknown) => void,
  up: (text: string) => void,
): void {
  const part = makeReader(parts);
  switch (part(0)) {
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
      setSettings(part(1));
      return;
    case 'renew':
      lifecycle.arm(asText(part(1)), asText(part(2)));
      return;
    case 'remove':
      lifecycle.remove();
      return;
  }
  const call = part(1);
  if (typeof call === 'number') handleCallMessage(part, call, lifecycle, up);
}

function handleCallMessage(
  part: (index: number) => unknown,
  call: number,
  { runner }: Lifecycle,
  up: (text: string) => void,
): void {
  switch (part(0)) {
    case 'cancel':
      if (!runner.cancel(call, asText(part(2)))) up(`f ${call}`);
      return;
    case 'call': {
      const maxBytes = part(3);
      if (typeof maxBytes !== 'number') return;
      const prompt = part(5) === true;
      runner.run({ call, tool: asText(part(2)), maxBytes, args: part(4), prompt, decision: part(6) });
      return;
    }
    case 'answer': {
      const ask = part(2);
      if (typeof ask === 'number') runner.answer(call, ask, part(3) === true, part(4));
      return;
    }
    case 'resync':
      runner.resync(call, asText(part(2)));
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

import { atEndOfTask, atStart, makeChannel, pristine } from './channel.ts';
import { makeFlood } from './flood.ts';
import { type Door, type Evaluate, type Life, makeLife } from './life.ts';
import { makeLogs } from './logs.ts';
import { readOptions } from './options.ts';
import { framed, hasOwn, soon, toJson } from './primordials.ts';
import type { Outcome } from './result.ts';
import { makeSettings } from './settings.ts';
import { makeTimers, type Timers } from './timers.ts';

/**
 * start runs one plugin in this document; options is the JSON text of its Options. It must be called at document_start: in
 * a document that has content already a page script may have run, so nothing is done there. All code of the plugin runs
 * once a bridge has taken the port, still before the first page script; without a bridge its pre-script does alone. It returns
 * the door by which the plugin takes another adapter later.
 */
export function start(options: string, evaluate: Evaluate, preScript?: Evaluate): Door | undefined {
  if (!pristine()) return undefined;
  const { plugin, hash, settings: given, late, frames, base } = readOptions(options);
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
  const life = makeLife({
    services: { plugin, config: settings.config, logs, timers, readinessChanged: () => life.runner.probe() },
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
  const prepare = () => {
    if (preScript) life.prepare(preScript);
  };
  if (framed && !frames) {
    // All hosts have taken their built-ins by then.
    if (preScript) atStart(() => soon(prepare));
    return undefined;
  }
  channel.listen((parts) => take(parts, life, timers, settings.become, up));
  channel.offer(toJson([plugin, hash, base]), (taken) => {
    prepare();
    if (taken) life.begin(false);
  });
  return life.door;
}

/** take does what a message of the bridge asks for; see handshake.ts. */
function take(
  parts: readonly unknown[],
  life: Life,
  timers: Timers,
  set: (settings: unknown) => void,
  up: (text: string) => void,
): void {
  // A place that is not there would be looked up on Array.prototype, which is the page's.
  const at = (index: number): unknown => (hasOwn(parts, index) ? parts[index] : undefined);
  switch (at(0)) {
    case 'begin':
      life.begin(true);
      return;
    case 'probe':
      life.runner.probe();
      return;
    case 'wake':
      timers.wake();
      return;
    case 'settings':
      set(at(1));
      return;
    case 'renew':
      life.arm(asText(at(1)), asText(at(2)));
      return;
    case 'remove':
      life.remove();
      return;
  }
  const call = at(1);
  if (typeof call === 'number') takeForCall(at, call, life, up);
}

function takeForCall(at: (index: number) => unknown, call: number, { runner }: Life, up: (text: string) => void): void {
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

import type { Services } from './adapter-globals.ts';
import { type CallEvents, makeRunner, type Runner } from './call.ts';
import { makeContainer } from './container.ts';
import { messageOf } from './failure.ts';
import { builtIns } from './globals.ts';
import { type Patches, watchPatches } from './patches.ts';
import { apply, freeze, isFn, isObject, lookup } from './primordials.ts';
import { withPristineBuiltIns } from './pristine.ts';

/**
 * Evaluate is the code of an adapter or a pre-script (internal/jsbuild/extension.go:AdapterFunction). It gets the built-ins
 * of globals.ts and returns a function that runs the code; the parameters of that are named globalThis, window and self.
 */
export type Evaluate = (
  builtIns: object,
) => (this: unknown, scope: unknown, asWindow: unknown, asSelf: unknown) => void;

/** LifecycleOptions of the adapter of one plugin in one document. */
export interface LifecycleOptions {
  readonly services: Services;
  /** evaluate is the adapter's code; without it the adapter comes through the entry point. */
  readonly evaluate: Evaluate | undefined;
  /** late tells that it starts when the document is parsed. */
  readonly late: boolean;
  readonly events: CallEvents;
  up(text: string): void;
}

/** Lifecycle is an adapter from its start to its end. It is live at most once at a time, and by one start only. */
export interface Lifecycle {
  /** runner runs its tools. */
  readonly runner: Runner;
  /** prepare runs the plugin's pre-script. */
  prepare(preScript: Evaluate): void;
  /**
   * begin starts the adapter, unless it is too early for it. One that throws before the document is parsed is started
   * once more when it is: it may have looked for what was not there yet.
   */
  begin(parsed: boolean): void;
  /** entry point takes the adapter that arm has announced, and returns whether it was taken. */
  readonly entryPoint: EntryPoint;
  /** arm has the entry point take one adapter with this hash, from who knows nonce. */
  arm(nonce: string, hash: string): void;
  /** remove tears the adapter down. Only one that comes through the entry point starts after that. */
  remove(): void;
}

/**
 * EntryPoint takes an adapter that is brought into a document after its start. It is a constant of the script that started the host
 * (worker/entry-points.ts): a page can neither list nor replace such constants, and does not know the name of this one.
 */
export type EntryPoint = (nonce: unknown, hash: unknown, next: unknown) => boolean;

/** Armed is what the entry point takes next. */
interface Armed {
  readonly nonce: string;
  readonly hash: string;
}

/** makeLifecycle returns the lifecycle of an adapter that has not started. */
export function makeLifecycle({ services, evaluate: first, late, events, up }: LifecycleOptions): Lifecycle {
  const { plugin, logs } = services;
  let container = makeContainer(services);
  const runner = makeRunner(plugin, () => container.read(), events);
  let state: 'waiting' | 'started' | 'removed' = 'waiting';
  let code = first;
  let isParsed = false;
  /** brought is the hash of an adapter that came through the entry point and has not started. */
  let brought: string | undefined;
  let patches: Patches | undefined;
  let threw = false;
  let armed: Armed | undefined;

  /** start starts the adapter's code in the container and returns what went wrong, or nothing. */
  const start = (): string => {
    const { scope } = container;
    if (!code) return 'it has no adapter';
    threw = false;
    patches = watchPatches();
    try {
      return evaluate(code, scope, () => runner.check());
    } catch (error) {
      threw = true;
      return `the adapter threw while it started: ${messageOf(error)}`;
    } finally {
      patches.started();
    }
  };
  /** stop tears down what has started and leaves a fresh container. */
  const stop = () => {
    const adapter = runner.drop() ?? registered(plugin, container.read());
    const tearDown = () => {
      try {
        const teardown = adapter ? lookup(adapter, 'teardown') : undefined;
        if (isFn(teardown)) apply(teardown, adapter, []);
      } catch (error) {
        logs.say('warning', `the plugin ${plugin} threw while it was torn down: ${messageOf(error)}`);
      }
    };
    if (patches) patches.undone(tearDown);
    patches = undefined;
    container = makeContainer(services, container.read());
  };

  const begin = (parsed: boolean) => {
    isParsed ||= parsed;
    if (state !== 'waiting' || !code || (late && !isParsed)) return;
    const problem = start();
    if (threw && !isParsed) {
      stop();
      return;
    }
    state = 'started';
    if (problem !== '') up(`broken ${problem}`);
    else up(brought === undefined ? 'ready' : `renewed ${brought}`);
  };

  const renew = (hash: string, next: Evaluate) => {
    const old = code;
    const removed = state === 'removed';
    state = 'started';
    stop();
    code = next;
    const problem = start();
    if (problem === '') {
      up(`renewed ${hash}`);
      return;
    }
    stop();
    code = old;
    logs.say('error', `the new adapter of ${plugin} is not used: ${problem}`);
    up(`kept ${problem}`);
    if (removed) {
      state = 'removed';
      return;
    }
    const again = start();
    if (again !== '') up(`broken ${again}`);
  };
  // The nonce is told to the host over the private port and to the script that brings the adapter, and to nobody else.
  const entryPoint: EntryPoint = (nonce, hash, next) => {
    if (!armed || nonce !== armed.nonce || hash !== armed.hash || !isEvaluate(next)) return false;
    const { hash: wanted } = armed;
    armed = undefined;
    if (state === 'waiting') {
      code = next;
      brought = wanted;
      begin(isParsed);
    } else renew(wanted, next);
    return true;
  };

  return {
    runner,
    prepare: (preScript) => {
      try {
        const problem = evaluate(preScript, container.scope, () => '');
        if (problem !== '') logs.say('error', `the pre-script of ${plugin} did not run: ${problem}`);
      } catch (error) {
        logs.say('error', `the pre-script of ${plugin} threw: ${messageOf(error)}`);
      }
    },
    begin,
    entryPoint: freeze(entryPoint),
    arm: (nonce, hash) => {
      if (nonce === '') return;
      armed = { nonce, hash };
      up(`armed ${nonce}`);
    },
    remove: () => {
      if (state === 'started') stop();
      state = 'removed';
      armed = undefined;
    },
  };
}

/**
 * evaluate runs code with the built-ins as they were at document_start: the modules of an adapter keep those that they use,
 * and one that starts late would keep the page's. It returns what check then says, or why the code can't run here.
 */
function evaluate(code: Evaluate, scope: object, check: () => string): string {
  const run = () => {
    apply(apply(code, undefined, [builtIns]), scope, [scope, scope, scope]);
    return check();
  };
  return withPristineBuiltIns(run, (why) => why);
}

function isEvaluate(value: unknown): value is Evaluate {
  return isFn(value);
}

/** registered returns the adapter that is in the container, whole or not. */
function registered(plugin: string, container: unknown): object | undefined {
  const adapters = isObject(container) ? lookup(container, 'adapters') : undefined;
  const adapter = isObject(adapters) ? lookup(adapters, plugin) : undefined;
  return isObject(adapter) ? adapter : undefined;
}

import type { Services } from './adapter-globals.ts';
import { type CallEvents, makeRunner, type Runner } from './call.ts';
import { makeContainer } from './container.ts';
import { messageOf } from './failure.ts';
import { builtIns } from './globals.ts';
import { type Patches, watchPatches } from './patches.ts';
import { apply, freeze, isFn, isObject, lookup } from './primordials.ts';
import { withPristineBuiltIns } from './pristine.ts';

/**
 * Evaluate is the code of an adapter or a pre-script (internal/jsbuild/extension.go:AdapterFunction). The argument of
 * Evaluate is builtIns of globals.ts. The result is a function that runs the code, with the parameters globalThis,
 * window and self.
 */
export type Evaluate = (
  builtIns: object,
) => (this: unknown, scope: unknown, asWindow: unknown, asSelf: unknown) => void;

/** LifecycleOptions configure the adapter of one plugin in one document. */
export interface LifecycleOptions {
  readonly services: Services;
  /** evaluate is the adapter's code; undefined if the adapter arrives through the entry point. */
  readonly evaluate: Evaluate | undefined;
  /** late is true if the adapter starts after the document is parsed. */
  readonly late: boolean;
  readonly events: CallEvents;
  up(text: string): void;
}

/** Lifecycle starts, replaces and removes the adapter of one plugin. At most one adapter runs at a time. */
export interface Lifecycle {
  /** runner runs the tools of the adapter. */
  readonly runner: Runner;
  /** prepare runs the plugin's pre-script. */
  prepare(preScript: Evaluate): void;
  /**
   * begin starts the adapter. A late adapter is started only when the document is parsed. An adapter that throws before
   * the document is parsed is started again afterwards, because it may need an element that was missing.
   */
  begin(parsed: boolean): void;
  /** entryPoint accepts the adapter that arm has announced, and returns whether the adapter was accepted. */
  readonly entryPoint: EntryPoint;
  /** arm allows the entry point to accept one adapter with this hash and nonce. */
  arm(nonce: string, hash: string): void;
  /** remove tears the adapter down. After remove, only an adapter from the entry point can start. */
  remove(): void;
}

/**
 * EntryPoint accepts an adapter after the start of the document. The entry point is a constant of the script that
 * started the host (worker/delivery/entry-points.ts). A page can neither list nor replace such a constant, and cannot
 * guess its name.
 */
export type EntryPoint = (nonce: unknown, hash: unknown, next: unknown) => boolean;

/** ArmedAdapter identifies the adapter that the entry point accepts next. */
interface ArmedAdapter {
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
  /** receivedHash is the hash of an adapter from the entry point that has not started. */
  let receivedHash: string | undefined;
  let patches: Patches | undefined;
  let hasThrown = false;
  let armed: ArmedAdapter | undefined;

  /** start runs the adapter's code in the container and returns '', or the reason why the adapter failed to start. */
  const start = (): string => {
    const { scope } = container;
    if (!code) return 'the plugin has no adapter';
    hasThrown = false;
    patches = watchPatches();
    try {
      return evaluate(code, scope, () => runner.useAdapter());
    } catch (error) {
      hasThrown = true;
      return `the adapter threw while it started: ${messageOf(error)}`;
    } finally {
      patches.recordPatched();
    }
  };
  /** stop tears down the adapter and creates a new container. */
  const stop = () => {
    const adapter = runner.drop() ?? findRegistered(plugin, container.read());
    const tearDown = () => {
      try {
        const teardown = adapter ? lookup(adapter, 'teardown') : undefined;
        if (isFn(teardown)) apply(teardown, adapter, []);
      } catch (error) {
        logs.write('warning', `the plugin ${plugin} threw in teardown(): ${messageOf(error)}`);
      }
    };
    if (patches) patches.undoAfter(tearDown);
    patches = undefined;
    container = makeContainer(services, container.read());
  };

  const begin = (parsed: boolean) => {
    isParsed ||= parsed;
    if (state !== 'waiting' || !code || (late && !isParsed)) return;
    const problem = start();
    if (hasThrown && !isParsed) {
      stop();
      return;
    }
    state = 'started';
    if (problem !== '') up(`broken ${problem}`);
    else up(receivedHash === undefined ? 'ready' : `renewed ${receivedHash}`);
  };

  const replaceAdapter = (hash: string, next: Evaluate) => {
    const old = code;
    const wasRemoved = state === 'removed';
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
    logs.write('error', `the new adapter of ${plugin} is not used: ${problem}`);
    up(`kept ${problem}`);
    if (wasRemoved) {
      state = 'removed';
      return;
    }
    const restartProblem = start();
    if (restartProblem !== '') up(`broken ${restartProblem}`);
  };
  // Only the host, over the private port, and the script that contains the adapter receive the nonce.
  const entryPoint: EntryPoint = (nonce, hash, next) => {
    if (!armed || nonce !== armed.nonce || hash !== armed.hash || !isEvaluate(next)) return false;
    const { hash: wanted } = armed;
    armed = undefined;
    if (state === 'waiting') {
      code = next;
      receivedHash = wanted;
      begin(isParsed);
    } else replaceAdapter(wanted, next);
    return true;
  };

  return {
    runner,
    prepare: (preScript) => {
      try {
        const problem = evaluate(preScript, container.scope, () => '');
        if (problem !== '') logs.write('error', `the pre-script of ${plugin} did not run: ${problem}`);
      } catch (error) {
        logs.write('error', `the pre-script of ${plugin} threw: ${messageOf(error)}`);
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
 * evaluate runs code with the built-ins of document_start, because modules store the built-ins that they use, and a
 * late adapter would store built-ins that the page has replaced. evaluate returns the result of check, or the reason
 * why the code cannot run in this page.
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

/** findRegistered returns the adapter in the container, even if the host cannot use this adapter. */
function findRegistered(plugin: string, container: unknown): object | undefined {
  const adapters = isObject(container) ? lookup(container, 'adapters') : undefined;
  const adapter = isObject(adapters) ? lookup(adapters, plugin) : undefined;
  return isObject(adapter) ? adapter : undefined;
}

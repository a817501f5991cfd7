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
  /** startsLate is true if the adapter starts after the document is parsed. */
  readonly startsLate: boolean;
  readonly events: CallEvents;
  sendToBridge(text: string): void;
}

/** Lifecycle starts, replaces and removes the adapter of one plugin. At most one adapter runs at a time. */
export interface Lifecycle {
  /** runner runs the tools of the adapter. */
  readonly runner: Runner;
  /** prepare runs the plugin's pre-script. */
  prepare(preScript: Evaluate): void;
  /**
   * begin starts the adapter. An adapter that starts late is started only when the document is parsed. An adapter that
   * throws before the document is parsed is started again afterwards, because the adapter may need an element that was
   * missing.
   */
  begin(isParsed: boolean): void;
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
export function makeLifecycle({
  services,
  evaluate: firstCode,
  startsLate,
  events,
  sendToBridge,
}: LifecycleOptions): Lifecycle {
  const { plugin, logs } = services;
  let container = makeContainer(services);
  const runner = makeRunner(plugin, () => container.read(), events);
  let state: 'waiting' | 'started' | 'removed' = 'waiting';
  let currentCode = firstCode;
  let isDocumentParsed = false;
  /** receivedHash is the hash of an adapter from the entry point that has not started. */
  let receivedHash: string | undefined;
  let patches: Patches | undefined;
  let hasThrown = false;
  let armed: ArmedAdapter | undefined;

  /**
   * start runs the adapter's code in the container. start returns '', or the reason why the adapter failed to start.
   */
  const start = (): string => {
    const { scope } = container;
    if (!currentCode) return 'the plugin has no adapter';
    hasThrown = false;
    patches = watchPatches();
    try {
      return runWithBuiltIns(currentCode, scope, () => runner.useAdapter());
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

  const begin = (isParsed: boolean) => {
    isDocumentParsed ||= isParsed;
    if (state !== 'waiting' || !currentCode || (startsLate && !isDocumentParsed)) return;
    const startProblem = start();
    if (hasThrown && !isDocumentParsed) {
      stop();
      return;
    }
    state = 'started';
    if (startProblem !== '') sendToBridge(`broken ${startProblem}`);
    else sendToBridge(receivedHash === undefined ? 'ready' : `renewed ${receivedHash}`);
  };

  const replaceAdapter = (hash: string, next: Evaluate) => {
    const oldCode = currentCode;
    const wasRemoved = state === 'removed';
    state = 'started';
    stop();
    currentCode = next;
    const startProblem = start();
    if (startProblem === '') {
      sendToBridge(`renewed ${hash}`);
      return;
    }
    stop();
    currentCode = oldCode;
    logs.write('error', `the new adapter of ${plugin} is not used: ${startProblem}`);
    sendToBridge(`kept ${startProblem}`);
    if (wasRemoved) {
      state = 'removed';
      return;
    }
    const restartProblem = start();
    if (restartProblem !== '') sendToBridge(`broken ${restartProblem}`);
  };
  // Only the host, over the private port, and the script that contains the adapter receive the nonce.
  const entryPoint: EntryPoint = (nonce, hash, next) => {
    if (!armed || nonce !== armed.nonce || hash !== armed.hash || !isEvaluate(next)) return false;
    const { hash: armedHash } = armed;
    armed = undefined;
    if (state === 'waiting') {
      currentCode = next;
      receivedHash = armedHash;
      begin(isDocumentParsed);
    } else replaceAdapter(armedHash, next);
    return true;
  };

  return {
    runner,
    prepare: (preScript) => {
      try {
        const problem = runWithBuiltIns(preScript, container.scope, () => '');
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
      sendToBridge(`armed ${nonce}`);
    },
    remove: () => {
      if (state === 'started') stop();
      state = 'removed';
      armed = undefined;
    },
  };
}

/**
 * runWithBuiltIns runs code with the built-ins of document_start. Modules store the built-ins that they use, and a late
 * adapter would store built-ins that the page has replaced. runWithBuiltIns returns the result of check, or the reason
 * why the code cannot run in this page.
 */
function runWithBuiltIns(code: Evaluate, scope: object, check: () => string): string {
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

import type { HostServices } from './adapter-globals.ts';
import { type CallEvents, makeToolRunner, type ToolRunner } from './call.ts';
import { makeContainer } from './container.ts';
import { readMessage } from './failure.ts';
import type { LoggedFailure } from './failure-log.ts';
import { protectedBuiltIns } from './globals.ts';
import { type BuiltInPatchHistory, watchBuiltInPatches } from './patches.ts';
import { apply, freeze, isFn, isObject, lookup } from './primordials.ts';
import { withPristineBuiltIns } from './pristine.ts';
import { readStack } from './stack.ts';

/**
 * Evaluate is the code of an adapter or a pre-script (internal/jsbuild/extension.go:AdapterFunction). The first
 * argument of Evaluate is `builtIns` of globals.ts. The second argument of Evaluate is a function that receives an
 * error created just before the code's first line. Evaluate returns a function that runs the code, with globalThis,
 * window and self as parameters.
 */
export type Evaluate = (
  builtIns: object,
  noteOrigin: (error: unknown) => void,
) => (this: unknown, scope: unknown, asWindow: unknown, asSelf: unknown) => void;

export interface LifecycleOptions {
  readonly services: HostServices;
  /** The field `evaluate` is the code of the adapter; undefined if the adapter arrives through the entry point. */
  readonly evaluate: Evaluate | undefined;
  /** startsLate is true if the adapter starts only after the document is parsed. */
  readonly startsLate: boolean;
  readonly events: CallEvents;
  sendToBridge(text: string): void;
}

/** Lifecycle starts, replaces and removes the adapter of one plugin. At most one adapter runs at a time. */
export interface Lifecycle {
  readonly runner: ToolRunner;
  prepare(preScript: Evaluate): void;
  /**
   * An adapter that throws before the document is parsed is restarted afterwards, because the cause can be a missing
   * element.
   */
  begin(isParsed: boolean): void;
  /** entryPoint accepts only the adapter that armEntryPoint announced, and returns true if the adapter was accepted. */
  readonly entryPoint: EntryPoint;
  /** armEntryPoint allows the entry point to accept one adapter with the given hash and nonce. */
  armEntryPoint(nonce: string, hash: string): void;
  /**
   * After a call of the method remove, only an adapter that arrives through the entry point can start the plugin again.
   */
  remove(): void;
}

/**
 * EntryPoint is a function through which a plugin receives an adapter after the document has started. The script that
 * started the host stores the entry point in a constant (worker/delivery/entry-points.ts). The page can neither list
 * nor replace the constant of an entry point, and cannot guess the constant's name.
 */
export type EntryPoint = (nonce: unknown, hash: unknown, next: unknown) => boolean;

/** ExpectedAdapter identifies the only adapter that the entry point accepts next. */
interface ExpectedAdapter {
  readonly nonce: string;
  readonly hash: string;
}

interface StartResult {
  readonly problem: string;
  readonly hasThrown: boolean;
}

interface AdapterSlot {
  readonly runner: ToolRunner;
  prepare(preScript: Evaluate): void;
  start(code: Evaluate | undefined): StartResult;
  /** The method `stop` tears down the adapter, and creates a new container for the next adapter. */
  stop(): void;
}

function makeAdapterSlot(services: HostServices, events: CallEvents): AdapterSlot {
  const { plugin, logs } = services;
  let container = makeContainer(services);
  /** The constant `origin` is an error whose stack trace points to the line before the adapter's first line. */
  let origin: unknown;
  const noteOrigin = (error: unknown) => {
    origin = error;
  };
  const logFailure = (failure: LoggedFailure) => {
    const stack = failure.stack === '' ? undefined : { stack: failure.stack, origin: readStack(origin) };
    logs.write(failure.level, failure.message, stack);
  };
  const runner = makeToolRunner(plugin, () => container.read(), events, logFailure);
  let patches: BuiltInPatchHistory | undefined;

  const prepare = (preScript: Evaluate) => {
    try {
      const problem = runWithBuiltIns(preScript, container.scope, () => '', doNothing);
      if (problem !== '') logs.write('error', `the pre-script of ${plugin} did not run: ${problem}`);
    } catch (error) {
      logs.write('error', `the pre-script of ${plugin} threw: ${readMessage(error)}`);
    }
  };
  const start = (code: Evaluate | undefined): StartResult => {
    const { scope } = container;
    if (!code) return { problem: 'the plugin has no adapter', hasThrown: false };
    patches = watchBuiltInPatches();
    try {
      return { problem: runWithBuiltIns(code, scope, () => runner.useAdapter(), noteOrigin), hasThrown: false };
    } catch (error) {
      return { problem: `the adapter threw while it started: ${readMessage(error)}`, hasThrown: true };
    } finally {
      patches.recordPatched();
    }
  };
  const stop = () => {
    const adapter = runner.drop() ?? findRegisteredAdapter(plugin, container.read());
    const tearDown = () => {
      try {
        const teardown = adapter ? lookup(adapter, 'teardown') : undefined;
        if (isFn(teardown)) apply(teardown, adapter, []);
      } catch (error) {
        logs.write('warning', `the plugin ${plugin} threw in teardown(): ${readMessage(error)}`);
      }
    };
    if (patches) patches.undoAfter(tearDown);
    patches = undefined;
    container = makeContainer(services, container.read());
  };
  return { runner, prepare, start, stop };
}

/**
 * makeEntryPoint returns an entry point that accepts one adapter for each call of `arm`, and passes the adapter to
 * `accept`.
 */
function makeEntryPoint(sendToBridge: (text: string) => void, accept: (hash: string, next: Evaluate) => void) {
  let armed: ExpectedAdapter | undefined;
  // Besides the host, which receives the nonce over the private port, only the script that contains the adapter has the
  // nonce.
  const entryPoint: EntryPoint = (nonce, hash, next) => {
    if (!armed || nonce !== armed.nonce || hash !== armed.hash || !isEvaluate(next)) return false;
    const { hash: armedHash } = armed;
    armed = undefined;
    accept(armedHash, next);
    return true;
  };
  const arm = (nonce: string, hash: string) => {
    if (nonce === '') return;
    armed = { nonce, hash };
    sendToBridge(`armed ${nonce}`);
  };
  const disarm = () => {
    armed = undefined;
  };
  return { entryPoint: freeze(entryPoint), arm, disarm };
}

export function makeLifecycle(options: LifecycleOptions): Lifecycle {
  const { services, startsLate, sendToBridge } = options;
  const slot = makeAdapterSlot(services, options.events);
  let state: 'waiting' | 'started' | 'removed' = 'waiting';
  let currentCode = options.evaluate;
  let isDocumentParsed = false;
  /** receivedHash is the hash of an adapter that arrived through the entry point and has not started. */
  let receivedHash: string | undefined;

  const begin = (isParsed: boolean) => {
    isDocumentParsed ||= isParsed;
    if (state !== 'waiting' || !currentCode || (startsLate && !isDocumentParsed)) return;
    const { problem, hasThrown } = slot.start(currentCode);
    if (hasThrown && !isDocumentParsed) {
      slot.stop();
      return;
    }
    state = 'started';
    if (problem !== '') sendToBridge(`broken ${problem}`);
    else sendToBridge(receivedHash === undefined ? 'ready' : `renewed ${receivedHash}`);
  };

  /** If the new adapter fails to start, replaceAdapter starts the old adapter again. */
  const replaceAdapter = (hash: string, next: Evaluate) => {
    slot.stop();
    const { problem } = slot.start(next);
    if (problem === '') {
      currentCode = next;
      state = 'started';
      sendToBridge(`renewed ${hash}`);
      return;
    }
    slot.stop();
    services.logs.write('error', `the new adapter of ${services.plugin} is not used: ${problem}`);
    sendToBridge(`kept ${problem}`);
    if (state === 'removed') return;
    const restart = slot.start(currentCode);
    if (restart.problem !== '') sendToBridge(`broken ${restart.problem}`);
  };
  const { entryPoint, arm, disarm } = makeEntryPoint(sendToBridge, (hash, next) => {
    if (state !== 'waiting') {
      replaceAdapter(hash, next);
      return;
    }
    currentCode = next;
    receivedHash = hash;
    begin(isDocumentParsed);
  });
  const remove = () => {
    if (state === 'started') slot.stop();
    state = 'removed';
    disarm();
  };
  return { runner: slot.runner, prepare: slot.prepare, begin, entryPoint, armEntryPoint: arm, remove };
}

/**
 * runWithBuiltIns runs the code of an adapter or pre-script with the built-in functions of document_start. Modules
 * store built-in functions when they load, so a late adapter would otherwise store functions that the page has
 * replaced.
 */
function runWithBuiltIns(
  code: Evaluate,
  scope: object,
  check: () => string,
  noteOrigin: (error: unknown) => void,
): string {
  const run = () => {
    apply(apply(code, undefined, [protectedBuiltIns, noteOrigin]), scope, [scope, scope, scope]);
    return check();
  };
  return withPristineBuiltIns(run, (why) => why);
}

function doNothing(): void {
  // The host does not map positions in stack traces of a pre-script to the author's source.
}

function isEvaluate(value: unknown): value is Evaluate {
  return isFn(value);
}

/** findRegisteredAdapter returns the registered adapter in the container, even if the adapter is invalid. */
function findRegisteredAdapter(plugin: string, container: unknown): object | undefined {
  const adapters = isObject(container) ? lookup(container, 'adapters') : undefined;
  const adapter = isObject(adapters) ? lookup(adapters, plugin) : undefined;
  return isObject(adapter) ? adapter : undefined;
}

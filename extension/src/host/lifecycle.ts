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
 * AdapterCode is the code of an adapter or a pre-script (internal/jsbuild/extension.go:adapterFunction). The first
 * argument of an AdapterCode is `protectedBuiltIns` of globals.ts. The second argument is a function that receives an
 * error created just before the code's first line. An AdapterCode returns a function that runs the code, with
 * globalThis, window and self as parameters.
 */
export type AdapterCode = (
  builtIns: object,
  recordStackOrigin: (error: unknown) => void,
) => (this: unknown, adapterScope: unknown, windowScope: unknown, selfObject: unknown) => void;

export interface LifecycleOptions {
  readonly hostServices: HostServices;
  /** evaluateAdapter is the code of the adapter, or undefined if the adapter arrives through the entry point. */
  readonly evaluateAdapter: AdapterCode | undefined;
  /** startsAfterParsing is true if the adapter starts only after the document is parsed. */
  readonly startsAfterParsing: boolean;
  readonly events: CallEvents;
  sendToBridge(text: string): void;
}

/** Lifecycle starts, replaces and removes the adapter of one plugin. At most one adapter runs at a time. */
export interface Lifecycle {
  readonly toolRunner: ToolRunner;
  runPreScript(preScript: AdapterCode): void;
  /**
   * If an adapter throws before the document is parsed, `begin` restarts the adapter after the parsing, because the
   * cause may be a missing element.
   */
  begin(isParsed: boolean): void;
  /** entryPoint accepts only the adapter that armEntryPoint announced, and returns true if the adapter was accepted. */
  readonly entryPoint: EntryPoint;
  /** armEntryPoint allows the entry point to accept one adapter with the given hash and nonce. */
  armEntryPoint(nonce: string, hash: string): void;
  /**
   * The method `remove` stops the adapter; only a new adapter that arrives through the entry point can start the plugin
   * again.
   */
  remove(): void;
}

/**
 * EntryPoint is a function through which a plugin receives an adapter after the document has started. The script that
 * started the host stores the entry point in a constant (worker/delivery/entry-points.ts). The page can neither list
 * nor replace the constant of an entry point, and cannot guess the constant's name.
 */
export type EntryPoint = (nonce: unknown, hash: unknown, newAdapterCode: unknown) => boolean;

/** ExpectedAdapter identifies the only adapter that the entry point accepts next. */
interface ExpectedAdapter {
  readonly nonce: string;
  readonly hash: string;
}

interface StartResult {
  readonly adapterStartError: string;
  readonly hasThrown: boolean;
}

interface AdapterSlot {
  readonly toolRunner: ToolRunner;
  runPreScript(preScript: AdapterCode): void;
  start(code: AdapterCode | undefined): StartResult;
  /** The method `stop` tears down the adapter, and creates a new container for the next adapter. */
  stop(): void;
}

function makeAdapterSlot(hostServices: HostServices, events: CallEvents): AdapterSlot {
  const { plugin, logs } = hostServices;
  let container = makeContainer(hostServices);
  /**
   * pageOrigin is an error that was created in the line before the adapter's first line; its stack trace locates the
   * adapter's code.
   */
  let pageOrigin: unknown;
  const recordStackOrigin = (error: unknown) => {
    pageOrigin = error;
  };
  const logFailure = (failure: LoggedFailure) => {
    const stack = failure.stack === '' ? undefined : { stack: failure.stack, origin: readStack(pageOrigin) };
    logs.write(failure.level, failure.message, stack);
  };
  const toolRunner = makeToolRunner(plugin, () => container.read(), events, logFailure);
  let patchHistory: BuiltInPatchHistory | undefined;

  const runPreScript = (preScript: AdapterCode) => {
    try {
      const adapterStartError = runWithBuiltIns(preScript, container.scopeProxy, () => '', doNothing);
      if (adapterStartError !== '')
        logs.write('error', `the pre-script of ${plugin} did not run: ${adapterStartError}`);
    } catch (error) {
      logs.write('error', `the pre-script of ${plugin} threw: ${readMessage(error)}`);
    }
  };
  const startAdapter = (code: AdapterCode | undefined): StartResult => {
    const { scopeProxy: adapterScope } = container;
    if (!code) return { adapterStartError: 'the plugin has no adapter', hasThrown: false };
    patchHistory = watchBuiltInPatches();
    try {
      return {
        adapterStartError: runWithBuiltIns(code, adapterScope, () => toolRunner.useAdapter(), recordStackOrigin),
        hasThrown: false,
      };
    } catch (error) {
      return { adapterStartError: `the adapter threw while it started: ${readMessage(error)}`, hasThrown: true };
    } finally {
      patchHistory.recordPatchedMethods();
    }
  };
  const stopAdapter = () => {
    const adapter = toolRunner.drop() ?? findRegisteredAdapter(plugin, container.read());
    const tearDown = () => {
      try {
        const teardown = adapter ? lookup(adapter, 'teardown') : undefined;
        if (isFn(teardown)) apply(teardown, adapter, []);
      } catch (error) {
        logs.write('warning', `the plugin ${plugin} threw in teardown(): ${readMessage(error)}`);
      }
    };
    if (patchHistory) patchHistory.tearDownAndUndoPatches(tearDown);
    patchHistory = undefined;
    container = makeContainer(hostServices, container.read());
  };
  return { toolRunner, runPreScript, start: startAdapter, stop: stopAdapter };
}

/**
 * makeEntryPoint returns an entry point that accepts only the expected adapter, and passes this adapter to a callback.
 */
function makeEntryPoint(
  sendToBridge: (text: string) => void,
  acceptAdapter: (hash: string, newAdapterCode: AdapterCode) => void,
) {
  let expectedAdapter: ExpectedAdapter | undefined;
  // Besides the host, which receives the nonce over the private port, only the script that contains the adapter has the
  // nonce.
  const entryPoint: EntryPoint = (nonce, hash, newAdapterCode) => {
    if (
      !expectedAdapter ||
      nonce !== expectedAdapter.nonce ||
      hash !== expectedAdapter.hash ||
      !isAdapterCode(newAdapterCode)
    )
      return false;
    const { hash: expectedHash } = expectedAdapter;
    expectedAdapter = undefined;
    acceptAdapter(expectedHash, newAdapterCode);
    return true;
  };
  const armEntryPoint = (nonce: string, hash: string) => {
    if (nonce === '') return;
    expectedAdapter = { nonce, hash };
    sendToBridge(`armed ${nonce}`);
  };
  const disarmEntryPoint = () => {
    expectedAdapter = undefined;
  };
  return { entryPoint: freeze(entryPoint), armEntryPoint, disarmEntryPoint };
}

export function makeLifecycle(options: LifecycleOptions): Lifecycle {
  const { hostServices, startsAfterParsing, sendToBridge } = options;
  const adapterSlot = makeAdapterSlot(hostServices, options.events);
  let adapterState: 'waiting' | 'started' | 'removed' = 'waiting';
  let adapterCode = options.evaluateAdapter;
  let isDocumentParsed = false;
  /** receivedHash is the hash of an adapter that arrived through the entry point and has not started. */
  let receivedHash: string | undefined;

  const startAdapter = (isParsed: boolean) => {
    isDocumentParsed ||= isParsed;
    if (adapterState !== 'waiting' || !adapterCode || (startsAfterParsing && !isDocumentParsed)) return;
    const { adapterStartError, hasThrown } = adapterSlot.start(adapterCode);
    if (hasThrown && !isDocumentParsed) {
      adapterSlot.stop();
      return;
    }
    adapterState = 'started';
    if (adapterStartError !== '') sendToBridge(`broken ${adapterStartError}`);
    else sendToBridge(receivedHash === undefined ? 'ready' : `renewed ${receivedHash}`);
  };

  /** If the new adapter fails to start, replaceAdapter starts the old adapter again. */
  const replaceAdapter = (hash: string, newAdapterCode: AdapterCode) => {
    adapterSlot.stop();
    const { adapterStartError } = adapterSlot.start(newAdapterCode);
    if (adapterStartError === '') {
      adapterCode = newAdapterCode;
      adapterState = 'started';
      sendToBridge(`renewed ${hash}`);
      return;
    }
    adapterSlot.stop();
    hostServices.logs.write('error', `the new adapter of ${hostServices.plugin} is not used: ${adapterStartError}`);
    sendToBridge(`kept ${adapterStartError}`);
    if (adapterState === 'removed') return;
    const restartResult = adapterSlot.start(adapterCode);
    if (restartResult.adapterStartError !== '') sendToBridge(`broken ${restartResult.adapterStartError}`);
  };
  const { entryPoint, armEntryPoint, disarmEntryPoint } = makeEntryPoint(sendToBridge, (hash, newAdapterCode) => {
    if (adapterState !== 'waiting') {
      replaceAdapter(hash, newAdapterCode);
      return;
    }
    adapterCode = newAdapterCode;
    receivedHash = hash;
    startAdapter(isDocumentParsed);
  });
  const removeAdapter = () => {
    if (adapterState === 'started') adapterSlot.stop();
    adapterState = 'removed';
    disarmEntryPoint();
  };
  return {
    toolRunner: adapterSlot.toolRunner,
    runPreScript: adapterSlot.runPreScript,
    begin: startAdapter,
    entryPoint,
    armEntryPoint,
    remove: removeAdapter,
  };
}

/**
 * runWithBuiltIns runs the code of an adapter or pre-script with the built-in functions of document_start. Modules
 * store built-in functions when they load, so a late adapter would otherwise store functions that the page has
 * replaced.
 */
function runWithBuiltIns(
  code: AdapterCode,
  adapterScope: object,
  findPageProblem: () => string,
  recordStackOrigin: (error: unknown) => void,
): string {
  const runAdapter = () => {
    apply(apply(code, undefined, [protectedBuiltIns, recordStackOrigin]), adapterScope, [
      adapterScope,
      adapterScope,
      adapterScope,
    ]);
    return findPageProblem();
  };
  return withPristineBuiltIns(runAdapter, (refusalReason) => refusalReason);
}

function doNothing(): void {
  // A pre-script needs no error at its first line, because the host does not map its stack traces to the author's
  // source.
}

function isAdapterCode(value: unknown): value is AdapterCode {
  return isFn(value);
}

/** findRegisteredAdapter returns the registered adapter in the container, even if the adapter is invalid. */
function findRegisteredAdapter(plugin: string, container: unknown): object | undefined {
  const adapters = isObject(container) ? lookup(container, 'adapters') : undefined;
  const adapter = isObject(adapters) ? lookup(adapters, plugin) : undefined;
  return isObject(adapter) ? adapter : undefined;
}

import { readMessage } from './failure.ts';
import { apply, dataProperty, defineProperty, isFn, isObject, lookup, whenSettled } from './primordials.ts';
import { makeTimeoutScheduler } from './timeouts.ts';

const IsReadyTimeoutMs = 5000;

const readyTimeout = makeTimeoutScheduler(IsReadyTimeoutMs);

/**
 * Readiness calls isReady() of a plugin's adapters, and reports changes of the result. The server uses the readiness of
 * plugins to choose tabs for calls.
 */
export interface Readiness {
  /** The method `watch` sets the adapter whose readiness is reported; watch(undefined) stops the reports. */
  watch(adapter: object | undefined): void;
  /**
   * The method `check` calls isReady() of an adapter, and calls `done` once with the outcome. The argument of `done` is
   * the reason why the adapter is not ready, or undefined if the adapter is ready.
   */
  check(adapter: object, done: (problem: string | undefined) => void): void;
  /** If `probe` is called while isReady() is already running, isReady() runs once more afterwards. */
  probe(): void;
}

export function makeReadiness(
  plugin: string,
  readContainer: () => unknown,
  onChange: (ready: boolean) => void,
): Readiness {
  let watched: object | undefined;
  let lastReady: boolean | undefined;
  let isProbing = false;
  let mustProbeAgain = false;

  const check = (adapter: object, done: (problem: string | undefined) => void) =>
    callIsReady(plugin, readContainer(), adapter, (problem) => {
      const ready = problem === undefined;
      if (adapter === watched && ready !== lastReady) {
        lastReady = ready;
        onChange(ready);
      }
      done(problem);
    });
  const probe = () => {
    if (!watched) return;
    mustProbeAgain = isProbing;
    if (isProbing) return;
    isProbing = true;
    check(watched, () => {
      isProbing = false;
      if (mustProbeAgain) probe();
    });
  };
  const watch = (adapter: object | undefined) => {
    watched = adapter;
    lastReady = undefined;
  };
  return { watch, check, probe };
}

function callIsReady(
  plugin: string,
  container: unknown,
  adapter: object,
  done: (problem: string | undefined) => void,
): void {
  let isDone = false;
  const finish = (problem: string | undefined) => {
    if (isDone) return;
    isDone = true;
    stopTimeout();
    done(problem);
  };
  const stopTimeout = readyTimeout(() => finish(`isReady() did not return within ${IsReadyTimeoutMs / 1000} s`));
  const finishWithThrown = (error: unknown) => finish(`isReady() threw: ${readMessage(error)}`);
  try {
    // The function getPreScriptValue of the original OpenTabs SDK reads the plugin's name from `_pluginName`.
    if (isObject(container)) defineProperty(container, '_pluginName', dataProperty(plugin));
    const isReady = lookup(adapter, 'isReady');
    const result = isFn(isReady) ? apply(isReady, adapter, []) : false;
    whenSettled(
      result,
      (ready) => finish(ready === true ? undefined : 'isReady() did not return true'),
      finishWithThrown,
    );
  } catch (error) {
    finishWithThrown(error);
  }
}

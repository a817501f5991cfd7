import { messageOf } from './failure.ts';
import { apply, dataProperty, defineProperty, isFn, isObject, lookup, whenSettled } from './primordials.ts';
import { makeTimeout } from './timeouts.ts';

/** ReadyMs is the time limit of an adapter's isReady(), in milliseconds. */
const ReadyMs = 5000;

const readyTimeout = makeTimeout(ReadyMs);

/** Readiness calls isReady() of one plugin's adapters, and reports changes: the server chooses tabs by readiness. */
export interface Readiness {
  /** watch sets the adapter whose readiness is reported; without an adapter, reporting stops. */
  watch(adapter: object | undefined): void;
  /**
   * check calls isReady() of an adapter, and then done once: with undefined, or with the reason why the adapter is not
   * ready.
   */
  check(adapter: object, done: (problem: string | undefined) => void): void;
  /**
   * probe checks the watched adapter. If a check by probe is running, probe checks once more when the running check has
   * ended.
   */
  probe(): void;
}

/** makeReadiness returns a Readiness. read returns the container of the adapters. */
export function makeReadiness(plugin: string, read: () => unknown, changed: (ready: boolean) => void): Readiness {
  let watched: object | undefined;
  let lastReady: boolean | undefined;
  let isProbing = false;
  let mustProbeAgain = false;

  const check = (adapter: object, done: (problem: string | undefined) => void) =>
    callIsReady(plugin, read(), adapter, (problem) => {
      const ready = problem === undefined;
      if (adapter === watched && ready !== lastReady) {
        lastReady = ready;
        changed(ready);
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
  const stopTimeout = readyTimeout(() => finish(`isReady() gave no answer for ${ReadyMs / 1000} s`));
  const threw = (error: unknown) => finish(`isReady() threw: ${messageOf(error)}`);
  try {
    // getPreScriptValue of the original OpenTabs SDK reads the plugin's name here.
    if (isObject(container)) defineProperty(container, '_pluginName', dataProperty(plugin));
    const isReady = lookup(adapter, 'isReady');
    const result = isFn(isReady) ? apply(isReady, adapter, []) : false;
    whenSettled(result, (ready) => finish(ready === true ? undefined : 'isReady() did not return true'), threw);
  } catch (error) {
    threw(error);
  }
}

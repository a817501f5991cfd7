import { readMessage } from './failure.ts';
import { apply, dataProperty, defineProperty, isFn, isObject, lookup, whenSettled } from './primordials.ts';
import { makeTimeoutScheduler } from './timeouts.ts';

const IsReadyTimeoutMs = 5000;

const readyTimeout = makeTimeoutScheduler(IsReadyTimeoutMs);

/**
 * ReadinessCheck calls isReady() of a plugin's adapters, and reports changes of the result. The server uses the
 * readiness of plugins to choose tabs for calls.
 */
export interface ReadinessCheck {
  /** The method `watch` sets the adapter whose readiness is reported; watch(undefined) stops the reports. */
  watch(adapter: object | undefined): void;
  /**
   * The method `check` calls isReady() of an adapter, and calls `onChecked` once with the outcome. The argument of
   * `onChecked` is the reason why the adapter is not ready, or undefined if the adapter is ready.
   */
  check(adapter: object, onChecked: (notReadyReason: string | undefined) => void): void;
  /** If the method `probe` is called while isReady() is running, isReady() runs once more afterwards. */
  probe(): void;
}

export function makeReadiness(
  plugin: string,
  readContainer: () => unknown,
  onChange: (isReady: boolean) => void,
): ReadinessCheck {
  let watchedAdapter: object | undefined;
  let lastReady: boolean | undefined;
  let isProbing = false;
  let mustProbeAgain = false;

  const checkReadiness = (adapter: object, onChecked: (notReadyReason: string | undefined) => void) =>
    checkAdapterIsReady(plugin, readContainer(), adapter, (notReadyReason) => {
      const isReady = notReadyReason === undefined;
      if (adapter === watchedAdapter && isReady !== lastReady) {
        lastReady = isReady;
        onChange(isReady);
      }
      onChecked(notReadyReason);
    });
  const probeReadiness = () => {
    if (!watchedAdapter) return;
    mustProbeAgain = isProbing;
    if (isProbing) return;
    isProbing = true;
    checkReadiness(watchedAdapter, () => {
      isProbing = false;
      if (mustProbeAgain) probeReadiness();
    });
  };
  const watchAdapter = (adapter: object | undefined) => {
    watchedAdapter = adapter;
    lastReady = undefined;
  };
  return { watch: watchAdapter, check: checkReadiness, probe: probeReadiness };
}

function checkAdapterIsReady(
  plugin: string,
  container: unknown,
  adapter: object,
  onChecked: (notReadyReason: string | undefined) => void,
): void {
  let isDone = false;
  const finishCheck = (notReadyReason: string | undefined) => {
    if (isDone) return;
    isDone = true;
    stopTimeout();
    onChecked(notReadyReason);
  };
  const stopTimeout = readyTimeout(() => finishCheck(`isReady() did not return within ${IsReadyTimeoutMs / 1000} s`));
  const finishWithThrown = (error: unknown) => finishCheck(`isReady() threw: ${readMessage(error)}`);
  try {
    // The function getPreScriptValue of the original OpenTabs SDK reads the plugin's name from `_pluginName`.
    if (isObject(container)) defineProperty(container, '_pluginName', dataProperty(plugin));
    const isReady = lookup(adapter, 'isReady');
    const readyResult = isFn(isReady) ? apply(isReady, adapter, []) : false;
    whenSettled(
      readyResult,
      (ready) => finishCheck(ready === true ? undefined : 'isReady() did not return true'),
      finishWithThrown,
    );
  } catch (error) {
    finishWithThrown(error);
  }
}

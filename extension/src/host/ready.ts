import { messageOf } from './failure.ts';
import { apply, dataProperty, defineProperty, isFn, isObject, lookup, whenSettled } from './primordials.ts';
import { makeTimeout } from './timeouts.ts';

/** ReadyMs is the time limit of an adapter's isReady(), in milliseconds. */
const ReadyMs = 5000;

const readyTimeout = makeTimeout(ReadyMs);

/** callIsReady calls isReady() of an adapter, and then done once: with undefined, or with the reason why it is not ready. */
export function callIsReady(
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

import { messageOf } from './failure.ts';
import { apply, dataProperty, defineProperty, isFn, isObject, lookup, whenSettled } from './primordials.ts';
import { makeTimeout } from './timeouts.ts';

/** ReadyMs is how long an adapter's isReady() may take, in milliseconds. */
const ReadyMs = 5000;

const readyTimeout = makeTimeout(ReadyMs);

/** askReady asks an adapter whether it can work and calls answer once: with nothing, or with why it can't. */
export function askReady(
  plugin: string,
  container: unknown,
  adapter: object,
  answer: (problem: string | undefined) => void,
): void {
  let asked = true;
  const once = (problem: string | undefined) => {
    if (!asked) return;
    asked = false;
    inTime();
    answer(problem);
  };
  const inTime = readyTimeout(() => once(`isReady() gave no answer for ${ReadyMs / 1000} s`));
  const threw = (error: unknown) => once(`isReady() threw: ${messageOf(error)}`);
  try {
    // getPreScriptValue of existing adapters finds its plugin by this.
    if (isObject(container)) defineProperty(container, '_pluginName', dataProperty(plugin));
    const isReady = lookup(adapter, 'isReady');
    const said = isFn(isReady) ? apply(isReady, adapter, []) : false;
    whenSettled(said, (ready) => once(ready === true ? undefined : 'isReady() did not say true'), threw);
  } catch (error) {
    threw(error);
  }
}

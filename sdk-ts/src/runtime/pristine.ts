import { getContainer } from './container.ts';
import { apply, lookup } from './primordials.ts';
import { isMethod } from './value.ts';

/**
 * Runs synchronous code of the SDK with the language built-ins of document_start, and returns its result. Code that
 * `work` calls can use built-ins such as `map` or `Object.keys` as usual. On platforms without the host function
 * `_withPristineBuiltIns`, `work` runs unprotected. Throws if the page has changed and locked a built-in.
 */
export function withPristineBuiltIns<T>(work: () => T): T {
  const container = getContainer();
  const runProtected = container ? lookup(container, '_withPristineBuiltIns') : undefined;
  if (!isMethod(runProtected)) return work();
  let outcome: { value: T } | undefined;
  apply(runProtected, undefined, [
    () => {
      outcome = { value: work() };
    },
  ]);
  return outcome ? outcome.value : work();
}

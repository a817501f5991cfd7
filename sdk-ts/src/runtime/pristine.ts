import { container } from './container.ts';
import { apply, lookup } from './primordials.ts';
import { isMethod } from './value.ts';

/**
 * Runs synchronous code of the SDK with the language built-ins of document_start, and returns its result. So helpers of the
 * SDK may look up `map` or `Object.keys` like any code. On platforms without this function the code runs unprotected.
 * Throws if the page has changed and locked a built-in.
 */
export function pristinely<T>(work: () => T): T {
  const own = container();
  const run = own ? lookup(own, '_withPristineBuiltIns') : undefined;
  if (!isMethod(run)) return work();
  let done: { value: T } | undefined;
  apply(run, undefined, [
    () => {
      done = { value: work() };
    },
  ]);
  return done ? done.value : work();
}

import { container } from './container.ts';
import { apply, lookup } from './primordials.ts';
import { isMethod } from './value.ts';

/**
 * Runs synchronous code of the SDK with the built-ins of the language as they were before the page's first script, and
 * returns what it returns. So the SDK's helpers may look up `map` or `Object.keys` as any code does. A platform that has no
 * such function runs the code as it is. It throws if the page has locked a changed built-in.
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

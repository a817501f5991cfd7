import { getContainer } from './container.ts';
import { apply, getSafeProperty } from './primordials.ts';
import { isMethod } from './value.ts';

/**
 * Runs the synchronous function `work` while the extension undoes the page's changes to language built-ins. On
 * platforms without `_withPristineBuiltIns`, such as the original OpenTabs, `work` runs unprotected. Throws if the page
 * has changed and locked a built-in.
 */
export function withPristineBuiltIns<T>(work: () => T): T {
  const container = getContainer();
  const runProtected = container ? getSafeProperty(container, '_withPristineBuiltIns') : undefined;
  if (!isMethod(runProtected)) return work();
  let outcome: { value: T } | undefined;
  apply(runProtected, undefined, [
    () => {
      outcome = { value: work() };
    },
  ]);
  return outcome ? outcome.value : work();
}

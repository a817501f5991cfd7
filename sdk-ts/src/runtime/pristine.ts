import { getContainer } from './container.ts';
import { apply, getSafeProperty } from './primordials.ts';
import { isMethod } from './value.ts';

/**
 * Runs the synchronous function `callback` while the extension undoes the page's changes to language built-ins. On
 * platforms without `_withPristineBuiltIns`, such as the original OpenTabs, `callback` runs unprotected. Throws if the
 * page has changed and locked a built-in.
 */
export function withPristineBuiltIns<T>(callback: () => T): T {
  const container = getContainer();
  const runWithBuiltIns = container ? getSafeProperty(container, '_withPristineBuiltIns') : undefined;
  if (!isMethod(runWithBuiltIns)) return callback();
  let callbackResult: { value: T } | undefined;
  apply(runWithBuiltIns, undefined, [
    () => {
      callbackResult = { value: callback() };
    },
  ]);
  return callbackResult ? callbackResult.value : callback();
}

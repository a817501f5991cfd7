import { getContainer } from './runtime/container.ts';
import { getSafeProperty } from './runtime/primordials.ts';
import { isMethod } from './runtime/value.ts';

/**
 * Makes opentabs call the plugin's `isReady` now. Call `notifyReadinessChanged` after the user has logged in or out, so
 * that agents see the change immediately instead of within 30 s. `notifyReadinessChanged` never throws.
 */
export function notifyReadinessChanged(): void {
  const container = getContainer();
  const notify = container ? getSafeProperty(container, '_notifyReadinessChanged') : undefined;
  if (!isMethod(notify)) return;
  try {
    notify();
  } catch {
    // An error of `notify` is ignored, because opentabs calls `isReady` again within 30 s anyway.
  }
}

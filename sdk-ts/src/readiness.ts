import { getContainer } from './runtime/container.ts';
import { lookup } from './runtime/primordials.ts';
import { isMethod } from './runtime/value.ts';

/**
 * Runs the plugin's `isReady` again at once. Call `notifyReadinessChanged` after a login or logout of the user, so that
 * agents see the change immediately instead of within 30 s. Never throws.
 */
export function notifyReadinessChanged(): void {
  const container = getContainer();
  const notify = container ? lookup(container, '_notifyReadinessChanged') : undefined;
  if (!isMethod(notify)) return;
  try {
    notify();
  } catch {
    // An error needs no handling, because the platform runs isReady again within 30 s.
  }
}

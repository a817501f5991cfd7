import { container } from './runtime/container.ts';
import { lookup } from './runtime/primordials.ts';
import { isMethod } from './runtime/value.ts';

/**
 * Has `isReady` asked again, now. Call it when the person has logged in or out, so that agents learn of it at once and not
 * within 30 s. It never throws.
 */
export function notifyReadinessChanged(): void {
  const own = container();
  const notify = own ? lookup(own, '_notifyReadinessChanged') : undefined;
  if (!isMethod(notify)) return;
  try {
    notify();
  } catch {
    // The platform asks by itself later.
  }
}

import { isBag, isMethod } from './runtime/value.ts';

/**
 * Has `isReady` asked again, now. Call it when the person has logged in or out, so that agents learn of it at once and not
 * within 30 s. It never throws.
 */
export function notifyReadinessChanged(): void {
  const container = globalThis.__openTabs;
  if (!isBag(container) || !isMethod(container._notifyReadinessChanged)) return;
  try {
    container._notifyReadinessChanged();
  } catch {
    // The platform asks by itself later.
  }
}

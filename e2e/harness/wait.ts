/**
 * waitFor calls probe every 25 ms until probe returns a value other than undefined or false, and returns that value.
 * After limitMs, waitFor throws an error that contains awaitedEvent, a noun phrase such as "the first report". The
 * default limit is long enough for a slow machine.
 */
export async function waitFor<T>(
  awaitedEvent: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 60_000,
): Promise<T> {
  const endMs = Date.now() + limitMs;
  let lastError: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() > endMs)
      throw new Error(`waited ${limitMs} ms for: ${awaitedEvent}${lastError ? ` (${String(lastError)})` : ''}`);
    await pause(25);
  }
}

/** pause waits for a fixed time. Use pause to pace a real system, never to wait for a result. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

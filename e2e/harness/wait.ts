/**
 * until calls probe until it returns something other than undefined or false; it fails with what after limitMs. The default is for
 * what comes by itself: long enough for the slowest machine, so that it ends a test that hangs and measures nothing.
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 60_000,
): Promise<T> {
  const end = Date.now() + limitMs;
  let last: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`waited ${limitMs} ms for: ${what}${last ? ` (${String(last)})` : ''}`);
    await pause(25);
  }
}

/** pause waits; for pacing a real system, never for hoping that something is done. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

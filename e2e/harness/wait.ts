/**
 * until polls probe until probe returns a value other than undefined or false. After limitMs it throws an error that contains
 * what. The default limit is long enough for a slow machine. It ends a test that hangs, and measures nothing.
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

/** pause waits for a fixed time. Use it to pace a real system, never to wait for a result. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

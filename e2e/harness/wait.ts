import { setTimeout } from 'node:timers/promises';

/**
 * waitFor calls probe until probe returns a value other than undefined or false. waitFor returns that value. Between
 * two calls of probe, waitFor pauses for three times the duration of a call, but for at least 25 ms or 5 % of the time
 * since the first call, and at most 1 s. The pauses leave CPU time for the awaited event. After limitMs, waitFor throws
 * an error that contains awaitedEvent, a noun phrase such as "the first report". The default of limitMs is long enough
 * for a slow machine.
 */
export async function waitFor<T>(
  awaitedEvent: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 60_000,
): Promise<T> {
  const firstMs = Date.now();
  const endMs = firstMs + limitMs;
  let lastError: unknown;
  // Even if the promise of probe never settles, waitFor must throw an error that names the awaited event.
  const probeTimeout = rejectAfter(limitMs + ProbeGraceMs);
  probeTimeout.catch(() => undefined); // an unhandled timeout would crash the test process
  for (;;) {
    const startMs = Date.now();
    try {
      const value = await Promise.race([probe(), probeTimeout]);
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() > endMs)
      throw new Error(`waited ${limitMs} ms for: ${awaitedEvent}${lastError ? ` (${String(lastError)})` : ''}`);
    const nowMs = Date.now();
    await pause(Math.min(Math.max(25, 3 * (nowMs - startMs), (nowMs - firstMs) / 20), 1000));
  }
}

/**
 * ProbeGraceMs is the longest time that waitFor awaits one call of probe after the time limit has passed, in
 * milliseconds.
 */
const ProbeGraceMs = 60_000;

async function rejectAfter(ms: number): Promise<never> {
  await setTimeout(ms, undefined, { ref: false });
  throw new Error(`the probe did not return within ${ms} ms`);
}

/**
 * OperationTimeoutMs is the timeout of one operation in a test, in milliseconds. OperationTimeoutMs is shorter than the
 * time limit of a test file in .ci/e2e-test, so that the error names the operation that hangs.
 */
export const OperationTimeoutMs = 120_000;

/**
 * withLimit awaits the result of an operation. After OperationTimeoutMs, withLimit throws an error with the operation's
 * name.
 */
export async function withLimit<T>(operation: string, result: Promise<T>): Promise<T> {
  const limit = new AbortController();
  const timeout = setTimeout(OperationTimeoutMs, undefined, { signal: limit.signal }).then(
    () => {
      throw new Error(`${operation} did not end within ${OperationTimeoutMs} ms`);
    },
    () => new Promise<never>(() => undefined), // the operation ended in time
  );
  try {
    return await Promise.race([result, timeout]);
  } finally {
    limit.abort();
  }
}

/**
 * pause waits for a fixed time in milliseconds. Use pause only to control the speed of a real system, such as a
 * browser. To wait for a result, use waitFor.
 */
export function pause(ms: number): Promise<void> {
  return setTimeout(ms);
}

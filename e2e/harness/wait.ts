import { setTimeout } from 'node:timers/promises';

/**
 * waitFor calls probe every 25 ms until probe returns a value other than undefined or false, and returns that value.
 * After limitMs, waitFor throws an error that contains awaitedEvent, a noun phrase such as "the first report". The
 * default of limitMs is long enough for a slow machine.
 */
export async function waitFor<T>(
  awaitedEvent: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 60_000,
): Promise<T> {
  const endMs = Date.now() + limitMs;
  let lastError: unknown;
  // If probe never settles, the error must still name the awaited event.
  const probeTimeout = rejectAfter(limitMs + ProbeIntervalMs);
  probeTimeout.catch(() => undefined); // without a handler, a timeout after the wait would end the test process
  for (;;) {
    try {
      const value = await Promise.race([probe(), probeTimeout]);
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() > endMs)
      throw new Error(`waited ${limitMs} ms for: ${awaitedEvent}${lastError ? ` (${String(lastError)})` : ''}`);
    await pause(25);
  }
}

/** ProbeIntervalMs is how long one probe may run beyond the limit of the wait, in milliseconds. */
const ProbeIntervalMs = 60_000;

async function rejectAfter(ms: number): Promise<never> {
  await setTimeout(ms, undefined, { ref: false });
  throw new Error(`the probe did not return within ${ms} ms`);
}

/**
 * OperationLimitMs limits one operation of a test, in milliseconds. The limit is shorter than the limit of a test
 * file in .ci/node-test, so that the error of the test names an operation that hangs.
 */
export const OperationLimitMs = 120_000;

/**
 * withLimit returns the result of an operation, or throws an error with the operation's name after
 * OperationLimitMs.
 */
export async function withLimit<T>(operation: string, result: Promise<T>): Promise<T> {
  const limit = new AbortController();
  const timeout = setTimeout(OperationLimitMs, undefined, { signal: limit.signal }).then(
    () => {
      throw new Error(`${operation} did not end within ${OperationLimitMs} ms`);
    },
    () => new Promise<never>(() => undefined), // the operation has ended
  );
  try {
    return await Promise.race([result, timeout]);
  } finally {
    limit.abort();
  }
}

/** pause waits for a fixed time in milliseconds. Use pause to pace a real system, never to wait for a result. */
export function pause(ms: number): Promise<void> {
  return setTimeout(ms);
}

import { setTimeout } from 'node:timers/promises';

/** waitFor pauses between two calls of probe for at least 25 ms and at most 1 s, to leave CPU time. */
export async function waitFor<T>(
  awaitedEvent: string,
  checkCondition: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 60_000,
): Promise<T> {
  const firstStartMs = Date.now();
  const deadlineMs = firstStartMs + limitMs;
  let lastError: unknown;
  // Even if the promise of probe never settles, waitFor must throw an error that names the awaited event.
  const checkTimeout = rejectAfter(limitMs + CheckGraceMs);
  checkTimeout.catch(() => undefined); // an unhandled timeout would crash the test process
  for (;;) {
    const startMs = Date.now();
    try {
      const value = await Promise.race([checkCondition(), checkTimeout]);
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() > deadlineMs)
      throw new Error(`waited ${limitMs} ms for: ${awaitedEvent}${lastError ? ` (${String(lastError)})` : ''}`);
    const nowMs = Date.now();
    await pause(Math.min(Math.max(25, 3 * (nowMs - startMs), (nowMs - firstStartMs) / 20), 1000));
  }
}

const CheckGraceMs = 60_000;

async function rejectAfter(ms: number): Promise<never> {
  await setTimeout(ms, undefined, { ref: false });
  throw new Error(`the probe did not return within ${ms} ms`);
}

/**
 * OperationTimeoutMs is shorter than the time limit of a test file, so that the error names the operation that hangs.
 */
export const OperationTimeoutMs = 120_000;

export async function withOperationTimeout<T>(operation: string, operationResult: Promise<T>): Promise<T> {
  const timeoutController = new AbortController();
  const timeoutPromise = setTimeout(OperationTimeoutMs, undefined, { signal: timeoutController.signal }).then(
    () => {
      throw new Error(`${operation} did not end within ${OperationTimeoutMs} ms`);
    },
    () => new Promise<never>(() => undefined), // the operation ended in time
  );
  try {
    return await Promise.race([operationResult, timeoutPromise]);
  } finally {
    timeoutController.abort();
  }
}

/** Use pause only to control the speed of a real system; to wait for a result, use waitFor. */
export function pause(ms: number): Promise<void> {
  return setTimeout(ms);
}

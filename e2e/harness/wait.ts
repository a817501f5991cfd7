import { setTimeout } from 'node:timers/promises';

/** waitFor pauses between two calls of probe for at least 25 ms and at most 1 s, to leave CPU time. */
export async function waitFor<T>(
  awaitedEvent: string,
  checkCondition: () => Promise<T | undefined | false> | T | undefined | false,
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
      const value = await Promise.race([checkCondition(), probeTimeout]);
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

const ProbeGraceMs = 60_000;

async function rejectAfter(ms: number): Promise<never> {
  await setTimeout(ms, undefined, { ref: false });
  throw new Error(`the probe did not return within ${ms} ms`);
}

/**
 * OperationTimeoutMs is shorter than the time limit of a test file, so that the error names the operation that hangs.
 */
export const OperationTimeoutMs = 120_000;

export async function withLimit<T>(operation: string, operationResult: Promise<T>): Promise<T> {
  const limitController = new AbortController();
  const timeoutPromise = setTimeout(OperationTimeoutMs, undefined, { signal: limitController.signal }).then(
    () => {
      throw new Error(`${operation} did not end within ${OperationTimeoutMs} ms`);
    },
    () => new Promise<never>(() => undefined), // the operation ended in time
  );
  try {
    return await Promise.race([operationResult, timeoutPromise]);
  } finally {
    limitController.abort();
  }
}

/** Use pause only to control the speed of a real system; to wait for a result, use waitFor. */
export function pause(ms: number): Promise<void> {
  return setTimeout(ms);
}

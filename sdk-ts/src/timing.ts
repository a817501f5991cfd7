import { resolveSignal } from './running.ts';
import { startTimer } from './timer.ts';
import { ToolError } from './tool-error.ts';

export interface SleepOptions {
  /**
   * If `signal` aborts, the wait ends early. By default, the signal of the running tool call is used; null means no
   * signal.
   */
  signal?: AbortSignal | null | undefined;
}

/**
 * Waits `ms` milliseconds, even in a hidden tab, where Chrome delays setTimeout. Rejects with a ToolError `aborted` as
 * soon as the signal aborts.
 */
export function sleep(ms: number, options: SleepOptions = {}): Promise<void> {
  const signal = resolveSignal(options.signal);
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(ToolError.aborted(signal.reason));
      return;
    }
    const onAbort = () => {
      cancelTimer();
      reject(ToolError.aborted(signal?.reason));
    };
    const cancelTimer = startTimer(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

export interface WaitUntilOptions extends SleepOptions {
  /** How long to wait between two calls of the predicate, in milliseconds; 200 by default. */
  interval?: number | undefined;
  /** The timeout for the whole wait, in milliseconds; 10,000 by default. */
  timeout?: number | undefined;
}

/**
 * Waits until `predicate` returns true. Calls `predicate` immediately and then at each interval; an exception in
 * `predicate` counts as false. Rejects with a ToolError `TIMEOUT` after the timeout, and with `aborted` as soon as the
 * signal aborts.
 */
export async function waitUntil(
  predicate: () => boolean | Promise<boolean>,
  options: WaitUntilOptions = {},
): Promise<void> {
  const { interval = 200, timeout = 10_000 } = options;
  const givenSignal = resolveSignal(options.signal);
  const timeoutController = new AbortController();
  const cancelTimer = startTimer(timeout, () => timeoutController.abort());
  const stopSignal = givenSignal ? AbortSignal.any([givenSignal, timeoutController.signal]) : timeoutController.signal;
  let lastError: unknown;
  try {
    while (!stopSignal.aborted) {
      try {
        if (await callUnlessStopped(predicate, stopSignal)) return;
        lastError = undefined;
      } catch (error) {
        lastError = error;
      }
      await sleep(interval, { signal: stopSignal }).catch(() => undefined);
    }
  } finally {
    cancelTimer();
  }
  throw givenSignal?.aborted ? ToolError.aborted(givenSignal.reason) : makeTimeoutError(timeout, lastError);
}

function callUnlessStopped(predicate: () => boolean | Promise<boolean>, stopSignal: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const onAbort = () => resolve(false);
    stopSignal.addEventListener('abort', onAbort, { once: true });
    const removeListener = () => stopSignal.removeEventListener('abort', onAbort);
    Promise.resolve().then(predicate).then(resolve, reject).finally(removeListener);
  });
}

function makeTimeoutError(timeout: number, failure: unknown): ToolError {
  const detail = failure instanceof Error ? `; the last attempt failed: ${failure.message}` : '';
  return ToolError.timeout(`the condition was not met within ${timeout} ms${detail}`);
}

export interface RetryOptions extends SleepOptions {
  /** The maximum number of calls of `attempt`, including the first; 3 by default. */
  maxAttempts?: number | undefined;
  /** How long to wait between two attempts, in milliseconds; 1,000 by default. */
  delay?: number | undefined;
  /** Whether the delay doubles after each attempt; false by default. */
  backoff?: boolean | undefined;
  /** The longest delay between two attempts with `backoff`, in milliseconds; 30,000 by default. */
  maxDelay?: number | undefined;
}

/**
 * Calls `attempt` until it succeeds, and then returns the result of `attempt`. If all attempts fail, `retry` throws the
 * error of the last one. If the signal aborts between two attempts, `retry` throws a ToolError `aborted`.
 */
export async function retry<T>(attempt: () => T | Promise<T>, options: RetryOptions = {}): Promise<T> {
  const { maxAttempts = 3, delay = 1000, backoff = false, maxDelay = 30_000 } = options;
  const signal = resolveSignal(options.signal);
  for (let attemptNumber = 1; ; attemptNumber++) {
    if (signal?.aborted) throw ToolError.aborted(signal.reason);
    try {
      return await attempt();
    } catch (error) {
      if (attemptNumber >= maxAttempts) throw error;
    }
    await sleep(backoff ? Math.min(delay * 2 ** (attemptNumber - 1), maxDelay) : delay, { signal: signal ?? null });
  }
}

import { apply, nativePerformance, nativeSetTimeout, performanceNow } from './primordials.ts';

/** PendingTimeout is an entry in the linked list of pending timeouts, which is sorted by start time. */
interface PendingTimeout {
  readonly endsAtMs: number;
  readonly onTimeout: () => void;
  previousTimeout: PendingTimeout | undefined;
  nextTimeout: PendingTimeout | undefined;
}

/**
 * makeTimeoutScheduler returns a function that schedules a call of onTimeout after ms milliseconds. All timeouts share
 * one native timer, because most timeouts are cancelled soon, and separate timers would be expensive.
 */
export function makeTimeoutScheduler(ms: number): (onTimeout: () => void) => () => void {
  let firstPendingTimeout: PendingTimeout | undefined;
  let lastWait: PendingTimeout | undefined;
  let isArmed = false;

  const removeTimeout = (pendingTimeout: PendingTimeout) => {
    if (pendingTimeout !== firstPendingTimeout && !pendingTimeout.previousTimeout) return; // the timeout is no longer in the list
    if (pendingTimeout.previousTimeout) pendingTimeout.previousTimeout.nextTimeout = pendingTimeout.nextTimeout;
    else firstPendingTimeout = pendingTimeout.nextTimeout;
    if (pendingTimeout.nextTimeout) pendingTimeout.nextTimeout.previousTimeout = pendingTimeout.previousTimeout;
    else lastWait = pendingTimeout.previousTimeout;
    pendingTimeout.previousTimeout = undefined;
  };
  const armTimer = (pendingTimeout: PendingTimeout, startedAt: number) => {
    isArmed = true;
    nativeSetTimeout(onTimer, pendingTimeout.endsAtMs - startedAt);
  };
  const onTimer = () => {
    isArmed = false;
    const currentTimeMs: number = apply(performanceNow, nativePerformance, []);
    while (firstPendingTimeout && firstPendingTimeout.endsAtMs <= currentTimeMs) {
      const pendingTimeout = firstPendingTimeout;
      removeTimeout(pendingTimeout);
      pendingTimeout.onTimeout();
    }
    if (firstPendingTimeout && !isArmed) armTimer(firstPendingTimeout, currentTimeMs);
  };
  return (onTimeout) => {
    const startedAt: number = apply(performanceNow, nativePerformance, []);
    const pendingTimeout: PendingTimeout = {
      endsAtMs: startedAt + ms,
      onTimeout,
      previousTimeout: lastWait,
      nextTimeout: undefined,
    };
    if (lastWait) lastWait.nextTimeout = pendingTimeout;
    else firstPendingTimeout = pendingTimeout;
    lastWait = pendingTimeout;
    if (!isArmed) armTimer(firstPendingTimeout ?? pendingTimeout, startedAt);
    return () => removeTimeout(pendingTimeout);
  };
}

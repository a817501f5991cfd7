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
  let firstWait: PendingTimeout | undefined;
  let lastWait: PendingTimeout | undefined;
  let isArmed = false;

  const removeTimeout = (pendingTimeout: PendingTimeout) => {
    if (pendingTimeout !== firstWait && !pendingTimeout.previousTimeout) return; // the timeout is no longer in the list
    if (pendingTimeout.previousTimeout) pendingTimeout.previousTimeout.nextTimeout = pendingTimeout.nextTimeout;
    else firstWait = pendingTimeout.nextTimeout;
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
    const currentTime: number = apply(performanceNow, nativePerformance, []);
    while (firstWait && firstWait.endsAtMs <= currentTime) {
      const pendingTimeout = firstWait;
      removeTimeout(pendingTimeout);
      pendingTimeout.onTimeout();
    }
    if (firstWait && !isArmed) armTimer(firstWait, currentTime);
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
    else firstWait = pendingTimeout;
    lastWait = pendingTimeout;
    if (!isArmed) armTimer(firstWait ?? pendingTimeout, startedAt);
    return () => removeTimeout(pendingTimeout);
  };
}

import { apply, nativePerformance, nativeSetTimeout, performanceNow } from './primordials.ts';

/** PendingTimeout is an entry in the linked list of pending timeouts, which is sorted by start time. */
interface PendingTimeout {
  readonly endsAt: number;
  readonly onTimeout: () => void;
  previous: PendingTimeout | undefined;
  next: PendingTimeout | undefined;
}

/**
 * makeTimeoutScheduler returns a function that schedules a call of onTimeout after ms milliseconds. All timeouts share
 * one native timer, because most timeouts are cancelled soon, and separate timers would be expensive.
 */
export function makeTimeoutScheduler(ms: number): (onTimeout: () => void) => () => void {
  let firstWait: PendingTimeout | undefined;
  let lastWait: PendingTimeout | undefined;
  let isArmed = false;

  const remove = (wait: PendingTimeout) => {
    if (wait !== firstWait && !wait.previous) return; // The timeout is no longer in the list.
    if (wait.previous) wait.previous.next = wait.next;
    else firstWait = wait.next;
    if (wait.next) wait.next.previous = wait.previous;
    else lastWait = wait.previous;
    wait.previous = undefined;
  };
  const armTimer = (wait: PendingTimeout, startedAt: number) => {
    isArmed = true;
    nativeSetTimeout(onTimer, wait.endsAt - startedAt);
  };
  const onTimer = () => {
    isArmed = false;
    const currentTime: number = apply(performanceNow, nativePerformance, []);
    while (firstWait && firstWait.endsAt <= currentTime) {
      const wait = firstWait;
      remove(wait);
      wait.onTimeout();
    }
    if (firstWait && !isArmed) armTimer(firstWait, currentTime);
  };
  return (onTimeout) => {
    const startedAt: number = apply(performanceNow, nativePerformance, []);
    const wait: PendingTimeout = { endsAt: startedAt + ms, onTimeout, previous: lastWait, next: undefined };
    if (lastWait) lastWait.next = wait;
    else firstWait = wait;
    lastWait = wait;
    if (!isArmed) armTimer(firstWait ?? wait, startedAt);
    return () => remove(wait);
  };
}

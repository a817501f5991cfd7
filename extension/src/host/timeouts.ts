import { apply, clock, delay, now } from './primordials.ts';

/** Wait is one wait in the list, which is in the order of their beginnings. */
interface Wait {
  readonly until: number;
  readonly late: () => void;
  before: Wait | undefined;
  next: Wait | undefined;
}

/**
 * makeTimeout returns a function that has late called in ms milliseconds, unless what it returns is called before that.
 * All waits share one timer: a timer for each would cost more than what most waits are for.
 */
export function makeTimeout(ms: number): (late: () => void) => () => void {
  let first: Wait | undefined;
  let last: Wait | undefined;
  let armed = false;

  const drop = (wait: Wait) => {
    if (wait !== first && !wait.before) return; // dropped already
    if (wait.before) wait.before.next = wait.next;
    else first = wait.next;
    if (wait.next) wait.next.before = wait.before;
    else last = wait.before;
    wait.before = undefined;
  };
  const arm = (wait: Wait, at: number) => {
    armed = true;
    delay(ring, wait.until - at);
  };
  const ring = () => {
    armed = false;
    const at: number = apply(now, clock, []);
    while (first && first.until <= at) {
      const wait = first;
      drop(wait);
      wait.late();
    }
    if (first && !armed) arm(first, at);
  };
  return (late) => {
    const at: number = apply(now, clock, []);
    const wait: Wait = { until: at + ms, late, before: last, next: undefined };
    if (last) last.next = wait;
    else first = wait;
    last = wait;
    if (!armed) arm(first ?? wait, at);
    return () => drop(wait);
  };
}

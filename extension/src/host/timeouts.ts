import { apply, clock, delay, now } from './primordials.ts';

/** Wait is one wait in a linked list, in the order of their starts. */
interface Wait {
  readonly until: number;
  readonly late: () => void;
  before: Wait | undefined;
  next: Wait | undefined;
}

/**
 * makeTimeout returns a function that calls late after ms milliseconds, and that returns a function to cancel this
 * wait. All waits share one timer, because most of them are cancelled soon and separate timers would be expensive.
 */
export function makeTimeout(ms: number): (late: () => void) => () => void {
  let first: Wait | undefined;
  let last: Wait | undefined;
  let isArmed = false;

  const remove = (wait: Wait) => {
    if (wait !== first && !wait.before) return; // removed before
    if (wait.before) wait.before.next = wait.next;
    else first = wait.next;
    if (wait.next) wait.next.before = wait.before;
    else last = wait.before;
    wait.before = undefined;
  };
  const arm = (wait: Wait, at: number) => {
    isArmed = true;
    delay(fire, wait.until - at);
  };
  const fire = () => {
    isArmed = false;
    const at: number = apply(now, clock, []);
    while (first && first.until <= at) {
      const wait = first;
      remove(wait);
      wait.late();
    }
    if (first && !isArmed) arm(first, at);
  };
  return (late) => {
    const at: number = apply(now, clock, []);
    const wait: Wait = { until: at + ms, late, before: last, next: undefined };
    if (last) last.next = wait;
    else first = wait;
    last = wait;
    if (!isArmed) arm(first ?? wait, at);
    return () => remove(wait);
  };
}

// Messages that come fast cross a port together: a port message costs far more
// than its text. The first one goes at once, so that a single message never
// waits; those that come before the tasks that were due by then have run go as
// one.

/** LoneChars is the length from which a message goes by itself, and BurstChars how much goes together, in UTF-16 units. */
const LoneChars = 16 * 1024;
const BurstChars = 256 * 1024;

/** BurstOptions of messages M. */
export interface BurstOptions<M> {
  /** send sends messages as one; false means that there is no port. */
  send(messages: readonly M[]): boolean;
  /** charsOf returns about how long a message is, in UTF-16 units. */
  charsOf(message: M): number;
  /** alone tells that no other message is likely to come soon. */
  alone(): boolean;
  /** soon runs work once, after the tasks that are due; default afterTasks(). */
  readonly soon?: (work: () => void) => void;
}

/** Burst keeps the order of its messages. */
export interface Burst<M> {
  /** post sends a message, now or soon. False means that there is no port and that the message was not taken. */
  post(message: M): boolean;
  /** flush sends what waits. Without a port it goes on waiting; false tells so. */
  flush(): boolean;
  /** drop forgets those that wait and of which which is true. */
  drop(which: (message: M) => boolean): void;
}

/** makeBurst returns a Burst with nothing waiting. */
export function makeBurst<M>(options: BurstOptions<M>): Burst<M> {
  const soon = options.soon ?? afterTasks();
  let waiting: M[] = [];
  let chars = 0;
  /** due is set while soon holds a flush. */
  let due = false;

  const flush = (): boolean => {
    if (waiting.length === 0) return true;
    if (!options.send(waiting)) return false;
    waiting = [];
    chars = 0;
    return true;
  };
  const turn = () => {
    due = false;
    if (waiting.length > 0 && flush()) again();
  };
  const again = () => {
    if (due) return;
    due = true;
    soon(turn);
  };
  const post = (message: M): boolean => {
    const long = options.charsOf(message);
    if (due && long < LoneChars && chars < BurstChars) {
      waiting.push(message);
      chars += long;
      return true;
    }
    if (!flush() || !options.send([message])) return false;
    if (!options.alone()) again();
    return true;
  };
  const drop = (which: (message: M) => boolean) => {
    waiting = waiting.filter((message) => !which(message));
    chars = waiting.reduce((sum, message) => sum + options.charsOf(message), 0);
  };
  return { post, flush, drop };
}

/** afterTasks returns a function that runs work after the tasks that are due, also in a hidden tab, where timers wait. */
export function afterTasks(): (work: () => void) => void {
  const { port1, port2 } = new MessageChannel();
  const works: (() => void)[] = [];
  port1.onmessage = () => {
    for (const work of works.splice(0)) work();
  };
  return (work) => {
    works.push(work);
    port2.postMessage(0);
  };
}

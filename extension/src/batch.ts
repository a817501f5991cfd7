// Sends messages over a port in batches, because the cost of a port message depends little on the length of its text.
// The first message goes at once, so a single message never waits. Later messages wait until the pending tasks have
// run, and are sent as one batch.

/**
 * LoneChars is the length from which a message is sent alone, in UTF-16 units. BatchChars is the maximum length of a
 * batch, in UTF-16 units.
 */
const LoneChars = 16 * 1024;
const BatchChars = 256 * 1024;

/** BatcherOptions are the dependencies of a Batcher. */
export interface BatcherOptions<M> {
  /** send sends a batch. send returns false without a port. */
  send(messages: readonly M[]): boolean;
  /** charsOf returns the approximate length of a message, in UTF-16 units. */
  charsOf(message: M): number;
  /** alone returns whether no other message is likely to follow soon. */
  alone(): boolean;
  /** soon runs work once, after the tasks that are due. Default afterTasks(). */
  readonly soon?: (work: () => void) => void;
}

/** Batcher sends messages in order. */
export interface Batcher<M> {
  /** post sends a message now or with the next batch. Without a port, post drops the message and returns false. */
  post(message: M): boolean;
  /** flush sends the waiting messages. Without a port, flush returns false and the messages continue to wait. */
  flush(): boolean;
  /** drop drops the waiting messages that match. */
  drop(which: (message: M) => boolean): void;
}

/** makeBatcher returns an empty Batcher. */
export function makeBatcher<M>(options: BatcherOptions<M>): Batcher<M> {
  const soon = options.soon ?? afterTasks();
  let waiting: M[] = [];
  let chars = 0;
  /** due is set while a flush is scheduled. */
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
    if (due && long < LoneChars && chars < BatchChars) {
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

/**
 * afterTasks returns a function that runs work after the tasks that are due. Unlike a timer, afterTasks is fast in a
 * hidden tab.
 */
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

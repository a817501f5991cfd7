// Sends port messages in batches, because the cost of a message depends little on the length of its text. A message is
// sent at once if no batch is scheduled, so a single message never waits. While a batch is scheduled, messages wait
// until the pending tasks have run, and are sent as one batch.

/**
 * MinSingleMessageChars is the length from which a message is sent alone, in UTF-16 units. MaxBatchChars is the maximum
 * length of a batch, in UTF-16 units.
 */
const MinSingleMessageChars = 16 * 1024;
const MaxBatchChars = 256 * 1024;

/** BatcherOptions are the functions that a Batcher uses. */
export interface BatcherOptions<M> {
  /** send sends a batch over the port, and returns false without a port. */
  send(messages: readonly M[]): boolean;
  /** charsOf returns the approximate length of a message, in UTF-16 units. */
  charsOf(message: M): number;
  /** isLikelyLastMessage reports whether no other message is likely to follow soon. */
  isLikelyLastMessage(): boolean;
  /** runSoon runs work once, after the tasks that are due. Default: afterTasks(). */
  readonly runSoon?: (work: () => void) => void;
}

/** Batcher sends messages over a port in order, alone or in batches. */
export interface Batcher<M> {
  /** post sends a message now or with the next batch. Without a port, post drops the message and returns false. */
  post(message: M): boolean;
  /**
   * flush sends the messages that wait for the next batch. Without a port, flush returns false and the messages
   * continue to wait.
   */
  flush(): boolean;
  /** drop drops the waiting messages for which matches returns true. */
  drop(matches: (message: M) => boolean): void;
}

/** makeBatcher returns a Batcher without waiting messages. */
export function makeBatcher<M>(options: BatcherOptions<M>): Batcher<M> {
  const runSoon = options.runSoon ?? afterTasks();
  let waitingMessages: M[] = [];
  let waitingChars = 0;
  let isFlushScheduled = false;

  const flush = (): boolean => {
    if (waitingMessages.length === 0) return true;
    if (!options.send(waitingMessages)) return false;
    waitingMessages = [];
    waitingChars = 0;
    return true;
  };
  const onTasksDone = () => {
    isFlushScheduled = false;
    if (waitingMessages.length > 0 && flush()) scheduleFlush();
  };
  const scheduleFlush = () => {
    if (isFlushScheduled) return;
    isFlushScheduled = true;
    runSoon(onTasksDone);
  };
  const post = (message: M): boolean => {
    const length = options.charsOf(message);
    if (isFlushScheduled && length < MinSingleMessageChars && waitingChars < MaxBatchChars) {
      waitingMessages.push(message);
      waitingChars += length;
      return true;
    }
    if (!flush() || !options.send([message])) return false;
    if (!options.isLikelyLastMessage()) scheduleFlush();
    return true;
  };
  const drop = (matches: (message: M) => boolean) => {
    waitingMessages = waitingMessages.filter((message) => !matches(message));
    waitingChars = waitingMessages.reduce((sum, message) => sum + options.charsOf(message), 0);
  };
  return { post, flush, drop };
}

/**
 * afterTasks returns a function that runs work after the tasks that are due. Unlike a timer, the function that
 * afterTasks returns is not delayed in a hidden tab.
 */
export function afterTasks(): (work: () => void) => void {
  const { port1, port2 } = new MessageChannel();
  const pendingWork: (() => void)[] = [];
  port1.onmessage = () => {
    for (const work of pendingWork.splice(0)) work();
  };
  return (work) => {
    pendingWork.push(work);
    port2.postMessage(0);
  };
}

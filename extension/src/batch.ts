// Sends port messages in batches, because the cost of a message depends little on the length of its text. A message is
// sent at once if no batch is scheduled, so a single message never waits. While a batch is scheduled, new messages wait
// until the tasks that are already queued have run, and are sent as one batch.

/** MinSingleMessageChars is the length, in UTF-16 units, from which a message is sent alone instead of in a batch. */
const MinSingleMessageChars = 16 * 1024;
const MaxBatchChars = 256 * 1024;

export interface BatcherOptions<M> {
  send(messages: readonly M[]): boolean;
  countChars(message: M): number;
  isLikelyLastMessage(): boolean;
  /** runSoon runs `work` once, after the tasks that are already in the event loop's queue. */
  readonly runSoon?: (work: () => void) => void;
}

export interface Batcher<M> {
  /** If no port is connected, the batcher's method post drops the message and returns false. */
  post(message: M): boolean;
  /** If no port is connected, the batcher's method flush keeps the messages and returns false. */
  flush(): boolean;
  drop(matches: (message: M) => boolean): void;
}

export function makeBatcher<M>(options: BatcherOptions<M>): Batcher<M> {
  const runSoon = options.runSoon ?? makeTaskScheduler();
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
    const length = options.countChars(message);
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
    waitingChars = waitingMessages.reduce((sum, message) => sum + options.countChars(message), 0);
  };
  return { post, flush, drop };
}

/** Chrome delays timers in hidden tabs, but not the messages of a MessageChannel, which makeTaskScheduler uses. */
export function makeTaskScheduler(): (work: () => void) => void {
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

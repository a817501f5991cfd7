// Sends port messages in batches, because the cost of a message depends little on the length of its text. A message is
// sent at once if no batch is scheduled, so a single message never waits. While a batch is scheduled, new messages wait
// until the tasks that are already queued have run, and are sent as one batch.

/** MinSingleMessageChars is the length, in UTF-16 units, from which a message is sent alone instead of in a batch. */
const MinSingleMessageChars = 16 * 1024;
const MaxBatchChars = 256 * 1024;

export interface BatcherOptions<M> {
  sendMessages(messages: readonly M[]): boolean;
  countChars(batchMessage: M): number;
  isLikelyLastMessage(): boolean;
  /** scheduleTask runs `scheduledTask` once, after the tasks that are already in the event loop's queue. */
  readonly scheduleTask?: (scheduledTask: () => void) => void;
}

export interface Batcher<M> {
  /** If no port is connected, post drops the message and returns false. */
  post(batchMessage: M): boolean;
  /** If no port is connected, flushMessages keeps the waiting messages and returns false. */
  flushMessages(): boolean;
  dropMatching(matches: (batchMessage: M) => boolean): void;
}

export function makeBatcher<M>(options: BatcherOptions<M>): Batcher<M> {
  const scheduleTask = options.scheduleTask ?? makeTaskScheduler();
  let waitingMessages: M[] = [];
  let waitingChars = 0;
  let isFlushScheduled = false;

  const flushMessages = (): boolean => {
    if (waitingMessages.length === 0) return true;
    if (!options.sendMessages(waitingMessages)) return false;
    waitingMessages = [];
    waitingChars = 0;
    return true;
  };
  const sendScheduledBatch = () => {
    isFlushScheduled = false;
    if (waitingMessages.length > 0 && flushMessages()) scheduleFlush();
  };
  const scheduleFlush = () => {
    if (isFlushScheduled) return;
    isFlushScheduled = true;
    scheduleTask(sendScheduledBatch);
  };
  const postMessage = (batchMessage: M): boolean => {
    const charCount = options.countChars(batchMessage);
    if (isFlushScheduled && charCount < MinSingleMessageChars && waitingChars < MaxBatchChars) {
      waitingMessages.push(batchMessage);
      waitingChars += charCount;
      return true;
    }
    if (!flushMessages() || !options.sendMessages([batchMessage])) return false;
    if (!options.isLikelyLastMessage()) scheduleFlush();
    return true;
  };
  const dropMatchingMessages = (matches: (batchMessage: M) => boolean) => {
    waitingMessages = waitingMessages.filter((batchMessage) => !matches(batchMessage));
    waitingChars = waitingMessages.reduce((sum, batchMessage) => sum + options.countChars(batchMessage), 0);
  };
  return { post: postMessage, flushMessages, dropMatching: dropMatchingMessages };
}

/** Chrome delays timers in hidden tabs, but not the messages of a MessageChannel, which makeTaskScheduler uses. */
export function makeTaskScheduler(): (scheduledTask: () => void) => void {
  const { port1, port2 } = new MessageChannel();
  const pendingTasks: (() => void)[] = [];
  port1.onmessage = () => {
    for (const scheduledTask of pendingTasks.splice(0)) scheduledTask();
  };
  return (scheduledTask) => {
    pendingTasks.push(scheduledTask);
    port2.postMessage(0);
  };
}

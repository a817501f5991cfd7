import { MaxLogEntries } from '../../../wire/wire.gen.ts';
import type { BridgeToWorkerMessage } from '../port-message.ts';

/** Each send of log entries contains at most MaxMessagesPerSend messages. */
const SendIntervalMs = 100;
const MaxMessagesPerSend = 2;
/** If MaxWaitingEntries or MaxWaitingChars is exceeded, the oldest waiting log entries are dropped. */
const MaxWaitingEntries = 1000;
const MaxWaitingChars = 8 * 1024 * 1024;
/** MaxMessageChars is the length, in UTF-16 units, up to which log entries are joined into one message. */
const MaxMessageChars = 256 * 1024;

/** BridgeLogs sends the log entries of the document's adapters to the worker, in order and at a limited rate. */
export interface BridgeLogs {
  /**
   * `entries` is a JSON array of `count` log entries, as text. `droppedCount` is the number of log entries that the
   * plugin dropped before the first entry in `entries`.
   */
  add(plugin: string, count: number, droppedCount: number, entries: string): void;
  /** If no port is open, flush keeps the log entries until a port opens. */
  flush(): void;
}

/** `entries` is the JSON text of the log entries, joined by commas, without the brackets of an array. */
interface LogBatch {
  readonly plugin: string;
  count: number;
  dropped: number;
  entries: string;
}

/** makeLogs returns a BridgeLogs that sends messages with `postToWorker`, which returns false while no port is open. */
export function makeLogs(postToWorker: (message: BridgeToWorkerMessage) => boolean): BridgeLogs {
  const waitingBatches: LogBatch[] = [];
  let entryCount = 0;
  let charCount = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const sendFirstBatch = (): boolean => {
    const [firstBatch] = waitingBatches;
    if (!firstBatch) return false;
    const { plugin, dropped: droppedCount } = firstBatch;
    if (!postToWorker({ op: 'log', plugin, entries: `[${firstBatch.entries}]`, dropped: droppedCount })) return false;
    subtractBatchSize(firstBatch);
    waitingBatches.shift();
    return true;
  };
  const subtractBatchSize = (batch: LogBatch) => {
    entryCount -= batch.count;
    charCount -= batch.entries.length;
  };
  const sendNextBatches = () => {
    timer = undefined;
    let sentCount = 0;
    while (sentCount < MaxMessagesPerSend && sendFirstBatch()) sentCount++;
    // If no port is open, flush sends the remaining log entries later.
    if (sentCount === MaxMessagesPerSend) scheduleSend();
  };
  const scheduleSend = () => {
    timer ??= setTimeout(sendNextBatches, SendIntervalMs);
  };
  /** dropOldest drops the oldest batch of log entries, and adds their number to the plugin's next batch. */
  const dropOldest = () => {
    const oldestBatch = waitingBatches.shift();
    if (!oldestBatch) return;
    subtractBatchSize(oldestBatch);
    const nextPluginBatch = waitingBatches.find((batch) => batch.plugin === oldestBatch.plugin);
    if (nextPluginBatch) nextPluginBatch.dropped += oldestBatch.dropped + oldestBatch.count;
    else
      waitingBatches.push({
        plugin: oldestBatch.plugin,
        count: 0,
        dropped: oldestBatch.dropped + oldestBatch.count,
        entries: '',
      });
  };

  return {
    add: (plugin, count, droppedCount, logText) => {
      const entriesText = logText.slice(1, -1);
      const lastBatch = waitingBatches.at(-1);
      const canJoinBatch =
        lastBatch?.plugin === plugin && droppedCount === 0 && lastBatch.count + count <= MaxLogEntries;
      if (canJoinBatch && lastBatch.entries.length + entriesText.length <= MaxMessageChars) {
        lastBatch.entries += lastBatch.count > 0 && count > 0 ? `,${entriesText}` : entriesText;
        lastBatch.count += count;
      } else waitingBatches.push({ plugin, count, dropped: droppedCount, entries: entriesText });
      entryCount += count;
      charCount += entriesText.length;
      while ((entryCount > MaxWaitingEntries || charCount > MaxWaitingChars) && waitingBatches.length > 1) dropOldest();
      if (timer === undefined) sendNextBatches();
      scheduleSend();
    },
    flush: () => {
      while (sendFirstBatch());
    },
  };
}

import { MaxLogEntries } from '../../../wire/wire.gen.ts';
import type { FromBridge } from '../port-message.ts';

/**
 * SendIntervalMs is the interval between two sends, in milliseconds. Each send contains at most MaxMessagesPerSend
 * messages.
 */
const SendIntervalMs = 100;
const MaxMessagesPerSend = 2;
/**
 * MaxWaitingEntries and MaxWaitingChars limit the number and the length of waiting entries. If a limit is exceeded, the
 * oldest entries are dropped.
 */
const MaxWaitingEntries = 1000;
const MaxWaitingChars = 8 * 1024 * 1024;
/** MaxMessageChars is the length up to which entries are joined in one message, in UTF-16 units. */
const MaxMessageChars = 256 * 1024;

/** Logs sends the log entries of this document's adapters, in order and at a limited rate. */
export interface Logs {
  /**
   * add queues entries of a plugin. entries is the JSON text of an array with count entries, and dropped is the number
   * of entries lost before them.
   */
  add(plugin: string, count: number, dropped: number, entries: string): void;
  /** flush sends all log entries that wait for the next send. Without a port, the entries continue to wait. */
  flush(): void;
}

/**
 * Batch is a batch of log entries that is sent as one message. entries is the JSON text of the entries, joined by
 * commas, without the brackets of an array.
 */
interface Batch {
  readonly plugin: string;
  count: number;
  dropped: number;
  entries: string;
}

/** makeLogs returns a Logs that sends by post, which returns false while there is no port. */
export function makeLogs(post: (message: FromBridge) => boolean): Logs {
  const waitingBatches: Batch[] = [];
  let entryCount = 0;
  let charCount = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const sendFirst = (): boolean => {
    const [first] = waitingBatches;
    if (!first) return false;
    const { plugin, dropped } = first;
    if (!post({ op: 'log', plugin, entries: `[${first.entries}]`, dropped })) return false;
    subtractBatch(first);
    waitingBatches.shift();
    return true;
  };
  const subtractBatch = (batch: Batch) => {
    entryCount -= batch.count;
    charCount -= batch.entries.length;
  };
  const sendSome = () => {
    timer = undefined;
    let sentCount = 0;
    while (sentCount < MaxMessagesPerSend && sendFirst()) sentCount++;
    // Without a port, flush sends the remaining entries later.
    if (sentCount === MaxMessagesPerSend) scheduleSend();
  };
  const scheduleSend = () => {
    timer ??= setTimeout(sendSome, SendIntervalMs);
  };
  /** dropOldest drops a batch and adds the batch's count to the next batch of the plugin. */
  const dropOldest = () => {
    const oldest = waitingBatches.shift();
    if (!oldest) return;
    subtractBatch(oldest);
    const nextOfPlugin = waitingBatches.find((batch) => batch.plugin === oldest.plugin);
    if (nextOfPlugin) nextOfPlugin.dropped += oldest.dropped + oldest.count;
    else waitingBatches.push({ plugin: oldest.plugin, count: 0, dropped: oldest.dropped + oldest.count, entries: '' });
  };

  return {
    add: (plugin, count, dropped, text) => {
      const entriesText = text.slice(1, -1);
      const last = waitingBatches.at(-1);
      const canJoin = last?.plugin === plugin && dropped === 0 && last.count + count <= MaxLogEntries;
      if (canJoin && last.entries.length + entriesText.length <= MaxMessageChars) {
        last.entries += last.count > 0 && count > 0 ? `,${entriesText}` : entriesText;
        last.count += count;
      } else waitingBatches.push({ plugin, count, dropped, entries: entriesText });
      entryCount += count;
      charCount += entriesText.length;
      while ((entryCount > MaxWaitingEntries || charCount > MaxWaitingChars) && waitingBatches.length > 1) dropOldest();
      if (timer === undefined) sendSome();
      scheduleSend();
    },
    flush: () => {
      while (sendFirst());
    },
  };
}

import { MaxLogEntries } from '../../../wire/wire.gen.ts';
import type { FromBridge } from '../port-message.ts';

/**
 * GatherMs is the interval between two sends, in milliseconds. Each of these sends contains at most MessagesAtOnce
 * messages.
 */
const GatherMs = 100;
const MessagesAtOnce = 2;
/**
 * MaxWaiting and MaxWaitingChars limit the number and the length of waiting entries. Beyond these limits, the oldest
 * entries are dropped first.
 */
const MaxWaiting = 1000;
const MaxWaitingChars = 8 * 1024 * 1024;
/** MaxMessageChars is the length up to which entries are joined in one message, in UTF-16 units. */
const MaxMessageChars = 256 * 1024;

/** Logs sends the log entries of this document's adapters, in order and at a limited rate. */
export interface Logs {
  /**
   * add queues entries of a plugin. entries is the JSON text of an array with count entries; dropped is the number of
   * entries that were lost before these entries.
   */
  add(plugin: string, count: number, dropped: number, entries: string): void;
  /** flush sends all waiting entries. Without a port, the entries continue to wait. */
  flush(): void;
}

/**
 * Batch becomes one message. entries is the JSON text of log entries, joined by commas, without the brackets of an
 * array.
 */
interface Batch {
  readonly plugin: string;
  count: number;
  dropped: number;
  entries: string;
}

/** makeLogs returns a Logs that sends by post, which returns false while there is no port. */
export function makeLogs(post: (message: FromBridge) => boolean): Logs {
  const waiting: Batch[] = [];
  let entries = 0;
  let chars = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const sendFirst = (): boolean => {
    const [first] = waiting;
    if (!first) return false;
    const { plugin, dropped } = first;
    if (!post({ op: 'log', plugin, entries: `[${first.entries}]`, dropped })) return false;
    forget(first);
    waiting.shift();
    return true;
  };
  const forget = (batch: Batch) => {
    entries -= batch.count;
    chars -= batch.entries.length;
  };
  const tick = () => {
    timer = undefined;
    let sent = 0;
    while (sent < MessagesAtOnce && sendFirst()) sent++;
    // If there is no port now, flush sends the remaining entries later.
    if (sent === MessagesAtOnce) gather();
  };
  const gather = () => {
    timer ??= setTimeout(tick, GatherMs);
  };
  /** dropOldest drops a batch and adds its count to the next batch of the plugin. */
  const dropOldest = () => {
    const old = waiting.shift();
    if (!old) return;
    forget(old);
    const heir = waiting.find((batch) => batch.plugin === old.plugin);
    if (heir) heir.dropped += old.dropped + old.count;
    else waiting.push({ plugin: old.plugin, count: 0, dropped: old.dropped + old.count, entries: '' });
  };

  return {
    add: (plugin, count, dropped, text) => {
      const inner = text.slice(1, -1);
      const last = waiting.at(-1);
      const joins = last?.plugin === plugin && dropped === 0 && last.count + count <= MaxLogEntries;
      if (joins && last.entries.length + inner.length <= MaxMessageChars) {
        last.entries += last.count > 0 && count > 0 ? `,${inner}` : inner;
        last.count += count;
      } else waiting.push({ plugin, count, dropped, entries: inner });
      entries += count;
      chars += inner.length;
      while ((entries > MaxWaiting || chars > MaxWaitingChars) && waiting.length > 1) dropOldest();
      if (timer === undefined) tick();
      gather();
    },
    flush: () => {
      while (sendFirst());
    },
  };
}

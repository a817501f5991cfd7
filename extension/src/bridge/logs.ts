import { MaxLogEntries } from '../../../wire/wire.gen.ts';
import type { FromBridge } from '../port-message.ts';

/** GatherMs is how long entries are gathered after some were sent, in milliseconds; then at most two messages go. */
const GatherMs = 100;
const MessagesAtOnce = 2;
/** MaxWaiting is how many entries of a document wait, and MaxWaitingChars their length; the oldest give way. */
const MaxWaiting = 1000;
const MaxWaitingChars = 8 * 1024 * 1024;
/** MaxMessageChars is how long a message may get by putting entries together, in UTF-16 units. */
const MaxMessageChars = 256 * 1024;

/** Logs sends what adapters of this document log, in order and no faster than somebody may read. */
export interface Logs {
  /** add takes entries of a plugin: the JSON text of an array of count, and how many before them were dropped. */
  add(plugin: string, count: number, dropped: number, entries: string): void;
  /** flush sends all that waits, for a new port and a document that is left. Without a port it goes on waiting. */
  flush(): void;
}

/** Batch is what becomes one message; entries is without the brackets. */
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
    // Without a port there is nothing to wait for but flush.
    if (sent === MessagesAtOnce) gather();
  };
  const gather = () => {
    timer ??= setTimeout(tick, GatherMs);
  };
  /** dropOldest makes room; what is dropped is counted with the next entries of the plugin. */
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

import { afterTasks, makeBatcher } from '../batch.ts';
import { charsOf, type FromBridge, readEach, type ToBridge } from '../port-message.ts';

/** Port is the part of chrome.runtime.Port that is used here. */
export interface Port {
  postMessage(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  onDisconnect(listener: () => void): void;
  disconnect(): void;
}

export interface LinkOptions {
  /** connect opens a port to the worker and starts the worker if needed. It throws if the extension was removed or reloaded. */
  connect(): Port;
  /** alive reports whether the extension of this script is still loaded. */
  alive(): boolean;
  read(message: unknown): ToBridge | undefined;
  /** soon runs work after the tasks that are due. Default afterTasks(). */
  readonly soon?: (work: () => void) => void;
  received(message: ToBridge): void;
  /** greeting is the first message on a new port. */
  greeting(): FromBridge;
  connected(): void;
  /** alone is passed to makeBatcher. */
  alone(): boolean;
  /** orphaned reports that the extension was removed, reloaded or updated, so no port can be opened. */
  orphaned(): void;
}

/** Link is the port to the worker, reopened whenever Chrome closes it. */
export interface Link {
  /** open connects unless a port is open. */
  open(): void;
  /**
   * reopen replaces the port. Chrome does not always report a closed port to a document that returns from the back/forward
   * cache.
   */
  reopen(): void;
  /**
   * leave closes the port of a document that the user leaves. Messages that arrive with a return from the back/forward cache
   * are ignored: the server ended those calls long ago, and another document may run them.
   */
  leave(): void;
  /** post sends a message. It returns false without a port. */
  post(message: FromBridge): boolean;
}

/** ShortMs is the lifetime below which a port counts as short, in milliseconds. */
const ShortMs = 1000;
/**
 * RetryMs is the delay after two short ports (see ShortMs) in a row, in milliseconds. Each further attempt doubles the delay, up
 * to MaxRetryMs.
 */
const RetryMs = 50;
const MaxRetryMs = 1000;
/** CheckMs is the interval, in milliseconds, of the Checks checks after a closed port that the extension is still loaded. */
const CheckMs = 1000;
const Checks = 10;

/** makeLink returns a closed link. Once open, it reconnects at once, or with a delay if the worker keeps closing the port. */
export function makeLink(options: LinkOptions): Link {
  let port: Port | undefined;
  let orphan = false;
  const send = (messages: readonly FromBridge[]): boolean => {
    if (!port) return false;
    try {
      port.postMessage(messages);
      return true;
    } catch {
      // The port has just closed, and onDisconnect follows.
      return false;
    }
  };
  const soon = options.soon ?? afterTasks();
  const batcher = makeBatcher({ send, charsOf, alone: options.alone, soon });
  let left = false;
  /** short is the number of consecutive ports that were open for a short time. */
  let short = 0;

  const onDisconnected = (openedAt: number) => {
    port = undefined;
    if (!options.alive()) {
      orphaned();
      return;
    }
    setTimeout(() => check(Checks), CheckMs);
    short = Date.now() - openedAt < ShortMs ? short + 1 : 0;
    // Chrome closes the port when it stops the worker; connecting restarts the worker. No timer: in a hidden tab Chrome
    // fires timers once per second, even with a delay of 0. A document in the back/forward cache runs nothing, and
    // `pageshow` reopens the link.
    if (short < 2) soon(open);
    else setTimeout(open, Math.min(RetryMs * 2 ** (short - 2), MaxRetryMs));
  };
  /** check detects a dead port: Chrome fires no event for a port that was opened while the extension was reloaded. */
  const check = (times: number) => {
    if (orphan || left) return;
    if (!options.alive()) {
      port = undefined;
      orphaned();
    } else if (times > 1) setTimeout(() => check(times - 1), CheckMs);
  };
  const orphaned = () => {
    if (orphan) return;
    orphan = true;
    options.orphaned();
  };
  const open = () => {
    if (port || orphan || left) return;
    const openedAt = Date.now();
    try {
      const opened = options.connect();
      port = opened;
      opened.onMessage((raw) => {
        for (const message of readEach(raw, options.read)) {
          if (port !== opened) return;
          // Answer before waiting messages, and before the next call, which may occupy the page.
          if (message.op === 'ping') send([{ op: 'pong', ping: message.ping }]);
          else options.received(message);
        }
      });
      opened.onDisconnect(() => {
        if (port === opened) onDisconnected(openedAt);
      });
    } catch {
      port = undefined;
      orphaned();
      return;
    }
    send([options.greeting()]);
    // Waiting messages go first, because they are older. connected sends all unanswered asks and unconfirmed endings, so
    // waiting ones are dropped: an ending sent before its parts would report parts that the server does not have.
    batcher.drop(({ op }) => op === 'part' || op === 'result' || op === 'error' || op === 'ask');
    batcher.flush();
    options.connected();
  };
  const close = () => {
    const old = port;
    port = undefined;
    old?.disconnect();
  };
  const reopen = () => {
    close();
    left = false;
    open();
  };
  const leave = () => {
    left = true;
    batcher.flush();
    close();
  };
  return { open, reopen, leave, post: batcher.post };
}

import { afterTasks, makeBurst } from '../burst.ts';
import { charsOf, type FromBridge, readEach, type ToBridge } from '../port-message.ts';

/** Port is the part of chrome.runtime.Port that is used here. */
export interface Port {
  postMessage(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  onDisconnect(listener: () => void): void;
  disconnect(): void;
}

export interface LinkOptions {
  /** connect opens a port to the worker, which starts it if need be. It throws when the extension is gone. */
  connect(): Port;
  /** alive reports whether this script still belongs to an extension that is there. */
  alive(): boolean;
  read(message: unknown): ToBridge | undefined;
  /** soon runs work after the tasks that are due; default afterTasks(). */
  readonly soon?: (work: () => void) => void;
  received(message: ToBridge): void;
  /** greeting is the first message on a new port. */
  greeting(): FromBridge;
  connected(): void;
  /** alone is that of makeBurst. */
  alone(): boolean;
  /** orphaned reports that the extension was removed, reloaded or updated; no port will come again. */
  orphaned(): void;
}

/** Link keeps a port to the worker. */
export interface Link {
  /** open connects unless there is a port. */
  open(): void;
  /**
   * reopen connects even if there seems to be a port: a document that comes back from the back/forward cache is not
   * always told that Chrome closed its port.
   */
  reopen(): void;
  /**
   * leave closes the port for a document that is being left. Nothing is received any more: a call that comes out of the
   * back/forward cache with the document was given up long ago, and another document may run it.
   */
  leave(): void;
  /** post sends a message; false means that there is no port. */
  post(message: FromBridge): boolean;
}

/** ShortMs is how long a port lives at least unless the worker hangs up at once, in milliseconds. */
const ShortMs = 1000;
/** RetryMs is the time to the next try after two short ports, in milliseconds. Each further one doubles it, up to MaxRetryMs. */
const RetryMs = 50;
const MaxRetryMs = 1000;
/** CheckMs is the time between two checks after a lost port that the extension is still there, in milliseconds. Checks is how many follow. */
const CheckMs = 1000;
const Checks = 10;

/** makeLink returns a link that is not open yet. It reconnects by itself, at once unless the worker keeps hanging up. */
export function makeLink(options: LinkOptions): Link {
  let port: Port | undefined;
  let orphan = false;
  const send = (messages: readonly FromBridge[]): boolean => {
    if (!port) return false;
    try {
      port.postMessage(messages);
      return true;
    } catch {
      // The port has just closed; its onDisconnect is on the way.
      return false;
    }
  };
  const soon = options.soon ?? afterTasks();
  const burst = makeBurst({ send, charsOf, alone: options.alone, soon });
  let left = false;
  /** short is how many ports in a row were short. */
  let short = 0;

  const lost = (openedAt: number) => {
    port = undefined;
    if (!options.alive()) {
      orphaned();
      return;
    }
    setTimeout(() => check(Checks), CheckMs);
    short = Date.now() - openedAt < ShortMs ? short + 1 : 0;
    // Chrome closes the port when it stops the worker; connecting restarts it. No timer: Chrome fires those of a hidden
    // tab once a second, a delay of 0 included. In a document that goes into the back/forward cache nothing runs any
    // more, and `pageshow` opens the link.
    if (short < 2) soon(open);
    else setTimeout(open, Math.min(RetryMs * 2 ** (short - 2), MaxRetryMs));
  };
  /** check finds out what Chrome tells nobody: a port that was opened while the extension was reloaded leads nowhere. */
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
          // Ahead of everything that waits, and of the call behind it, which may occupy the page.
          if (message.op === 'ping') send([{ op: 'pong', ping: message.ping }]);
          else options.received(message);
        }
      });
      opened.onDisconnect(() => {
        if (port === opened) lost(openedAt);
      });
    } catch {
      port = undefined;
      orphaned();
      return;
    }
    send([options.greeting()]);
    // What waits is older than what connected sends. That is every ask without an answer, and every ending that is not
    // confirmed, with all its parts: an ending ahead of its parts would say that they were sent.
    burst.drop(({ op }) => op === 'part' || op === 'result' || op === 'error' || op === 'ask');
    burst.flush();
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
    burst.flush();
    close();
  };
  return { open, reopen, leave, post: burst.post };
}

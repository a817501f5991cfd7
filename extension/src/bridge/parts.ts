import type { FromBridge } from '../port-message.ts';

// A large result takes its time, and everything else of the document goes the
// same way. So only a few parts are on their way at once; the worker says when
// one has gone on to the server, and what is short goes in between. Until then
// a part costs no memory: it is a slice of the result's text.
//
// The result with the fewest parts left goes first. Were they to take turns,
// the server would hold a part of each for all that time. So that none waits
// for ever, every fourth part is one of the result that waits longest.

/** OnTheWay is how many parts may be on their way to the server, of all results of a document. */
export const OnTheWay = 8;

/** OldestEach is how often a part of the oldest result goes, whatever is shorter. */
const OldestEach = 4;

/** Load is one ending on its way: its messages, and how many of them went. */
interface Load {
  readonly messages: readonly FromBridge[];
  sent: number;
}

/** Parts sends large results piece by piece. */
export interface Parts {
  /** begin sends the messages of one ending, in order, when it is their turn. */
  begin(id: string, messages: readonly FromBridge[]): void;
  /** taken tells that the worker has passed on one part. */
  taken(): void;
  /** restart sends all results from their beginnings, on a new port. */
  restart(): void;
  /** drop sends no more of a result. */
  drop(id: string): void;
}

/** makeParts returns a Parts that sends by post, which returns false while there is no port. */
export function makeParts(post: (message: FromBridge) => boolean): Parts {
  return new PartSender(post);
}

class PartSender implements Parts {
  readonly #post: (message: FromBridge) => boolean;
  /** #loads are the endings that were not dropped, the oldest first. */
  readonly #loads = new Map<string, Load>();
  #away = 0;
  #turn = 0;

  constructor(post: (message: FromBridge) => boolean) {
    this.#post = post;
  }

  begin(id: string, messages: readonly FromBridge[]): void {
    this.#loads.set(id, { messages, sent: 0 });
    this.#send();
  }

  taken(): void {
    this.#away--;
    this.#send();
  }

  restart(): void {
    this.#away = 0;
    for (const load of this.#loads.values()) load.sent = 0;
    this.#send();
  }

  drop(id: string): void {
    this.#loads.delete(id);
  }

  #send(): void {
    while (this.#away < OnTheWay) {
      const load = this.#next();
      const message = load?.messages[load.sent];
      if (!load || !message || !this.#post(message)) return; // without a port, restart goes on
      load.sent++;
      this.#away++;
      // The last message is short and says that all parts were sent.
      const end = load.messages[load.sent];
      if (end && end.op !== 'part' && this.#post(end)) load.sent++;
    }
  }

  #next(): Load | undefined {
    const waiting = [...this.#loads.values()].filter((load) => load.sent < load.messages.length);
    this.#turn++;
    if (this.#turn % OldestEach === 0) return waiting[0];
    return waiting.reduce<Load | undefined>(
      (best, load) => (best && left(best) <= left(load) ? best : load),
      undefined,
    );
  }
}

function left(load: Load): number {
  return load.messages.length - load.sent;
}

import type { FromBridge } from '../port-message.ts';

// A large result shares the port with all other messages of the document. To keep the port free, only a few parts are
// in flight at once, and short messages are sent between the parts. The worker acknowledges each part after sending it
// to the server. A waiting part uses no memory, because the part is a slice of the result's text.
//
// The result with the fewest remaining parts is sent first. If parts of different results alternated, the server would
// have to store parts of all results until the end. To prevent starvation, every fourth part belongs to the oldest
// result.

/** MaxInFlight is the number of parts in flight, of all results of a document. */
export const MaxInFlight = 8;

/** OldestEach is the interval, in parts, at which the oldest result sends a part. */
const OldestEach = 4;

/** PendingResult has the messages with the outcome of one call, and the number of messages already sent. */
interface PendingResult {
  readonly messages: readonly FromBridge[];
  sent: number;
}

/** PartSender sends large results in parts. post returns false without a port. */
export class PartSender {
  readonly #post: (message: FromBridge) => boolean;
  /** #loads are the endings that are being sent, oldest first. */
  readonly #loads = new Map<string, PendingResult>();
  #inFlight = 0;
  #turn = 0;

  constructor(post: (message: FromBridge) => boolean) {
    this.#post = post;
  }

  /** begin queues the messages of one ending. */
  begin(id: string, messages: readonly FromBridge[]): void {
    this.#loads.set(id, { messages, sent: 0 });
    this.#send();
  }

  /** confirmPart reports that the worker has sent one part to the server. */
  confirmPart(): void {
    this.#inFlight--;
    this.#send();
  }

  /** restart sends all results from their beginnings, on a new port. */
  restart(): void {
    this.#inFlight = 0;
    for (const load of this.#loads.values()) load.sent = 0;
    this.#send();
  }

  /** drop stops the sending of a result. */
  drop(id: string): void {
    this.#loads.delete(id);
  }

  #send(): void {
    while (this.#inFlight < MaxInFlight) {
      const load = this.#next();
      const message = load?.messages[load.sent];
      if (!load || !message || !this.#post(message)) return; // without a port, restart sends the parts later
      load.sent++;
      this.#inFlight++;
      // The last message of a result is short and contains the number of parts.
      const end = load.messages[load.sent];
      if (end && end.op !== 'part' && this.#post(end)) load.sent++;
    }
  }

  #next(): PendingResult | undefined {
    const waiting = [...this.#loads.values()].filter((load) => load.sent < load.messages.length);
    this.#turn++;
    if (this.#turn % OldestEach === 0) return waiting[0];
    return waiting.reduce<PendingResult | undefined>(
      (best, load) => (best && countUnsent(best) <= countUnsent(load) ? best : load),
      undefined,
    );
  }
}

function countUnsent(load: PendingResult): number {
  return load.messages.length - load.sent;
}

import type { FromBridge } from '../port-message.ts';

// The messages of a large result go through the same port as all other messages of the document. Only a few parts wait
// for an acknowledgment at once, so that the port stays free for other messages. When the worker has sent a part to the
// server, the worker acknowledges the part to the bridge. A part that is not sent yet needs no memory, because it is a
// slice of the result's text.
//
// The bridge first sends the result with the fewest unsent parts. If the bridge mixed parts of different results, the
// server would have to store many incomplete results for a long time. Every fourth part that the bridge sends belongs
// to the oldest result, so that the oldest result does not starve.

export const MaxPartsInFlight = 8;

const OldestResultInterval = 4;

interface PendingResult {
  readonly messages: readonly FromBridge[];
  sentCount: number;
}

/** PartSender splits large results into parts and sends the parts one after another. */
export class PartSender {
  readonly #post: (message: FromBridge) => boolean;
  readonly #pendingResults = new Map<string, PendingResult>();
  #partsInFlight = 0;
  #partCount = 0;

  constructor(post: (message: FromBridge) => boolean) {
    this.#post = post;
  }

  begin(id: string, messages: readonly FromBridge[]): void {
    this.#pendingResults.set(id, { messages, sentCount: 0 });
    this.#send();
  }

  confirmPart(): void {
    this.#partsInFlight--;
    this.#send();
  }

  /**
   * The method `restart` resends all pending results from their first part, because a new port has replaced the old
   * one.
   */
  restart(): void {
    this.#partsInFlight = 0;
    for (const result of this.#pendingResults.values()) result.sentCount = 0;
    this.#send();
  }

  drop(id: string): void {
    this.#pendingResults.delete(id);
  }

  #send(): void {
    while (this.#partsInFlight < MaxPartsInFlight) {
      const result = this.#nextResult();
      const message = result?.messages[result.sentCount];
      if (!result || !message || !this.#post(message)) return; // if no port is open, restart sends the parts later
      result.sentCount++;
      this.#partsInFlight++;
      // The last message of a split result only contains the number of parts, so the bridge sends it with the last
      // part.
      const lastMessage = result.messages[result.sentCount];
      if (lastMessage && lastMessage.op !== 'part' && this.#post(lastMessage)) result.sentCount++;
    }
  }

  #nextResult(): PendingResult | undefined {
    const unfinished = [...this.#pendingResults.values()].filter((result) => result.sentCount < result.messages.length);
    this.#partCount++;
    if (this.#partCount % OldestResultInterval === 0) return unfinished[0];
    return unfinished.reduce<PendingResult | undefined>(
      (shortest, result) => (shortest && countUnsent(shortest) <= countUnsent(result) ? shortest : result),
      undefined,
    );
  }
}

function countUnsent(result: PendingResult): number {
  return result.messages.length - result.sentCount;
}

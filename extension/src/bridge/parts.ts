import type { BridgeToWorkerMessage } from '../port-message.ts';

// The messages of a large result go through the same port as all other messages of the document. Only a few parts wait
// for an acknowledgment at once, so that the port stays free for other messages. When the worker has sent a part to the
// server, the worker acknowledges the part to the bridge. A part that is not sent yet needs no memory, because it is a
// slice of the result's text.
//
// The bridge first sends the result with the fewest unsent parts. If the bridge mixed parts of different results, the
// server would have to store many incomplete results for a long time. Every fourth part that the bridge sends belongs
// to the oldest result, so that the oldest result does not starve.

export const MaxUnconfirmedParts = 8;

const OldestResultSendInterval = 4;

interface PendingResult {
  readonly pendingMessages: readonly BridgeToWorkerMessage[];
  sentCount: number;
}

/** ResultPartSender splits large results into parts and sends the parts one after another. */
export class ResultPartSender {
  readonly #post: (partMessage: BridgeToWorkerMessage) => boolean;
  readonly #pendingResults = new Map<string, PendingResult>();
  #unconfirmedPartCount = 0;
  #partCount = 0;

  constructor(postResultPart: (partMessage: BridgeToWorkerMessage) => boolean) {
    this.#post = postResultPart;
  }

  sendResult(id: string, pendingMessages: readonly BridgeToWorkerMessage[]): void {
    this.#pendingResults.set(id, { pendingMessages, sentCount: 0 });
    this.#send();
  }

  confirmPart(): void {
    this.#unconfirmedPartCount--;
    this.#send();
  }

  /**
   * The method `restart` resends all pending results from their first part, because a new port has replaced the old
   * one.
   */
  restart(): void {
    this.#unconfirmedPartCount = 0;
    for (const pendingResult of this.#pendingResults.values()) pendingResult.sentCount = 0;
    this.#send();
  }

  drop(id: string): void {
    this.#pendingResults.delete(id);
  }

  #send(): void {
    while (this.#unconfirmedPartCount < MaxUnconfirmedParts) {
      const pendingResult = this.#chooseNextResult();
      const partMessage = pendingResult?.pendingMessages[pendingResult.sentCount];
      if (!pendingResult || !partMessage || !this.#post(partMessage)) return; // if no port is open, restart sends the parts later
      pendingResult.sentCount++;
      this.#unconfirmedPartCount++;
      // The last message of a split result only contains the number of parts, so the bridge sends it with the last
      // part.
      const lastMessage = pendingResult.pendingMessages[pendingResult.sentCount];
      if (lastMessage && lastMessage.op !== 'part' && this.#post(lastMessage)) pendingResult.sentCount++;
    }
  }

  #chooseNextResult(): PendingResult | undefined {
    const unfinishedResults = [...this.#pendingResults.values()].filter(
      (pendingResult) => pendingResult.sentCount < pendingResult.pendingMessages.length,
    );
    this.#partCount++;
    if (this.#partCount % OldestResultSendInterval === 0) return unfinishedResults[0];
    return unfinishedResults.reduce<PendingResult | undefined>(
      (shortestResult, pendingResult) =>
        shortestResult && countUnsentParts(shortestResult) <= countUnsentParts(pendingResult)
          ? shortestResult
          : pendingResult,
      undefined,
    );
  }
}

function countUnsentParts(pendingResult: PendingResult): number {
  return pendingResult.pendingMessages.length - pendingResult.sentCount;
}

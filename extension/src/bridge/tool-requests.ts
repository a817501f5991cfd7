import type { ToolAskParams } from '../../../wire/wire.gen.ts';
import type { BridgeToWorkerMessage } from '../port-message.ts';

/** WITHDRAWN_REQUEST is the body of a message by which a tool withdraws a request. */
const WITHDRAWN_REQUEST = JSON.stringify({ withdrawn: true } satisfies Partial<ToolAskParams>);

/**
 * ToolRequests stores the requests that one call sent to the server. The server ignores a request that it has already
 * received, so the bridge can send unanswered requests again.
 */
export interface ToolRequests {
  recordRequest(askId: number, body: string): BridgeToWorkerMessage;
  /**
   * recordAnswer returns "wanted" if the host waits for the answer, "known" if the host already has the answer, and
   * "unwanted" otherwise.
   */
  recordAnswer(askId: number): 'wanted' | 'known' | 'unwanted';
  /**
   * listUnansweredRequests returns the messages that the bridge resends to a new worker: unanswered and withdrawn
   * requests, oldest first.
   */
  listUnansweredRequests(): BridgeToWorkerMessage[];
  /** The method `close` drops all requests of the call, because an ended call needs no answers. */
  close(): void;
}

export function makeToolRequests(id: string): ToolRequests {
  const unansweredRequestBodies = new Map<number, string>();
  const answeredRequests = new Set<number>();
  const requestMessage = (askId: number, body: string): BridgeToWorkerMessage => ({
    op: 'toolRequest',
    id,
    ask: askId,
    body,
  });
  return {
    recordRequest: (askId, body) => {
      unansweredRequestBodies.set(askId, body);
      return requestMessage(askId, body);
    },
    recordAnswer: (askId) => {
      if (answeredRequests.has(askId)) return 'known';
      const body = unansweredRequestBodies.get(askId);
      if (body === undefined || body === WITHDRAWN_REQUEST) return 'unwanted';
      unansweredRequestBodies.delete(askId);
      answeredRequests.add(askId);
      return 'wanted';
    },
    listUnansweredRequests: () => [...unansweredRequestBodies].map(([askId, body]) => requestMessage(askId, body)),
    close: () => {
      unansweredRequestBodies.clear();
      answeredRequests.clear();
    },
  };
}

import type { ToolAskParams } from '../../../wire/wire.gen.ts';
import type { FromBridge } from '../port-message.ts';

/** WITHDRAWN_REQUEST is the body of a message by which a tool withdraws a request. */
const WITHDRAWN_REQUEST = JSON.stringify({ withdrawn: true } satisfies Partial<ToolAskParams>);

/**
 * ToolRequests stores the requests that one call sent to the server. The server ignores a request that it has already
 * received, so the bridge can send unanswered requests again.
 */
export interface ToolRequests {
  recordRequest(ask: number, body: string): FromBridge;
  /**
   * recordAnswer returns "wanted" if the host waits for the answer, "known" if the host already has the answer, and
   * "unwanted" otherwise.
   */
  recordAnswer(ask: number): 'wanted' | 'known' | 'unwanted';
  /**
   * listUnansweredRequests returns the messages that the bridge resends to a new worker: unanswered and withdrawn
   * requests, oldest first.
   */
  listUnansweredRequests(): FromBridge[];
  /** The method `close` drops all requests of the call, because an ended call needs no answers. */
  close(): void;
}

export function makeToolRequests(id: string): ToolRequests {
  const unansweredBodies = new Map<number, string>();
  const answeredRequests = new Set<number>();
  const requestMessage = (ask: number, body: string): FromBridge => ({ op: 'toolRequest', id, ask, body });
  return {
    recordRequest: (ask, body) => {
      unansweredBodies.set(ask, body);
      return requestMessage(ask, body);
    },
    recordAnswer: (ask) => {
      if (answeredRequests.has(ask)) return 'known';
      const body = unansweredBodies.get(ask);
      if (body === undefined || body === WITHDRAWN_REQUEST) return 'unwanted';
      unansweredBodies.delete(ask);
      answeredRequests.add(ask);
      return 'wanted';
    },
    listUnansweredRequests: () => [...unansweredBodies].map(([ask, body]) => requestMessage(ask, body)),
    close: () => {
      unansweredBodies.clear();
      answeredRequests.clear();
    },
  };
}

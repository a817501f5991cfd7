import type { ToolAskParams } from '../../../wire/wire.gen.ts';
import type { FromBridge } from '../port-message.ts';

/** WITHDRAWN is the body that the host sends when a tool withdraws a request. */
const WITHDRAWN = JSON.stringify({ withdrawn: true } satisfies Partial<ToolAskParams>);

/**
 * ToolRequests are the requests of one call to the server. The server ignores duplicates, so open requests may be sent
 * again.
 */
export interface ToolRequests {
  /** recordRequest stores a request of the host and returns the message for the worker. */
  recordRequest(ask: number, body: string): FromBridge;
  /**
   * recordAnswer records that a request was answered. The result is "wanted" if the host waits for the answer, "known"
   * if the host already has the answer, and otherwise "unwanted".
   */
  recordAnswer(ask: number): 'wanted' | 'known' | 'unwanted';
  /** listUnanswered returns the messages for a new worker: all open or withdrawn requests, oldest first. */
  listUnanswered(): FromBridge[];
  /** close drops all tool requests, because an ended call needs no answer. */
  close(): void;
}

/** makeToolRequests returns the empty ToolRequests of a new call. */
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
      if (body === undefined || body === WITHDRAWN) return 'unwanted';
      unansweredBodies.delete(ask);
      answeredRequests.add(ask);
      return 'wanted';
    },
    listUnanswered: () => [...unansweredBodies].map(([ask, body]) => requestMessage(ask, body)),
    close: () => {
      unansweredBodies.clear();
      answeredRequests.clear();
    },
  };
}

import type { ToolAskParams } from '../../../wire/wire.gen.ts';
import type { FromBridge } from '../port-message.ts';

/** WITHDRAWN is the body that the host sends when a tool withdraws an ask. */
const WITHDRAWN = JSON.stringify({ withdrawn: true } satisfies Partial<ToolAskParams>);

/** Asks are the requests of one call to the server. The server ignores duplicates, so open asks may be sent again. */
export interface Asks {
  /** recordAsk stores an ask of the host and returns the message for the worker. */
  recordAsk(ask: number, body: string): FromBridge;
  /**
   * recordAnswer records that an ask was answered. The result is "wanted" if the host waits for the answer, "known" if
   * the host already has the answer, and otherwise "unwanted".
   */
  recordAnswer(ask: number): 'wanted' | 'known' | 'unwanted';
  /** listUnanswered returns the messages for a new worker: all open or withdrawn asks, oldest first. */
  listUnanswered(): FromBridge[];
  /** close drops all asks, because an ended call needs no answer. */
  close(): void;
}

/** makeAsks returns the empty Asks of a new call. */
export function makeAsks(id: string): Asks {
  const unansweredBodies = new Map<number, string>();
  const answeredAsks = new Set<number>();
  const askMessage = (ask: number, body: string): FromBridge => ({ op: 'ask', id, ask, body });
  return {
    recordAsk: (ask, body) => {
      unansweredBodies.set(ask, body);
      return askMessage(ask, body);
    },
    recordAnswer: (ask) => {
      if (answeredAsks.has(ask)) return 'known';
      const body = unansweredBodies.get(ask);
      if (body === undefined || body === WITHDRAWN) return 'unwanted';
      unansweredBodies.delete(ask);
      answeredAsks.add(ask);
      return 'wanted';
    },
    listUnanswered: () => [...unansweredBodies].map(([ask, body]) => askMessage(ask, body)),
    close: () => {
      unansweredBodies.clear();
      answeredAsks.clear();
    },
  };
}

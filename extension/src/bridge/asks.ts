import type { FromBridge } from '../port-message.ts';

/** WITHDRAWN is what a host says of an ask that its tool does not wait for any more (handshake.ts). */
const WITHDRAWN = '{"withdrawn":true}';

/** Asks are what one call has asked the server for. The server takes none twice, so all that is open may be told again. */
export interface Asks {
  /** said notes what the host says of an ask and returns what the worker should hear. */
  said(ask: number, body: string): FromBridge;
  /** answered notes an answer: whether the host waits for it, has it already, or wants none. */
  answered(ask: number): 'wanted' | 'known' | 'unwanted';
  /** again returns what a worker may not have heard: all that is open or was withdrawn, oldest first. */
  again(): FromBridge[];
  /** close forgets all; a call that has ended wants no answer. */
  close(): void;
}

/** makeAsks returns the asks of a call that begins. */
export function makeAsks(id: string): Asks {
  const bodies = new Map<number, string>();
  const known = new Set<number>();
  const message = (ask: number, body: string): FromBridge => ({ op: 'ask', id, ask, body });
  return {
    said: (ask, body) => {
      bodies.set(ask, body);
      return message(ask, body);
    },
    answered: (ask) => {
      if (known.has(ask)) return 'known';
      const body = bodies.get(ask);
      if (body === undefined || body === WITHDRAWN) return 'unwanted';
      bodies.delete(ask);
      known.add(ask);
      return 'wanted';
    },
    again: () => [...bodies].map(([ask, body]) => message(ask, body)),
    close: () => {
      bodies.clear();
      known.clear();
    },
  };
}

import type { FromBridge } from '../port-message.ts';
import type { Host } from './hosts.ts';

/** LeastMs is the least time between two wakes of a document, in milliseconds: that of a browser's nested timers. */
const LeastMs = 4;

/** WakesOptions are the surroundings of the timers. */
export interface WakesOptions {
  /** post sends a message to the worker; false means that there is no port. */
  post(message: FromBridge): boolean;
  /** visible reports whether a person may see the document. */
  visible(): boolean;
  /** now is the time in milliseconds; default performance.now. */
  readonly now?: () => number;
}

/**
 * Wakes has the worker wake hosts whose timers are due while the document is hidden. At most one wake of a document is
 * asked for at a time, however many timers there are.
 */
export interface Wakes {
  /** announced notes in how many milliseconds the next timer of a host is due; negative for never. */
  announced(host: Host, ms: number): void;
  /** woken takes a wake of the worker. */
  woken(): void;
  /** shown reports that the document may be visible or hidden now. */
  shown(): void;
  /** connected reports that there is a port to a worker, which may be another one. */
  connected(): void;
}

/** makeWakes returns Wakes without timers. */
export function makeWakes({ post, visible, now = () => performance.now() }: WakesOptions): Wakes {
  const due = new Map<Host, number>();
  /** asked is the time of the wake that the worker was asked for; Infinity for none. */
  let asked = Infinity;

  const ask = () => {
    if (visible() || due.size === 0) return;
    const next = Math.max(Math.min(...due.values()), now() + LeastMs);
    if (next >= asked) return;
    if (post({ op: 'wake', ms: Math.ceil(next - now()) })) asked = next;
  };
  return {
    announced: (host, ms) => {
      if (!Number.isFinite(ms) || ms < 0) {
        due.delete(host);
        return;
      }
      due.set(host, now() + ms);
      ask();
    },
    woken: () => {
      asked = Infinity;
      const at = now();
      for (const [host, dueAt] of due) {
        if (dueAt > at) continue;
        due.delete(host);
        host.send('["wake"]'); // the host announces its next timer
      }
      ask();
    },
    shown: ask,
    connected: () => {
      asked = Infinity;
      ask();
    },
  };
}

import type { ToBridge } from '../port-message.ts';
import type { Host } from './hosts.ts';

/** ArmedMs is how long calls wait for the new adapter once the door is open, in milliseconds. */
const ArmedMs = 10_000;

type Renew = Extract<ToBridge, { op: 'renew' }>;

export interface SwapsOptions {
  /** isBusy reports whether calls run in the adapter of a host. */
  isBusy(host: Host): boolean;
  /** end ends the calls that run in the adapter of a host. */
  end(host: Host): void;
  /** release lets the calls go on that wait for the new adapter of a host. */
  release(host: Host): void;
}

/**
 * Swaps are the adapters of this document that are about to be replaced. An adapter is replaced when no call runs in it;
 * calls that come meanwhile wait for the new one.
 */
export interface Swaps {
  /** begin prepares the host for another adapter, in place of what it was prepared for before. */
  begin(host: Host, message: Renew): void;
  /** holds reports whether calls for a host have to wait. */
  holds(host: Host): boolean;
  /** settled notes that a call of a host has ended. */
  settled(host: Host): void;
  /** hashOf returns the hash of the adapter that a host is to take; undefined if it waits for none. */
  hashOf(host: Host): string | undefined;
  /** finish ends the wait for a host: it has the new adapter, keeps the old one, or has none. */
  finish(host: Host): void;
  /** clear ends all waits: the worker that had the code is gone. */
  clear(): void;
}

/** makeSwaps returns a Swaps that waits for nothing. */
export function makeSwaps({ isBusy, end, release }: SwapsOptions): Swaps {
  const waiting = new Map<Host, { message: Renew; armed: boolean; timer: ReturnType<typeof setTimeout> }>();

  const arm = (host: Host) => {
    const entry = waiting.get(host);
    if (!entry || entry.armed) return;
    clearTimeout(entry.timer);
    entry.armed = true;
    entry.timer = setTimeout(() => finish(host), ArmedMs);
    const { nonce, hash } = entry.message;
    host.send(JSON.stringify(['renew', nonce, hash]));
  };
  const finish = (host: Host) => {
    const entry = waiting.get(host);
    if (!entry) return;
    clearTimeout(entry.timer);
    waiting.delete(host);
    release(host);
  };
  return {
    begin: (host, message) => {
      const before = waiting.get(host);
      if (before && !before.armed) {
        before.message = message; // the calls that run get no more time
        return;
      }
      clearTimeout(before?.timer);
      const late = () => {
        end(host);
        arm(host);
      };
      waiting.set(host, { message, armed: false, timer: setTimeout(late, message.waitMs) });
      if (!isBusy(host)) arm(host);
    },
    holds: (host) => waiting.has(host),
    settled: (host) => {
      if (waiting.has(host) && !isBusy(host)) arm(host);
    },
    hashOf: (host) => waiting.get(host)?.message.hash,
    finish,
    clear: () => {
      for (const host of [...waiting.keys()]) finish(host);
    },
  };
}

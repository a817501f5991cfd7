import type { ToBridge } from '../port-message.ts';
import type { Host } from './hosts.ts';

/** ArmedMs is how long calls wait for the new adapter once the entry point is armed, in milliseconds. */
const ArmedMs = 10_000;

type Renew = Extract<ToBridge, { op: 'renew' }>;

export interface SwapsOptions {
  /** isBusy reports whether calls run in the adapter of a host. */
  isBusy(host: Host): boolean;
  /** end ends the calls that run in the adapter of a host. */
  end(host: Host): void;
  /** release starts the calls that wait for the new adapter of a host. */
  release(host: Host): void;
}

/**
 * Swaps are the pending replacements of adapters in this document. An adapter is replaced when no call runs in it. New
 * calls wait for the new adapter.
 */
export interface Swaps {
  /** begin prepares a host for a new adapter. begin replaces an earlier pending swap of the same host. */
  begin(host: Host, message: Renew): void;
  /** isWaiting reports whether calls for a host have to wait. */
  isWaiting(host: Host): boolean;
  /** callEnded reports that a call of a host has ended. */
  callEnded(host: Host): void;
  /**
   * hashOf returns the hash of the adapter that a host waits for. hashOf returns undefined if the host waits for no
   * adapter.
   */
  hashOf(host: Host): string | undefined;
  /**
   * finish ends the swap of a host. A host whose swap has ended has the new adapter, the old adapter, or no adapter.
   */
  finish(host: Host): void;
  /** clear ends all swaps, because the worker that has the code has stopped. */
  clear(): void;
}

/** makeSwaps returns a Swaps without pending replacements. */
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
        before.message = message; // running calls get no extra time
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
    isWaiting: (host) => waiting.has(host),
    callEnded: (host) => {
      if (waiting.has(host) && !isBusy(host)) arm(host);
    },
    hashOf: (host) => waiting.get(host)?.message.hash,
    finish,
    clear: () => {
      for (const host of [...waiting.keys()]) finish(host);
    },
  };
}

import type { WorkerToBridgeMessage } from '../port-message.ts';
import type { Host } from './hosts.ts';

/** NewAdapterTimeoutMs is how long new calls wait for the new adapter of a hot reload, in milliseconds. */
const NewAdapterTimeoutMs = 10_000;

type ReplaceMessage = Extract<WorkerToBridgeMessage, { op: 'replaceAdapter' }>;

export interface AdapterSwapsOptions {
  isBusy(host: Host): boolean;
  endCalls(host: Host): void;
  startWaitingCalls(host: Host): void;
}

/**
 * AdapterSwaps manages the adapter replacements of a document that are still in progress. During a hot reload, a host
 * replaces its adapter only when no call runs in the adapter. During a replacement, new calls of the plugin wait for
 * the new adapter.
 */
export interface AdapterSwaps {
  /**
   * If the host already waits for an adapter, `startSwap` replaces the awaited adapter with the adapter in the message.
   */
  startSwap(host: Host, replaceMessage: ReplaceMessage): void;
  /** isWaiting reports whether new calls in this host must wait, because the host is about to get a new adapter. */
  isWaiting(host: Host): boolean;
  onCallEnded(host: Host): void;
  findPendingAdapterHash(host: Host): string | undefined;
  /**
   * The method `finish` ends the replacement of a host's adapter, and starts the calls that waited for the new adapter.
   */
  finish(host: Host): void;
  /**
   * The method `clear` cancels all pending replacements of adapters, because the worker that had the new code has
   * stopped.
   */
  clear(): void;
}

export function makeAdapterSwaps({ isBusy, endCalls, startWaitingCalls }: AdapterSwapsOptions): AdapterSwaps {
  const pendingSwaps = new Map<
    Host,
    { message: ReplaceMessage; isArmed: boolean; timer: ReturnType<typeof setTimeout> }
  >();

  const armHostEntryPoint = (host: Host) => {
    const pendingSwap = pendingSwaps.get(host);
    if (!pendingSwap || pendingSwap.isArmed) return;
    clearTimeout(pendingSwap.timer);
    pendingSwap.isArmed = true;
    pendingSwap.timer = setTimeout(() => finishSwap(host), NewAdapterTimeoutMs);
    const { nonce, hash } = pendingSwap.message;
    host.sendText(JSON.stringify(['renew', nonce, hash]));
  };
  const finishSwap = (host: Host) => {
    const pendingSwap = pendingSwaps.get(host);
    if (!pendingSwap) return;
    clearTimeout(pendingSwap.timer);
    pendingSwaps.delete(host);
    startWaitingCalls(host);
  };
  return {
    startSwap: (host, replaceMessage) => {
      const earlierSwap = pendingSwaps.get(host);
      if (earlierSwap && !earlierSwap.isArmed) {
        earlierSwap.message = replaceMessage; // A newer adapter does not extend the time limit of the running calls.
        return;
      }
      clearTimeout(earlierSwap?.timer);
      const onTimeout = () => {
        endCalls(host);
        armHostEntryPoint(host);
      };
      pendingSwaps.set(host, {
        message: replaceMessage,
        isArmed: false,
        timer: setTimeout(onTimeout, replaceMessage.waitMs),
      });
      if (!isBusy(host)) armHostEntryPoint(host);
    },
    isWaiting: (host) => pendingSwaps.has(host),
    onCallEnded: (host) => {
      if (pendingSwaps.has(host) && !isBusy(host)) armHostEntryPoint(host);
    },
    findPendingAdapterHash: (host) => pendingSwaps.get(host)?.message.hash,
    finish: finishSwap,
    clear: () => {
      for (const host of [...pendingSwaps.keys()]) finishSwap(host);
    },
  };
}

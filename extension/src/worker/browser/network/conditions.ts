import type { DebuggerSession } from '../debugger/debuggers.ts';
import { networkEnableParams } from '../debugger/features.ts';

export interface ThrottlingConditions {
  readonly isOffline: boolean;
  /** latencyMs is the delay that Chrome adds to each request, in milliseconds. */
  readonly latencyMs: number;
  /** downloadKbps and uploadKbps limit the network speed, in kilobits per second; 0 means no limit. */
  readonly downloadKbps: number;
  readonly uploadKbps: number;
}

/** networkPresets contains the network speeds that Chrome DevTools also offers. */
export const networkPresets: Readonly<Record<'offline' | 'slow-3g' | 'fast-3g' | 'fast-4g', ThrottlingConditions>> = {
  offline: { isOffline: true, latencyMs: 0, downloadKbps: 0, uploadKbps: 0 },
  'slow-3g': { isOffline: false, latencyMs: 2000, downloadKbps: 400, uploadKbps: 400 },
  'fast-3g': { isOffline: false, latencyMs: 562, downloadKbps: 1440, uploadKbps: 675 },
  'fast-4g': { isOffline: false, latencyMs: 165, downloadKbps: 8100, uploadKbps: 1350 },
};

const unthrottledConditions: ThrottlingConditions = { isOffline: false, latencyMs: 0, downloadKbps: 0, uploadKbps: 0 };

/** NetworkConditions throttles the network of one tab, including its frames and workers. */
export class NetworkConditions {
  readonly #session: DebuggerSession;
  readonly #children = new Set<string>();
  readonly #stopListening: () => void;
  #appliedConditions = unthrottledConditions;

  constructor(session: DebuggerSession) {
    this.#session = session;
    this.#stopListening = session.onChildTarget(async ({ id }) => {
      this.#children.add(id);
      await session.send('Network.enable', networkEnableParams, 1000, id);
      if (this.#appliedConditions !== unthrottledConditions) await this.#send(this.#appliedConditions, id);
    });
  }

  async set(conditions: ThrottlingConditions): Promise<void> {
    this.#appliedConditions = conditions;
    await this.#send(conditions, '');
    // Ignore errors, because a child target that no longer exists rejects the command.
    await Promise.allSettled([...this.#children].map((id) => this.#send(conditions, id)));
  }

  /** The method `stop` removes all limits, and ends the throttling of new frames and workers. */
  async stop(): Promise<void> {
    this.#stopListening();
    await this.set(unthrottledConditions);
  }

  async #send(
    { isOffline, latencyMs, downloadKbps, uploadKbps }: ThrottlingConditions,
    childId: string,
  ): Promise<void> {
    const bytesPerSecond = (kbps: number) => (kbps > 0 ? Math.round((kbps * 1000) / 8) : -1);
    await this.#session.send(
      'Network.emulateNetworkConditions',
      {
        offline: isOffline,
        latency: latencyMs,
        downloadThroughput: bytesPerSecond(downloadKbps),
        uploadThroughput: bytesPerSecond(uploadKbps),
      },
      5000,
      childId,
    );
  }
}

/**
 * formatConditions describes network conditions for the agent, such as "165 ms latency, 8100 kbit/s down, 1350 kbit/s
 * up".
 */
export function formatConditions({ isOffline, latencyMs, downloadKbps, uploadKbps }: ThrottlingConditions): string {
  if (isOffline) return 'offline';
  const formatLimit = (kbps: number) => (kbps > 0 ? `${kbps} kbit/s` : 'unlimited');
  return `${latencyMs} ms latency, ${formatLimit(downloadKbps)} down, ${formatLimit(uploadKbps)} up`;
}

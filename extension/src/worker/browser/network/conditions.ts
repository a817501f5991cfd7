import type { DebuggerSession } from '../debugger/debuggers.ts';
import { networkParams } from '../debugger/features.ts';

/** Conditions describe a network. */
export interface Conditions {
  readonly isOffline: boolean;
  /** latencyMs is added to each request. */
  readonly latencyMs: number;
  /** downloadKbps and uploadKbps are in kilobits per second; 0 for no limit. */
  readonly downloadKbps: number;
  readonly uploadKbps: number;
}

/** presets are the networks that DevTools of Chrome offer. */
export const presets: Readonly<Record<'offline' | 'slow-3g' | 'fast-3g' | 'fast-4g', Conditions>> = {
  offline: { isOffline: true, latencyMs: 0, downloadKbps: 0, uploadKbps: 0 },
  'slow-3g': { isOffline: false, latencyMs: 2000, downloadKbps: 400, uploadKbps: 400 },
  'fast-3g': { isOffline: false, latencyMs: 562, downloadKbps: 1440, uploadKbps: 675 },
  'fast-4g': { isOffline: false, latencyMs: 165, downloadKbps: 8100, uploadKbps: 1350 },
};

/** realConditions are the conditions of the network itself. */
const realConditions: Conditions = { isOffline: false, latencyMs: 0, downloadKbps: 0, uploadKbps: 0 };

/** NetworkConditions slows down the network of one tab, with its frames and workers. */
export class NetworkConditions {
  readonly #session: DebuggerSession;
  readonly #children = new Set<string>();
  #current = realConditions;

  constructor(session: DebuggerSession) {
    this.#session = session;
    session.onChild(async ({ id }) => {
      this.#children.add(id);
      await session.send('Network.enable', networkParams, 1000, id);
      if (this.#current !== realConditions) await this.#send(this.#current, id);
    });
  }

  async set(conditions: Conditions): Promise<void> {
    this.#current = conditions;
    await this.#send(conditions, '');
    // A child that has ended rejects the command.
    await Promise.allSettled([...this.#children].map((id) => this.#send(conditions, id)));
  }

  async reset(): Promise<void> {
    await this.set(realConditions);
  }

  async #send({ isOffline, latencyMs, downloadKbps, uploadKbps }: Conditions, childId: string): Promise<void> {
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

/** conditionsText describes conditions for the agent. */
export function conditionsText({ isOffline, latencyMs, downloadKbps, uploadKbps }: Conditions): string {
  if (isOffline) return 'offline';
  const limit = (kbps: number) => (kbps > 0 ? `${kbps} kbit/s` : 'unlimited');
  return `${latencyMs} ms latency, ${limit(downloadKbps)} down, ${limit(uploadKbps)} up`;
}

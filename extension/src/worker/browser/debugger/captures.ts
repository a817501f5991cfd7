import type { DebuggerHold, DebuggerSession, Debuggers } from './debuggers.ts';
import type { Feature } from './features.ts';

/** CaptureIdleMs is how long a capture continues after its last use by a tool, in milliseconds. */
export const CaptureIdleMs = 10 * 60_000;

export interface CapturesOptions<C> {
  readonly debuggers: Pick<Debuggers, 'hold'>;
  readonly features: readonly Feature[];
  start(session: DebuggerSession, tabId: number): Promise<C>;
  /** endSession removes what one MCP session has added to a capture that several sessions share. */
  endSession?(capture: C, session: string): Promise<void>;
  /** isExclusive is true if a capture belongs only to the session that last used the capture. */
  readonly isExclusive?: boolean;
  /** The method `stop` runs before the debugger features are turned off, or after the debugger was detached. */
  stop?(capture: C): Promise<void>;
}

interface RunningCapture<C> {
  readonly ready: Promise<C>;
  readonly owners: Set<string>;
  hold: DebuggerHold | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/**
 * Captures records events of tabs for longer than one call, such as network requests. A capture ends when its last MCP
 * session ends, when the tab closes, when the debugger is detached, or after 10 min without use.
 */
export class Captures<C> {
  readonly #options: CapturesOptions<C>;
  readonly #running = new Map<number, RunningCapture<C>>();

  constructor(options: CapturesOptions<C>) {
    this.#options = options;
  }

  /** If no capture runs in the tab, the method `use` starts a new capture and returns isNew as true. */
  async use(tabId: number, session: string): Promise<{ readonly capture: C; readonly isNew: boolean }> {
    const present = this.#running.get(tabId);
    const running = present ?? this.#start(tabId);
    if (this.#options.isExclusive) running.owners.clear();
    running.owners.add(session);
    return { capture: await this.#awaitReady(tabId, running), isNew: present === undefined };
  }

  async #awaitReady(tabId: number, running: RunningCapture<C>): Promise<C> {
    try {
      const capture = await running.ready;
      this.#restartIdleTimer(tabId, running);
      return capture;
    } catch (error) {
      this.#forget(tabId, running);
      throw error;
    }
  }

  async find(tabId: number): Promise<C | undefined> {
    const running = this.#running.get(tabId);
    return running && (await this.#awaitReady(tabId, running));
  }

  async end(tabId: number): Promise<void> {
    const running = this.#running.get(tabId);
    if (running) await this.#end(tabId, running);
  }

  /** endSession stops the recordings that only the given MCP session has used. */
  async endSession(session: string): Promise<void> {
    for (const [tabId, running] of [...this.#running]) {
      if (!running.owners.delete(session)) continue;
      if (running.owners.size === 0) {
        await this.#end(tabId, running);
        continue;
      }
      const capture = await running.ready.catch(() => undefined);
      if (capture !== undefined) await this.#options.endSession?.(capture, session).catch(() => undefined);
    }
  }

  #start(tabId: number): RunningCapture<C> {
    const { debuggers, features, start } = this.#options;
    const begin = async () => {
      const hold = await debuggers.hold(tabId, features);
      running.hold = hold;
      hold.lost.catch(() => this.#end(tabId, running));
      try {
        return await Promise.race([start(hold.session, tabId), hold.lost]);
      } catch (error) {
        await hold.release();
        throw error;
      }
    };
    // Store the capture in the map before begin runs, because begin reads the capture from the map.
    const ready = Promise.resolve().then(begin);
    const running: RunningCapture<C> = { ready, owners: new Set(), hold: undefined, timer: undefined };
    this.#running.set(tabId, running);
    return running;
  }

  #restartIdleTimer(tabId: number, running: RunningCapture<C>): void {
    clearTimeout(running.timer);
    if (this.#running.get(tabId) === running)
      running.timer = setTimeout(() => void this.#end(tabId, running), CaptureIdleMs);
  }

  async #end(tabId: number, running: RunningCapture<C>): Promise<void> {
    this.#forget(tabId, running);
    const capture = await running.ready.catch(() => undefined);
    if (capture !== undefined) await this.#options.stop?.(capture).catch(() => undefined);
    await running.hold?.release();
  }

  #forget(tabId: number, running: RunningCapture<C>): void {
    clearTimeout(running.timer);
    if (this.#running.get(tabId) === running) this.#running.delete(tabId);
  }
}

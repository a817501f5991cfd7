import type { DebuggerHold, DebuggerSession, Debuggers } from './debuggers.ts';
import type { DebuggerFeature } from './features.ts';

/** CaptureIdleMs is how long a capture continues after its last use by a tool, in milliseconds. */
export const CaptureIdleMs = 10 * 60_000;

export interface CapturesOptions<C> {
  readonly debuggers: Pick<Debuggers, 'hold'>;
  readonly features: readonly DebuggerFeature[];
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
  readonly ownerSessions: Set<string>;
  hold: DebuggerHold | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/**
 * DebuggerCaptures records events of tabs for longer than one call, such as network requests. A capture ends when its
 * last MCP session ends, when the tab closes, when the debugger is detached, or after 10 min without use.
 */
export class DebuggerCaptures<C> {
  readonly #options: CapturesOptions<C>;
  readonly #runningCaptures = new Map<number, RunningCapture<C>>();

  constructor(options: CapturesOptions<C>) {
    this.#options = options;
  }

  /** If no capture runs in the tab, the method `use` starts a new capture and returns isNew as true. */
  async use(tabId: number, session: string): Promise<{ readonly capture: C; readonly isNew: boolean }> {
    const existingCapture = this.#runningCaptures.get(tabId);
    const runningCapture = existingCapture ?? this.#start(tabId);
    if (this.#options.isExclusive) runningCapture.ownerSessions.clear();
    runningCapture.ownerSessions.add(session);
    return { capture: await this.#awaitReady(tabId, runningCapture), isNew: existingCapture === undefined };
  }

  async #awaitReady(tabId: number, runningCapture: RunningCapture<C>): Promise<C> {
    try {
      const capture = await runningCapture.ready;
      this.#restartIdleTimer(tabId, runningCapture);
      return capture;
    } catch (error) {
      this.#removeCapture(tabId, runningCapture);
      throw error;
    }
  }

  async find(tabId: number): Promise<C | undefined> {
    const runningCapture = this.#runningCaptures.get(tabId);
    return runningCapture && (await this.#awaitReady(tabId, runningCapture));
  }

  async end(tabId: number): Promise<void> {
    const runningCapture = this.#runningCaptures.get(tabId);
    if (runningCapture) await this.#end(tabId, runningCapture);
  }

  /** endSession stops the recordings that only the given MCP session has used. */
  async endSession(session: string): Promise<void> {
    for (const [tabId, runningCapture] of [...this.#runningCaptures]) {
      if (!runningCapture.ownerSessions.delete(session)) continue;
      if (runningCapture.ownerSessions.size === 0) {
        await this.#end(tabId, runningCapture);
        continue;
      }
      const capture = await runningCapture.ready.catch(() => undefined);
      if (capture !== undefined) await this.#options.endSession?.(capture, session).catch(() => undefined);
    }
  }

  #start(tabId: number): RunningCapture<C> {
    const { debuggers, features, start } = this.#options;
    const begin = async () => {
      const debuggerHold = await debuggers.hold(tabId, features);
      runningCapture.hold = debuggerHold;
      debuggerHold.detachedPromise.catch(() => this.#end(tabId, runningCapture));
      try {
        return await Promise.race([start(debuggerHold.session, tabId), debuggerHold.detachedPromise]);
      } catch (error) {
        await debuggerHold.release();
        throw error;
      }
    };
    // Store the capture in the map before begin runs, because begin reads the capture from the map.
    const readyPromise = Promise.resolve().then(begin);
    const runningCapture: RunningCapture<C> = {
      ready: readyPromise,
      ownerSessions: new Set(),
      hold: undefined,
      timer: undefined,
    };
    this.#runningCaptures.set(tabId, runningCapture);
    return runningCapture;
  }

  #restartIdleTimer(tabId: number, runningCapture: RunningCapture<C>): void {
    clearTimeout(runningCapture.timer);
    if (this.#runningCaptures.get(tabId) === runningCapture)
      runningCapture.timer = setTimeout(() => void this.#end(tabId, runningCapture), CaptureIdleMs);
  }

  async #end(tabId: number, runningCapture: RunningCapture<C>): Promise<void> {
    this.#removeCapture(tabId, runningCapture);
    const capture = await runningCapture.ready.catch(() => undefined);
    if (capture !== undefined) await this.#options.stop?.(capture).catch(() => undefined);
    await runningCapture.hold?.release();
  }

  #removeCapture(tabId: number, runningCapture: RunningCapture<C>): void {
    clearTimeout(runningCapture.timer);
    if (this.#runningCaptures.get(tabId) === runningCapture) this.#runningCaptures.delete(tabId);
  }
}

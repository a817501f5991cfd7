interface Timer {
  readonly id: number;
  dueMs: number;
  readonly intervalMs: number | undefined;
  readonly callback: () => void;
}

/** Returns the system time, even after the simulator has replaced the global Date. */
const readSystemTime = Date.now.bind(Date);

const virtualStartMs = Date.UTC(2026, 0, 1, 12);

/** A wait of five minutes takes no real time on the virtual clock, and timestamps are the same in every test run. */
export class Clock {
  #virtualNowMs = 0;
  #lastId = 0;
  #timers = new Map<number, Timer>();
  #systemStartMs: number | undefined;

  get now(): number {
    return this.#systemStartMs === undefined ? this.#virtualNowMs : readSystemTime() - this.#systemStartMs;
  }

  get date(): number {
    return this.#systemStartMs === undefined ? virtualStartMs + this.#virtualNowMs : readSystemTime();
  }

  /** While the clock follows system time, call `runNextTimer` only when `msUntilNextTimer` returns 0. */
  followSystemTime(): void {
    this.#systemStartMs = readSystemTime();
  }

  msUntilNextTimer(): number | undefined {
    let earliestMs: number | undefined;
    for (const { dueMs } of this.#timers.values()) earliestMs = Math.min(earliestMs ?? dueMs, dueMs);
    return earliestMs === undefined ? undefined : Math.max(earliestMs - this.now, 0);
  }

  setTimer(callback: () => void, delayMs: number, intervalMs?: number): number {
    const id = ++this.#lastId;
    this.#timers.set(id, {
      id,
      dueMs: this.now + clampMs(delayMs, 0),
      intervalMs: intervalMs && clampMs(intervalMs, 1),
      callback,
    });
    return id;
  }

  clearTimer(id: unknown): void {
    if (typeof id === 'number') this.#timers.delete(id);
  }

  runNextTimer(): boolean {
    let nextTimer: Timer | undefined;
    for (const timer of this.#timers.values()) if (!nextTimer || timer.dueMs < nextTimer.dueMs) nextTimer = timer;
    if (!nextTimer) return false;
    this.#virtualNowMs = Math.max(this.#virtualNowMs, nextTimer.dueMs);
    if (nextTimer.intervalMs === undefined) this.#timers.delete(nextTimer.id);
    else nextTimer.dueMs = this.now + nextTimer.intervalMs;
    nextTimer.callback();
    return true;
  }

  clearAllTimers(): void {
    this.#timers.clear();
  }
}

function clampMs(ms: number, minimum: number): number {
  return Number.isFinite(ms) ? Math.max(ms, minimum) : minimum;
}

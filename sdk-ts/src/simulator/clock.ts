/** A timer that is still due to run. */
interface Timer {
  readonly id: number;
  /** The time when the timer is due, in milliseconds since the clock started. */
  dueMs: number;
  /** The interval between two runs of the timer; undefined for a timer that runs once. */
  readonly intervalMs: number | undefined;
  readonly work: () => void;
}

/** Reads the system clock, even after the simulator has replaced Date. */
const systemNow = Date.now.bind(Date);

/** The virtual date at the start of every simulated page. */
const startDate = Date.UTC(2026, 0, 1, 12);

/**
 * A virtual clock, which stops while code can run and then jumps to the next timer. A wait of five minutes takes no
 * real time, and the times are the same in every run.
 */
export class Clock {
  #now = 0;
  #lastId = 0;
  #timers = new Map<number, Timer>();
  /** The system time at the call of `followSystem`; undefined for virtual time. */
  #systemStart: number | undefined;

  /** The time since the clock started, in milliseconds. */
  get now(): number {
    return this.#systemStart === undefined ? this.#now : systemNow() - this.#systemStart;
  }

  /** The date of this clock, in milliseconds since 1970. */
  get date(): number {
    return this.#systemStart === undefined ? startDate + this.#now : systemNow();
  }

  /** Switches to system time. With system time, call `runNextTimer` only when `msUntilNextTimer` returns 0. */
  followSystem(): void {
    this.#systemStart = systemNow();
  }

  /** Returns the time until the next timer is due, in milliseconds; undefined without a timer. */
  msUntilNextTimer(): number | undefined {
    let earliestMs: number | undefined;
    for (const { dueMs } of this.#timers.values()) earliestMs = Math.min(earliestMs ?? dueMs, dueMs);
    return earliestMs === undefined ? undefined : Math.max(earliestMs - this.now, 0);
  }

  /** Runs `work` after `delay` milliseconds, and then at each `interval` if given. Returns the timer's ID. */
  setTimer(work: () => void, delay: number, interval?: number): number {
    const id = ++this.#lastId;
    this.#timers.set(id, {
      id,
      dueMs: this.now + clampMs(delay, 0),
      intervalMs: interval && clampMs(interval, 1),
      work,
    });
    return id;
  }

  clearTimer(id: unknown): void {
    if (typeof id === 'number') this.#timers.delete(id);
  }

  /** Jumps to the timer that is due first and runs this timer. Returns false if there is no timer. */
  runNextTimer(): boolean {
    let nextTimer: Timer | undefined;
    for (const timer of this.#timers.values()) if (!nextTimer || timer.dueMs < nextTimer.dueMs) nextTimer = timer;
    if (!nextTimer) return false;
    this.#now = Math.max(this.#now, nextTimer.dueMs);
    if (nextTimer.intervalMs === undefined) this.#timers.delete(nextTimer.id);
    else nextTimer.dueMs = this.now + nextTimer.intervalMs;
    nextTimer.work();
    return true;
  }

  /** Removes all timers, because the page is closed. */
  clearAllTimers(): void {
    this.#timers.clear();
  }
}

function clampMs(ms: number, minimum: number): number {
  return Number.isFinite(ms) ? Math.max(ms, minimum) : minimum;
}

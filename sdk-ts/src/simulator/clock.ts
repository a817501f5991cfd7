/** A timer that is still due to run. */
interface Timer {
  readonly id: number;
  /** Due time, in milliseconds of this clock. */
  dueMs: number;
  /** Interval between two runs; undefined for a timer that runs once. */
  readonly intervalMs: number | undefined;
  readonly work: () => void;
}

/** Reads the system clock, even after the simulator has replaced Date. */
const systemNow = Date.now.bind(Date);

/** The date at which every simulated page starts. */
const startDate = Date.UTC(2026, 0, 1, 12);

/**
 * A virtual clock. The virtual clock stops while code can run, and then jumps to the next timer. A wait of five minutes
 * takes no real time, and every run has the same times.
 */
export class Clock {
  #now = 0;
  #lastId = 0;
  #timers = new Map<number, Timer>();
  /** System time when `followSystem` was called; undefined for virtual time. */
  #followedSince: number | undefined;

  /** Time since the clock started, in milliseconds. */
  get now(): number {
    return this.#followedSince === undefined ? this.#now : systemNow() - this.#followedSince;
  }

  /** Date of this clock, in milliseconds since 1970. */
  get date(): number {
    return this.#followedSince === undefined ? startDate + this.#now : systemNow();
  }

  /** Switches to system time. With system time, call `runNextTimer` only when `msUntilNextTimer` returns 0. */
  followSystem(): void {
    this.#followedSince = systemNow();
  }

  /** Returns the time until the next timer is due, in milliseconds; undefined without a timer. */
  msUntilNextTimer(): number | undefined {
    let first: number | undefined;
    for (const { dueMs } of this.#timers.values()) first = Math.min(first ?? dueMs, dueMs);
    return first === undefined ? undefined : Math.max(first - this.now, 0);
  }

  /** Runs `work` after `delay` milliseconds, and then at each interval `every` if given. Returns the timer's ID. */
  setTimer(work: () => void, delay: number, every?: number): number {
    const id = ++this.#lastId;
    this.#timers.set(id, { id, dueMs: this.now + clampMs(delay, 0), intervalMs: every && clampMs(every, 1), work });
    return id;
  }

  clearTimer(id: unknown): void {
    if (typeof id === 'number') this.#timers.delete(id);
  }

  /** Jumps to the timer that is due first and runs this timer. Returns false if there is no timer. */
  runNextTimer(): boolean {
    let first: Timer | undefined;
    for (const timer of this.#timers.values()) if (!first || timer.dueMs < first.dueMs) first = timer;
    if (!first) return false;
    this.#now = Math.max(this.#now, first.dueMs);
    if (first.intervalMs === undefined) this.#timers.delete(first.id);
    else first.dueMs = this.now + first.intervalMs;
    first.work();
    return true;
  }

  /** Removes all timers, when the page is closed. */
  clearAllTimers(): void {
    this.#timers.clear();
  }
}

function clampMs(ms: number, least: number): number {
  return Number.isFinite(ms) ? Math.max(ms, least) : least;
}

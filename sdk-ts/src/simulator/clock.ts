/** A timer that has been set. */
interface Timer {
  readonly id: number;
  /** When it is due, in milliseconds of the clock. */
  at: number;
  /** The time between two runs; undefined for one run. */
  readonly every: number | undefined;
  readonly work: () => void;
}

/** The clock of the machine, before anything is put in its place. */
const machine = Date.now.bind(Date);

/** The day on which every simulated page begins. */
const beginning = Date.UTC(2026, 0, 1, 12);

/**
 * A clock that stands still while something can run, and then goes on to the next timer at once. Five minutes of waiting
 * pass in no time, and always in the same way.
 */
export class Clock {
  #now = 0;
  #serial = 0;
  #timers = new Map<number, Timer>();
  /** When it began to follow the machine's clock, by that; undefined if it does not. */
  #since: number | undefined;

  /** now is how much time has passed, in milliseconds. */
  get now(): number {
    return this.#since === undefined ? this.#now : machine() - this.#since;
  }

  /** date is the time of day, in milliseconds since 1970. */
  get date(): number {
    return this.#since === undefined ? beginning + this.#now : machine();
  }

  /** Goes as the machine's clock from now on: `next` is to be called once `due` is 0. */
  follow(): void {
    this.#since = machine();
  }

  /** Returns how long it is until a timer is due, in milliseconds; undefined if there is none. */
  due(): number | undefined {
    let first: number | undefined;
    for (const { at } of this.#timers.values()) first = Math.min(first ?? at, at);
    return first === undefined ? undefined : Math.max(first - this.now, 0);
  }

  /** Has `work` run after `delay` milliseconds, and then each `every` if that is given. Returns the timer's number. */
  set(work: () => void, delay: number, every?: number): number {
    const id = ++this.#serial;
    this.#timers.set(id, { id, at: this.now + atLeast(delay, 0), every: every && atLeast(every, 1), work });
    return id;
  }

  clear(id: unknown): void {
    if (typeof id === 'number') this.#timers.delete(id);
  }

  /** Goes on to the timer that is due first and runs it. Returns false if there is none. */
  next(): boolean {
    let first: Timer | undefined;
    for (const timer of this.#timers.values()) if (!first || timer.at < first.at) first = timer;
    if (!first) return false;
    this.#now = Math.max(this.#now, first.at);
    if (first.every === undefined) this.#timers.delete(first.id);
    else first.at = this.now + first.every;
    first.work();
    return true;
  }

  /** Forgets all timers: the page they belong to is gone. */
  forget(): void {
    this.#timers.clear();
  }
}

function atLeast(ms: number, least: number): number {
  return Number.isFinite(ms) ? Math.max(ms, least) : least;
}

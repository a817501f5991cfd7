/** Chance that can be repeated: the same seed gives the same numbers. */

/** Random draws numbers. Each method draws once, so a plan stays the same as long as the order of draws does. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** next returns a number from 0 to below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** whole returns a whole number from low to high, both included. */
  whole(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** pick returns one key of a table of weights. */
  pick<K extends string>(weights: Readonly<Record<K, number>>): K {
    const rows = Object.entries<number>(weights);
    let at = this.next() * rows.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of rows) {
      at -= weight;
      if (at < 0 && isKey(weights, key)) return key;
    }
    throw new Error('a table of weights is empty');
  }
}

function isKey<K extends string>(table: Readonly<Record<K, number>>, key: string): key is K {
  return key in table;
}

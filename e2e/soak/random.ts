/** Generates repeatable pseudo-random numbers: the same seed yields the same numbers. */

/** Each method of SeededRandom consumes exactly one number of the pseudo-random sequence. */
export class SeededRandom {
  #generatorState: number;

  constructor(seed: number) {
    this.#generatorState = seed >>> 0;
  }

  /** nextFraction returns a pseudo-random number from 0 (inclusive) to 1 (exclusive), generated with mulberry32. */
  nextFraction(): number {
    this.#generatorState = (this.#generatorState + 0x6d2b79f5) >>> 0;
    let t = this.#generatorState;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  nextWholeNumber(low: number, high: number): number {
    return low + Math.floor(this.nextFraction() * (high - low + 1));
  }

  pickWeighted<K extends string>(weightByKey: Readonly<Record<K, number>>): K {
    const weightEntries = Object.entries<number>(weightByKey);
    let remainingWeight = this.nextFraction() * weightEntries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of weightEntries) {
      remainingWeight -= weight;
      if (remainingWeight < 0 && isKeyOf(weightByKey, key)) return key;
    }
    throw new Error('a table of weights is empty');
  }
}

function isKeyOf<K extends string>(table: Readonly<Record<K, number>>, key: string): key is K {
  return key in table;
}

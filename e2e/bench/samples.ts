/** Measures durations repeatedly and computes statistics such as the median. */

export interface Summary {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly samples: number;
}

/** The quantile of an empty list is NaN. */
export function computeQuantile(samples: readonly number[], q: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

export function computeMedian(samples: readonly number[]): number {
  return computeQuantile(samples, 0.5);
}

/** The p50 is the median of the blocks' medians, so one slow block does not change the p50. */
export function summarize(blocks: readonly (readonly number[])[]): Summary {
  const allSamples = blocks.flat();
  return {
    p50: computeMedian(blocks.map(computeMedian)),
    p99: computeQuantile(allSamples, 0.99),
    max: Math.max(...allSamples),
    samples: allSamples.length,
  };
}

/** Because the measurements alternate, other load on the machine affects all of them equally. */
export async function measureAlternately<K extends string>(
  roundCount: number,
  measurements: Readonly<Record<K, () => Promise<readonly number[]>>>,
): Promise<Map<string, Summary>> {
  const blocks = new Map<string, (readonly number[])[]>();
  for (let round = 0; round < roundCount; round++) {
    for (const [name, measure] of Object.entries<() => Promise<readonly number[]>>(measurements)) {
      const block = blocks.get(name) ?? [];
      blocks.set(name, block);
      block.push(await measure());
    }
  }
  return new Map([...blocks].map(([name, block]) => [name, summarize(block)]));
}

/** Measures durations repeatedly and computes statistics such as the median. */

export interface SampleSummary {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly samples: number;
}

/** The quantile of an empty list is NaN. */
export function computeQuantile(samples: readonly number[], quantile: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(quantile * sorted.length))] ?? Number.NaN;
}

export function computeMedian(samples: readonly number[]): number {
  return computeQuantile(samples, 0.5);
}

/** The p50 is the median of the blocks' medians, so one slow block does not change the p50. */
export function summarize(sampleBlocks: readonly (readonly number[])[]): SampleSummary {
  const allSamples = sampleBlocks.flat();
  return {
    p50: computeMedian(sampleBlocks.map(computeMedian)),
    p99: computeQuantile(allSamples, 0.99),
    max: Math.max(...allSamples),
    samples: allSamples.length,
  };
}

/** Because the measurements alternate, other load on the machine affects all of them equally. */
export async function measureAlternately<K extends string>(
  roundCount: number,
  measureFunctions: Readonly<Record<K, () => Promise<readonly number[]>>>,
): Promise<Map<string, SampleSummary>> {
  const sampleBlocks = new Map<string, (readonly number[])[]>();
  for (let roundIndex = 0; roundIndex < roundCount; roundIndex++) {
    for (const [name, measure] of Object.entries<() => Promise<readonly number[]>>(measureFunctions)) {
      const block = sampleBlocks.get(name) ?? [];
      sampleBlocks.set(name, block);
      block.push(await measure());
    }
  }
  return new Map([...sampleBlocks].map(([name, block]) => [name, summarize(block)]));
}

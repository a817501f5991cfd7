import { defineTool, type ProgressOptions, sleep } from '@opentabs/sdk';
import { z } from 'zod';

/** Maps texts to the numbers that JSON cannot express, such as NaN. */
const specialNumbers: ReadonlyMap<unknown, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);

/** Converts a report from JSON. Malformed reports stay unchanged. */
function toReport(input: Record<string, unknown>): ProgressOptions {
  const entries = Object.entries(input).map(([key, value]) => [key, specialNumbers.get(value) ?? value]);
  return Object.fromEntries(entries);
}

export const reportsTool = defineTool({
  name: 'reports',
  description: 'Sends the given reports unchanged, and then many reports in one loop. For tests.',
  icon: 'flask-conical',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.object({
    reports: z
      .array(z.record(z.string(), z.unknown()))
      .default([])
      .describe('The reports. The texts "NaN", "Infinity" and "-Infinity" mean numbers'),
    loop: z.number().int().min(0).max(1_000_000).default(0).describe('How many reports to send in one loop'),
    everyMs: z.number().min(0).optional().describe('The time between two of the reports, in milliseconds'),
  }),
  output: z.object({
    made: z.number().int().describe('How many reports were sent'),
    threw: z.number().int().describe('How many of the reports threw an error'),
    blockedMs: z.number().describe('How long the loop took, in milliseconds'),
  }),

  async handle({ reports: givenReports, loop, everyMs }, context) {
    let madeCount = 0;
    let threwCount = 0;
    const report = (options: ProgressOptions) => {
      madeCount++;
      try {
        context?.reportProgress(options);
      } catch {
        threwCount++;
      }
    };
    for (const raw of givenReports) {
      if (everyMs !== undefined && madeCount > 0) await sleep(everyMs, { signal: context?.signal });
      report(toReport(raw));
    }
    const startedAt = performance.now();
    for (let reportNumber = 1; reportNumber <= loop; reportNumber++) report({ progress: reportNumber, total: loop });
    return { made: madeCount, threw: threwCount, blockedMs: performance.now() - startedAt };
  },
});

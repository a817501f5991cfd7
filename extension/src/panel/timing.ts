// Converts the phases of a call, with their start and duration, to rows with texts and bars.

import type { CallPhase } from '../../../wire/wire.gen.ts';
import { formatRunTime, removeHiddenCharacters } from './wording.ts';

/** MinBarFraction is the minimum width of a bar as a fraction of the total, so that short phases remain visible. */
const MinBarFraction = 0.01;

/** The fields `barStart` and `end` are fractions of the call's total time, from 0 to 1. */
export interface TimingRow {
  readonly name: string;
  readonly startText: string;
  readonly durationText: string;
  readonly barStart: number;
  readonly end: number;
}

export function makeTimingRows(callPhases: readonly CallPhase[]): readonly TimingRow[] {
  const totalMs = sumPhases(callPhases);
  return callPhases.map(({ name, startMs, ms }) => {
    const barFraction = totalMs > 0 ? Math.min(1, Math.max(MinBarFraction, ms / totalMs)) : 1;
    const barStart = totalMs > 0 ? Math.min(startMs / totalMs, 1 - barFraction) : 0;
    return {
      name: removeHiddenCharacters(name),
      startText: formatPhase(startMs),
      durationText: formatPhase(ms),
      barStart,
      end: barStart + barFraction,
    };
  });
}

/** sumPhases returns the time from the arrival of a call to the end of its last phase, in milliseconds. */
export function sumPhases(callPhases: readonly CallPhase[]): number {
  return Math.max(0, ...callPhases.map(({ startMs, ms }) => startMs + ms));
}

/** formatPhase returns a duration in milliseconds with at least two digits, such as "0.2 ms", "40 ms" or "1.2 s". */
export function formatPhase(ms: number): string {
  if (ms <= 0) return '0 ms';
  if (ms < 0.05) return '<0.1 ms';
  return ms < 9.95 ? `${ms.toFixed(1)} ms` : formatRunTime(ms);
}

import { computeMedian, computeQuantile, type SampleSummary } from './samples.ts';

export interface BenchRow {
  /** `id` is the name by which the environment variable ROWS selects the row, such as "echo". */
  readonly id: string;
  /** `what` describes the measured value and the method of measurement. */
  readonly what: string;
  /**
   * `ours` is the measured value of opentabs, and `floor` the value of a reference implementation, as text with a unit.
   */
  readonly ours: string;
  readonly floor?: string;
  /** `value` is the measured number that is compared with the row's threshold. */
  readonly value?: number;
  readonly threshold?: Threshold;
  readonly note?: string;
  /** `broken` describes a violated requirement, other than the threshold, and makes the verdict "MISSED". */
  readonly broken?: string;
}

/** Threshold is the limit of a benchmark row, such as at most 1.5 times the reference value. */
export interface Threshold {
  readonly kind: 'atMost' | 'atLeast';
  readonly limit: number;
  readonly unit: string;
}

export const makeUpperThreshold = (thresholdLimit: number, unit: string): Threshold => ({
  kind: 'atMost',
  limit: thresholdLimit,
  unit,
});
export const makeLowerThreshold = (thresholdLimit: number, unit: string): Threshold => ({
  kind: 'atLeast',
  limit: thresholdLimit,
  unit,
});

/**
 * computeVerdict returns "ok" or "MISSED" for a benchmark row, or "" for a row without a threshold. A row whose value
 * could not be computed is "MISSED" even without a threshold.
 */
export function computeVerdict(benchRow: BenchRow): 'ok' | 'MISSED' | '' {
  if (benchRow.broken !== undefined || Number.isNaN(benchRow.value)) return 'MISSED';
  if (benchRow.threshold === undefined) return '';
  const { value = Number.NaN, threshold: bar } = benchRow;
  return (bar.kind === 'atMost' ? value <= bar.limit : value >= bar.limit) ? 'ok' : 'MISSED';
}

/** formatMs formats a duration in milliseconds as text such as "250 us", "3.14 ms" or "120 ms". */
export function formatMs(value: number): string {
  if (value < 1) return `${Math.round(value * 1000)} us`;
  return value < 100 ? `${value.toFixed(2)} ms` : `${Math.round(value)} ms`;
}

export function formatSummary(sampleSummary: SampleSummary): string {
  return `${formatMs(sampleSummary.p50)} (p99 ${formatMs(sampleSummary.p99)}, n ${sampleSummary.samples})`;
}

export function formatTimes(times: readonly number[]): string {
  return `${formatMs(computeMedian(times))} (max ${formatMs(computeQuantile(times, 1))}, n ${times.length})`;
}

/** formatMegabytes formats a number of bytes as text such as "1.2 MB". */
export function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

export function formatTable(benchRows: readonly BenchRow[]): string {
  const cells = benchRows.map((benchRow) => [
    benchRow.id,
    benchRow.what,
    benchRow.ours,
    benchRow.floor ?? '',
    benchRow.value === undefined ? '' : formatValue(benchRow.value, benchRow.threshold?.unit ?? 'x'),
    benchRow.threshold
      ? `${benchRow.threshold.kind === 'atMost' ? '<=' : '>='} ${benchRow.threshold.limit} ${benchRow.threshold.unit}`
      : '',
    computeVerdict(benchRow),
  ]);
  const allLines = [['row', 'what', 'measured', 'floor', 'value', 'bar', ''], ...cells];
  const columnWidths = allLines[0]?.map((_, i) => Math.max(...allLines.map((line) => line[i]?.length ?? 0))) ?? [];
  const tableLines = allLines.map((line) =>
    line
      .map((cell, i) => cell.padEnd(columnWidths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const rowNotes = benchRows.flatMap((benchRow) =>
    [benchRow.broken, benchRow.note].flatMap((rowText) => (rowText ? [`${benchRow.id}: ${rowText}`] : [])),
  );
  return [...tableLines, ...(rowNotes.length > 0 ? ['', ...rowNotes] : [])].join('\n');
}

function formatValue(value: number, unit: string): string {
  const digits = Math.abs(value) >= 100 ? 0 : 2;
  return `${value.toFixed(digits)} ${unit}`;
}

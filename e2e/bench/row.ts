import { median, quantile, type Summary } from './samples.ts';

/** Row is one line of the table with the measurements. */
export interface Row {
  /** The name of the row in the environment variable ROWS. Several rows of the table may have the same name. */
  readonly id: string;
  /** The measured values and the method of measurement. */
  readonly what: string;
  /** The values measured for opentabs and for the floor, as text with a unit. */
  readonly ours: string;
  readonly floor?: string;
  /** The number that is compared with the limit `bar`. Without a limit, the number is only reported. */
  readonly value?: number;
  readonly threshold?: Threshold;
  /** Further information for the reader, such as a failure. */
  readonly note?: string;
  /** A condition, other than the bar, that the measurement did not meet. */
  readonly broken?: string;
}

/** Threshold is a limit for the value of a row, such as "atMost 1.5 x". */
export interface Threshold {
  readonly kind: 'atMost' | 'atLeast';
  readonly limit: number;
  readonly unit: string;
}

export const atMost = (limit: number, unit: string): Threshold => ({ kind: 'atMost', limit, unit });
export const atLeast = (limit: number, unit: string): Threshold => ({ kind: 'atLeast', limit, unit });

/** verdictOf returns "ok" or "MISSED", or "" for a row without a bar. */
export function verdictOf(row: Row): 'ok' | 'MISSED' | '' {
  if (row.broken !== undefined) return 'MISSED';
  if (row.threshold === undefined) return '';
  const { value = Number.NaN, threshold: bar } = row;
  return (bar.kind === 'atMost' ? value <= bar.limit : value >= bar.limit) ? 'ok' : 'MISSED';
}

/** formatMs formats a time in milliseconds. */
export function formatMs(value: number): string {
  if (value < 1) return `${Math.round(value * 1000)} us`;
  return value < 100 ? `${value.toFixed(2)} ms` : `${Math.round(value)} ms`;
}

/** formatSummary formats the summary of many samples. */
export function formatSummary(s: Summary): string {
  return `${formatMs(s.p50)} (p99 ${formatMs(s.p99)}, n ${s.samples})`;
}

/** formatTimes returns the median, the longest and the number of a few times. */
export function formatTimes(times: readonly number[]): string {
  return `${formatMs(median(times))} (max ${formatMs(quantile(times, 1))}, n ${times.length})`;
}

/** formatMegabytes formats a number of bytes as megabytes. */
export function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** formatTable formats rows as aligned lines. */
export function formatTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.id,
    row.what,
    row.ours,
    row.floor ?? '',
    row.value === undefined ? '' : formatValue(row.value, row.threshold?.unit ?? 'x'),
    row.threshold
      ? `${row.threshold.kind === 'atMost' ? '<=' : '>='} ${row.threshold.limit} ${row.threshold.unit}`
      : '',
    verdictOf(row),
  ]);
  const allLines = [['row', 'what', 'measured', 'floor', 'value', 'bar', ''], ...cells];
  const widths = allLines[0]?.map((_, i) => Math.max(...allLines.map((line) => line[i]?.length ?? 0))) ?? [];
  const lines = allLines.map((line) =>
    line
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const notes = rows.flatMap((row) => [row.broken, row.note].flatMap((text) => (text ? [`${row.id}: ${text}`] : [])));
  return [...lines, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n');
}

function formatValue(value: number, unit: string): string {
  const digits = Math.abs(value) >= 100 ? 0 : 2;
  return `${value.toFixed(digits)} ${unit}`;
}

import { median, quantile, type Summary } from './samples.ts';

/** Row is one line of the table. */
export interface Row {
  /** Id is the name for ROWS=; several rows may have the same id. */
  readonly id: string;
  /** The measured values, and how they were measured. */
  readonly what: string;
  /** Ours and floor are the measured values, as text with a unit. */
  readonly ours: string;
  readonly floor?: string;
  /** Value is compared with bar, its upper or lower limit. Without a bar, the value is only reported. */
  readonly value?: number;
  readonly bar?: Bar;
  /** Note has further information for the reader, such as a failure. */
  readonly note?: string;
  /** Broken reports that a condition other than the number failed. */
  readonly broken?: string;
}

/** Bar is a limit: "atMost 1.5 x". */
export interface Bar {
  readonly kind: 'atMost' | 'atLeast';
  readonly limit: number;
  readonly unit: string;
}

export const atMost = (limit: number, unit: string): Bar => ({ kind: 'atMost', limit, unit });
export const atLeast = (limit: number, unit: string): Bar => ({ kind: 'atLeast', limit, unit });

/** verdict is "ok", "MISSED", or "" for a line without a bar. */
export function verdict(row: Row): 'ok' | 'MISSED' | '' {
  if (row.broken !== undefined) return 'MISSED';
  if (row.bar === undefined) return '';
  const { value = Number.NaN, bar } = row;
  return (bar.kind === 'atMost' ? value <= bar.limit : value >= bar.limit) ? 'ok' : 'MISSED';
}

/** ms formats a time. */
export function ms(value: number): string {
  if (value < 1) return `${Math.round(value * 1000)} us`;
  return value < 100 ? `${value.toFixed(2)} ms` : `${Math.round(value)} ms`;
}

/** formatSummary formats the summary of many samples. */
export function formatSummary(s: Summary): string {
  return `${ms(s.p50)} (p99 ${ms(s.p99)}, n ${s.samples})`;
}

/** formatTimes returns the median of a few times, the longest, and how many there are. */
export function formatTimes(times: readonly number[]): string {
  return `${ms(median(times))} (max ${ms(quantile(times, 1))}, n ${times.length})`;
}

/** mb formats a number of bytes as megabytes. */
export function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** table spells rows as aligned lines. */
export function table(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.id,
    row.what,
    row.ours,
    row.floor ?? '',
    row.value === undefined ? '' : spell(row.value, row.bar?.unit ?? 'x'),
    row.bar ? `${row.bar.kind === 'atMost' ? '<=' : '>='} ${row.bar.limit} ${row.bar.unit}` : '',
    verdict(row),
  ]);
  const all = [['row', 'what', 'measured', 'floor', 'value', 'bar', ''], ...cells];
  const widths = all[0]?.map((_, i) => Math.max(...all.map((line) => line[i]?.length ?? 0))) ?? [];
  const lines = all.map((line) =>
    line
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const notes = rows.flatMap((row) => [row.broken, row.note].flatMap((text) => (text ? [`${row.id}: ${text}`] : [])));
  return [...lines, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n');
}

function spell(value: number, unit: string): string {
  const digits = Math.abs(value) >= 100 ? 0 : 2;
  return `${value.toFixed(digits)} ${unit}`;
}

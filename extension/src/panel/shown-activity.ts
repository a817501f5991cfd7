// Converts the content of an activity to text, code or a table, depending on its type. If the content does not have the
// form that its type requires, the panel shows the content as JSON.

import type { ActivityView } from '../../../wire/wire.gen.ts';
import { isRecord } from '../record.ts';
import { escapeHidden, indentJson } from './json-text.ts';

export const MaxTableRows = 100;
export const MaxColumns = 12;
/** MaxCellChars is the maximum length of the text in a table cell, in UTF-16 code units. */
const MaxCellChars = 300;

export type ShownActivity =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string; readonly language: string }
  | ShownTable
  | { readonly kind: 'json'; readonly text: string }
  /** The variant 'large' means that the server did not send the content, because it is too large for the panel. */
  | { readonly kind: 'large'; readonly bytes: number };

export interface ShownTable {
  readonly kind: 'table';
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly omittedRowCount: number;
  readonly omittedColumnCount: number;
}

export function toShownActivity({ type, content, bytes }: ActivityView): ShownActivity {
  if (content === undefined || content === '') return { kind: 'large', bytes };
  const value = parseJson(content);
  return parseKnownActivity(type, value) ?? { kind: 'json', text: indentJson(content) };
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

function parseKnownActivity(type: string, value: unknown): ShownActivity | undefined {
  switch (type) {
    case 'text': {
      const shownText = isRecord(value) ? value.text : value;
      return typeof shownText === 'string'
        ? { kind: 'text', text: escapeHidden(normalizeWhitespace(shownText)) }
        : undefined;
    }
    case 'code': {
      const code = isRecord(value) ? value.code : value;
      const language = isRecord(value) && typeof value.language === 'string' ? value.language : '';
      return typeof code === 'string'
        ? { kind: 'code', text: escapeHidden(normalizeWhitespace(code)), language: escapeHidden(language) }
        : undefined;
    }
    case 'table':
      return readTable(value);
    default:
      return undefined;
  }
}

function normalizeWhitespace(shownText: string): string {
  return shownText.replace(/\r\n?/g, '\n').replace(/\t/g, '    ');
}

/** readTable converts an array of objects, or an object with `columns` and `rows`, to a table. */
export function readTable(value: unknown): ShownTable | undefined {
  const tableRows: unknown = isRecord(value) ? value.rows : value;
  if (!Array.isArray(tableRows)) return undefined;
  const columnNames = isRecord(value) ? value.columns : undefined;
  const columns = columnNames === undefined ? listColumns(tableRows) : readColumns(columnNames);
  if (!columns) return undefined;
  const visibleColumns = columns.slice(0, MaxColumns);
  const cells: string[][] = [];
  for (const tableRow of tableRows.slice(0, MaxTableRows)) {
    if (Array.isArray(tableRow)) cells.push(visibleColumns.map((_, i) => formatCell(tableRow[i])));
    else if (isRecord(tableRow))
      cells.push(visibleColumns.map((name) => formatCell(Object.hasOwn(tableRow, name) ? tableRow[name] : undefined)));
    else return undefined;
  }
  return {
    kind: 'table',
    columns: visibleColumns.map((name) => escapeHidden(name)),
    rows: cells,
    omittedRowCount: Math.max(0, tableRows.length - MaxTableRows),
    omittedColumnCount: columns.length - visibleColumns.length,
  };
}

function readColumns(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.every((name) => typeof name === 'string') ? value : undefined;
}

/** listColumns returns the keys of all visible rows as column names, in order of first use. */
function listColumns(tableRows: readonly unknown[]): string[] | undefined {
  const names = new Set<string>();
  for (const tableRow of tableRows.slice(0, MaxTableRows)) {
    if (!isRecord(tableRow) || Array.isArray(tableRow)) return undefined;
    for (const name of Object.keys(tableRow)) names.add(name);
  }
  return names.size > 0 ? [...names] : undefined;
}

function formatCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  const shownText = typeof value === 'string' ? value : JSON.stringify(value);
  return escapeHidden(shownText.length > MaxCellChars ? `${shownText.slice(0, MaxCellChars)}…` : shownText);
}

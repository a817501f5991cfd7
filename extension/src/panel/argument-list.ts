// Splits the arguments of a call into the rows of a list. The user must see exactly the arguments that the client sent,
// so duplicate names get several rows, and numbers keep all their digits.

import { escapeHidden, indentJson, splitTokens } from './json-text.ts';

const MaxInlineChars = 240;
const MaxInlineLines = 6;

export interface ArgumentRow {
  readonly name: string;
  /**
   * The field `text` is the content of a string argument, or the JSON of any other argument. Hidden characters in the
   * text are shown as escapes, such as \u200b.
   */
  readonly text: string;
  /** isCode is true if the argument is not a string. */
  readonly isCode: boolean;
}

/**
 * listArguments splits a JSON object, which may be truncated, into its members. For JSON that is not an object, such as
 * an array, listArguments returns undefined.
 */
export function listArguments(json: string): ArgumentRow[] | undefined {
  const tokens = splitTokens(json);
  if (tokens[0] !== '{') return undefined;
  const argumentRows: ArgumentRow[] = [];
  let memberTokens: string[] = [];
  let depth = 0;
  const finishMember = () => {
    const [name, separator, ...value] = memberTokens;
    if (name !== undefined && separator === ':') argumentRows.push(makeArgumentRow(name, value));
    memberTokens = [];
  };
  for (const token of tokens.slice(1)) {
    if (depth === 0 && (token === ',' || token === '}')) {
      finishMember();
      continue;
    }
    if (token === '{' || token === '[') depth++;
    if (token === '}' || token === ']') depth--;
    memberTokens.push(token);
  }
  finishMember();
  return argumentRows;
}

function makeArgumentRow(name: string, value: readonly string[]): ArgumentRow {
  const [firstLine = ''] = value;
  const stringValue = value.length === 1 ? readString(firstLine) : undefined;
  return {
    name: escapeHidden(readString(name) ?? name),
    text: stringValue === undefined ? indentJson(value.join(' ')) : escapeHidden(stringValue),
    isCode: stringValue === undefined,
  };
}

function readString(token: string): string | undefined {
  try {
    const value: unknown = JSON.parse(token);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return token.startsWith('"') ? token : undefined; // the token is a truncated JSON string
  }
}

export function needsOwnBlock(stringValue: string): boolean {
  return stringValue.length > MaxInlineChars || stringValue.split('\n').length > MaxInlineLines;
}

/** summarizeArguments returns the arguments of a call on one line, or undefined if the line would exceed maxLength. */
export function summarizeArguments(json: string, maxLength: number): string | undefined {
  if (json.length > 4 * maxLength) return undefined;
  const argumentRows = listArguments(json) ?? [];
  const line = argumentRows
    .map(({ name, text: stringValue }) => `${name}: ${stringValue.replace(/\s+/gu, ' ')}`)
    .join(', ');
  return line.length > maxLength ? undefined : line;
}

// Formats JSON text for display. The user must see exactly the arguments that the client sent. Parsing and reprinting
// JSON would round large numbers and drop duplicate members, so the text is only reformatted. The panel shows hidden
// characters as escape sequences.

import { replaceHiddenCharacters } from './plain-text.ts';

/**
 * MaxIndentLevels is the deepest indented level of formatted JSON. Without a limit of the indentation, 8,000 nested
 * brackets would become 128 MB of spaces.
 */
const MaxIndentLevels = 32;

/**
 * indentJson formats JSON text with one line per member and item. indentJson keeps all digits of numbers and duplicate
 * members of objects.
 */
export function indentJson(jsonText: string): string {
  const jsonPieces: string[] = [];
  let depth = 0;
  const breakLine = () => jsonPieces.push('\n', '  '.repeat(Math.min(depth, MaxIndentLevels)));
  const tokens = splitTokens(jsonText);
  for (const [i, token] of tokens.entries()) {
    const nextToken = tokens[i + 1];
    if (token === '{' || token === '[') {
      jsonPieces.push(token);
      depth++;
      if (nextToken !== undefined && nextToken !== '}' && nextToken !== ']') breakLine();
    } else if (token === '}' || token === ']') {
      depth = Math.max(0, depth - 1);
      const previousToken = tokens[i - 1];
      if (previousToken !== '{' && previousToken !== '[') breakLine();
      jsonPieces.push(token);
    } else if (token === ',') {
      jsonPieces.push(token);
      breakLine();
    } else if (token === ':') {
      jsonPieces.push(': ');
    } else {
      jsonPieces.push(token.startsWith('"') ? decodeLetterEscapes(token) : token);
    }
  }
  return escapeHidden(jsonPieces.join(''));
}

/** TokenPattern matches one JSON token: a bracket, comma, colon, string (even if truncated), number or keyword. */
const TokenPattern = /[{}[\],:]|"(?:[^"\\]|\\.)*(?:"|\\?$)|[^\s{}[\],:"]+/gsu;

export function splitTokens(jsonText: string): readonly string[] {
  return jsonText.match(TokenPattern) ?? [];
}

/** decodeLetterEscapes replaces unnecessary escapes in a JSON string, such as `\u0041`, with the letter itself. */
function decodeLetterEscapes(token: string): string {
  try {
    return JSON.stringify(JSON.parse(token));
  } catch {
    return token;
  }
}

/** escapeHidden replaces hidden characters with JSON escapes. */
export function escapeHidden(jsonText: string): string {
  return replaceHiddenCharacters(jsonText, escapeCharacter).replaceAll('\t', escapeCharacter('\t'));
}

function escapeCharacter(character: string): string {
  const codeUnits = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
  return codeUnits.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

// JSON text for people to read. What a person allows must be what is sent, so numbers and members are not read and
// written anew, and what is not shown itself stands as an escape.

import { replaceHidden } from './plain-text.ts';

/** MaxIndent is up to how many levels are indented: 8,000 brackets in each other would be drawn as 128 MB of spaces. */
const MaxIndent = 32;

/**
 * indentJson writes JSON text with a line for each member and item. Numbers keep all their digits and members that stand
 * twice stay twice. Text that was cut is written as far as it goes.
 */
export function indentJson(text: string): string {
  const out: string[] = [];
  let depth = 0;
  const line = () => out.push('\n', '  '.repeat(Math.min(depth, MaxIndent)));
  const tokens = text.match(Token) ?? [];
  for (const [i, token] of tokens.entries()) {
    const next = tokens[i + 1];
    if (token === '{' || token === '[') {
      out.push(token);
      depth++;
      if (next !== undefined && next !== '}' && next !== ']') line();
    } else if (token === '}' || token === ']') {
      depth = Math.max(0, depth - 1);
      const before = tokens[i - 1];
      if (before !== '{' && before !== '[') line();
      out.push(token);
    } else if (token === ',') {
      out.push(token);
      line();
    } else if (token === ':') {
      out.push(': ');
    } else {
      out.push(token.startsWith('"') ? readable(token) : token);
    }
  }
  return visible(out.join(''));
}

/** Token is a bracket, a comma, a colon, a text (also one that was cut), or a number or word. */
const Token = /[{}[\],:]|"(?:[^"\\]|\\.)*(?:"|\\?$)|[^\s{}[\],:"]+/gsu;

/** readable writes letters of a JSON text as letters that were escaped without need. */
function readable(token: string): string {
  try {
    return JSON.stringify(JSON.parse(token));
  } catch {
    return token;
  }
}

/** visible writes characters as escapes that are not seen themselves or change how the text around them looks. */
export function visible(text: string): string {
  return replaceHidden(text, escaped).replaceAll('\t', escaped('\t'));
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

// Formats the arguments of a call on one line, and builds the command line that repeats a call.

import type { CallView } from '../../../wire/wire.gen.ts';
import { isRecord } from '../record.ts';
import { escapeHidden } from './json-text.ts';
import { isBrowserTool } from './wording.ts';

/** MaskedTextSign replaces text that a browser tool typed into a page, because the text may be a password. */
const MaskedTextSign = '•••';

export function formatArguments(args: string | undefined): string {
  if (args === undefined || args === '{}') return '';
  const value = parseObject(args);
  if (!value) return escapeHidden(args.replace(/^\{\s*/, '').replace(/\s+/g, ' '));
  const argumentTexts = Object.entries(value).map(
    ([name, part]) => `${name}: ${typeof part === 'string' ? part : JSON.stringify(part)}`,
  );
  return escapeHidden(argumentTexts.join(', ').replace(/\s+/g, ' '));
}

/** isCompleteArguments reports whether args is the complete JSON that the client sent, neither masked nor truncated. */
export function isCompleteArguments(args: string | undefined): args is string {
  return args !== undefined && !args.includes(MaskedTextSign) && parseObject(args) !== undefined;
}

/**
 * makeRepeatCommand returns the opentabs command line that repeats a call in a POSIX shell, or undefined for a prompt.
 */
export function makeRepeatCommand({ plugin, tool, prompt }: CallView, args: string): string | undefined {
  if (prompt) return undefined;
  const name = isBrowserTool({ plugin }) ? tool : `${plugin}__${tool}`;
  const input = args === '{}' ? '' : ` --input ${quoteForShell(args)}`;
  return `opentabs call ${name}${input}`;
}

/** quoteForShell quotes a text so that a POSIX shell passes it to the command unchanged. */
function quoteForShell(commandText: string): string {
  return `'${commandText.replaceAll("'", `'\\''`)}'`;
}

function parseObject(jsonText: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(jsonText);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

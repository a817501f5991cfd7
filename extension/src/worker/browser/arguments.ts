// Reads the arguments of browser tools. The server has validated the arguments against the schema of the tool, so an
// error here means that server and extension have different versions.

import type { Fields } from '../../record.ts';
import { callFailure, type ToolFailure } from './tool-failure.ts';

/** readText returns a text argument, or undefined if the argument is absent. */
export function readText(args: Fields, key: string): string | undefined {
  const value = args[key];
  if (value === undefined || typeof value === 'string') return value;
  throw invalid(key, 'a string');
}

/** requireText returns a text argument that must be present. */
export function requireText(args: Fields, key: string): string {
  const value = readText(args, key);
  if (value === undefined) throw invalid(key, 'a string');
  return value;
}

/** readNumber returns a number argument of at least 0, or undefined if the argument is absent. */
export function readNumber(args: Fields, key: string): number | undefined {
  const value = args[key];
  if (value === undefined || (typeof value === 'number' && Number.isFinite(value) && value >= 0)) return value;
  throw invalid(key, 'a number of at least 0');
}

/** readFlag returns a boolean argument; false if the argument is absent. */
export function readFlag(args: Fields, key: string): boolean {
  const value = args[key];
  if (value === undefined || typeof value === 'boolean') return value === true;
  throw invalid(key, 'true or false');
}

/** readChoice returns an argument that is one of the given texts, or undefined if the argument is absent. */
export function readChoice<T extends string>(args: Fields, key: string, choices: readonly T[]): T | undefined {
  const value = args[key];
  if (value === undefined) return undefined;
  const choice = choices.find((text) => text === value);
  if (choice === undefined) throw invalid(key, `one of ${choices.join(', ')}`);
  return choice;
}

/** readTexts returns an argument that is a list of texts, or undefined if the argument is absent. */
export function readTexts(args: Fields, key: string): readonly string[] | undefined {
  const value = args[key];
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw invalid(key, 'a list of strings');
  return value.map((item: unknown) => {
    if (typeof item !== 'string') throw invalid(key, 'a list of strings');
    return item;
  });
}

function invalid(key: string, allowed: string): ToolFailure {
  return callFailure('invalid_arguments', `the argument ${key} must be ${allowed}`);
}

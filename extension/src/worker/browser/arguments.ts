// arguments.ts reads and checks the arguments of a browser tool's call. The server has already validated the arguments,
// so an error means that the server and the extension have different versions.

import type { Fields } from '../../record.ts';
import { makeCallFailure, type ToolFailure } from './tool-failure.ts';

export function readText(args: Fields, key: string): string | undefined {
  const value = args[key];
  if (value === undefined || typeof value === 'string') return value;
  throw makeInvalidArgumentFailure(key, 'a string');
}

export function requireText(args: Fields, key: string): string {
  const value = readText(args, key);
  if (value === undefined) throw makeInvalidArgumentFailure(key, 'a string');
  return value;
}

/** readNumber returns a number argument, and throws if the number is negative. */
export function readNumber(args: Fields, key: string): number | undefined {
  const value = args[key];
  if (value === undefined || (typeof value === 'number' && Number.isFinite(value) && value >= 0)) return value;
  throw makeInvalidArgumentFailure(key, 'a number of at least 0');
}

export function readFlag(args: Fields, key: string): boolean {
  const value = args[key];
  if (value === undefined || typeof value === 'boolean') return value === true;
  throw makeInvalidArgumentFailure(key, 'true or false');
}

export function readChoice<T extends string>(args: Fields, key: string, choices: readonly T[]): T | undefined {
  const value = args[key];
  if (value === undefined) return undefined;
  const choice = choices.find((allowedChoice) => allowedChoice === value);
  if (choice === undefined) throw makeInvalidArgumentFailure(key, `one of ${choices.join(', ')}`);
  return choice;
}

export function readTexts(args: Fields, key: string): readonly string[] | undefined {
  const value = args[key];
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw makeInvalidArgumentFailure(key, 'a list of strings');
  return value.map((listItem: unknown) => {
    if (typeof listItem !== 'string') throw makeInvalidArgumentFailure(key, 'a list of strings');
    return listItem;
  });
}

function makeInvalidArgumentFailure(key: string, allowedValuesText: string): ToolFailure {
  return makeCallFailure('invalid_arguments', `the argument ${key} must be ${allowedValuesText}`);
}

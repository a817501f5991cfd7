// Matches regular expressions in linear time, so that no pattern of an agent can block the page.
//
// The matcher tracks the set of all possible states at once, as in Thompson's construction, instead of backtracking.
// Look-around and back-references cannot be matched in this way, and are rejected.
import { PageFailure } from './failure.ts';

/** LinearRegex is a compiled regular expression, which matches anywhere in a text and ignores case. */
export interface LinearRegex {
  test(text: string): boolean;
}

type CharacterTest = (character: string) => boolean;

/**
 * Instruction is one step of a compiled pattern. The fields a, b and to of an instruction are indices of other
 * instructions.
 */
type Instruction =
  | { readonly kind: 'character'; readonly matches: CharacterTest }
  | { readonly kind: 'split'; a: number; b: number }
  | { readonly kind: 'jump'; to: number }
  | { readonly kind: 'assert'; readonly what: 'start' | 'end' | 'boundary' | 'inside' }
  | { readonly kind: 'match' };

const MaxPattern = 300;
const MaxProgram = 5_000;
const MaxText = 20_000;

/**
 * compileRegex compiles a regular expression. For an invalid pattern, compileRegex throws invalid_arguments with the
 * reason.
 */
export function compileRegex(pattern: string): LinearRegex {
  if (pattern.length > MaxPattern) throw fail(pattern, `it has more than ${MaxPattern} characters`);
  try {
    new RegExp(pattern, 'iu');
  } catch {
    throw fail(pattern, 'it is not a valid regular expression');
  }
  const program = new Compiler(pattern).compile();
  return { test: (text) => runProgram(program, text.slice(0, MaxText)) };
}

function fail(pattern: string, why: string): PageFailure {
  const shown = pattern.length > 80 ? `${pattern.slice(0, 80)}…` : pattern;
  return new PageFailure(
    'invalid_arguments',
    `The regular expression "${shown}" cannot be used: ${why}. Use text instead, or simplify the pattern.`,
  );
}

/** Compiler translates a valid regular expression to a list of instructions. */
class Compiler {
  readonly #pattern: readonly string[];
  readonly #source: string;
  readonly #program: Instruction[] = [];
  #at = 0;

  constructor(pattern: string) {
    this.#source = pattern;
    this.#pattern = [...pattern];
  }

  compile(): readonly Instruction[] {
    this.#alternatives();
    this.#emit({ kind: 'match' });
    return this.#program;
  }

  #emit(instruction: Instruction): number {
    if (this.#program.length >= MaxProgram) throw fail(this.#source, 'its repetitions are too large');
    return this.#program.push(instruction) - 1;
  }

  /** #alternatives compiles alternatives such as a|b|c up to the end of their group. */
  #alternatives(): void {
    const start = this.#program.length;
    this.#sequence();
    if (this.#pattern[this.#at] !== '|') return;
    this.#at++;
    const first = this.#cutFrom(start);
    const split = this.#emit({ kind: 'split', a: start + 1, b: 0 });
    this.#paste(first, start, start + 1);
    const jump = this.#emit({ kind: 'jump', to: 0 });
    this.#patch(split, 'b', this.#program.length);
    this.#alternatives();
    this.#patch(jump, 'to', this.#program.length);
  }

  #sequence(): void {
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== '|' && this.#pattern[this.#at] !== ')') {
      const start = this.#program.length;
      this.#atom();
      this.#quantifier(start);
    }
  }

  #atom(): void {
    const character = this.#pattern[this.#at++] ?? '';
    switch (character) {
      case '(':
        this.#group();
        break;
      case '[':
        this.#emit({ kind: 'character', matches: this.#characterClass() });
        break;
      case '.':
        this.#emit({ kind: 'character', matches: (c) => c !== '\n' });
        break;
      case '^':
        this.#emit({ kind: 'assert', what: 'start' });
        break;
      case '$':
        this.#emit({ kind: 'assert', what: 'end' });
        break;
      case '\\':
        this.#escape();
        break;
      default:
        this.#emit({ kind: 'character', matches: oneCharacter(character) });
    }
  }

  #group(): void {
    if (this.#pattern[this.#at] === '?') {
      const next = this.#pattern[this.#at + 1];
      const isNamed = next === '<' && !/[=!]/.test(this.#pattern[this.#at + 2] ?? '');
      if (next === ':') this.#at += 2;
      else if (isNamed) this.#at = this.#pattern.indexOf('>', this.#at) + 1;
      else throw fail(this.#source, 'look-around and flags in groups are not supported');
    }
    this.#alternatives();
    this.#at++; // the closing parenthesis
  }

  #escape(): void {
    const next = this.#pattern[this.#at] ?? '';
    if (/[1-9k]/.test(next)) throw fail(this.#source, 'back-references are not supported');
    if (next === 'b' || next === 'B') {
      this.#at++;
      this.#emit({ kind: 'assert', what: next === 'b' ? 'boundary' : 'inside' });
      return;
    }
    this.#emit({ kind: 'character', matches: this.#nativeTest(this.#escapeEnd(this.#at - 1)) });
  }

  /** #escapeEnd returns the escape sequence that begins at `start`, and moves the position behind it. */
  #escapeEnd(start: number): string {
    const rest = this.#pattern.slice(start).join('');
    const found =
      /^\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}(?:\\u[0-9a-f]{4})?|x[0-9a-f]{2}|c[a-z]|[pP]\{[^}]*\}|.)/iu.exec(rest)?.[0] ??
      '\\\\';
    this.#at = start + [...found].length;
    return found;
  }

  /**
   * #characterClass parses a character class, such as [a-z], up to its closing bracket. The browser's RegExp tests
   * whether a character is in the class.
   */
  #characterClass(): CharacterTest {
    const start = this.#at - 1;
    for (let isFirst = true; this.#pattern[this.#at] !== ']' || isFirst; this.#at++) {
      isFirst = isFirst && this.#pattern[this.#at] === '^';
      if (this.#pattern[this.#at] === '\\') this.#at++;
      if (this.#at > this.#pattern.length) throw fail(this.#source, 'a class has no end');
      if (!isFirst && this.#pattern[this.#at + 1] === ']') {
        this.#at++;
        break;
      }
    }
    this.#at++;
    return this.#nativeTest(this.#pattern.slice(start, this.#at).join(''));
  }

  /** #nativeTest returns a test for a pattern that matches exactly one character. */
  #nativeTest(source: string): CharacterTest {
    const native = new RegExp(`^(?:${source})$`, 'iu');
    const known = new Map<string, boolean>();
    return (character) => {
      let result = known.get(character);
      if (result === undefined) {
        result = native.test(character);
        if (known.size < 1_000) known.set(character, result);
      }
      return result;
    };
  }

  #quantifier(start: number): void {
    const rest = this.#pattern.slice(this.#at, this.#at + 20).join('');
    const found = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(rest);
    if (!found) return;
    this.#at += found[0].length;
    const [, sign, least, comma, most] = found;
    const min = sign ? (sign === '+' ? 1 : 0) : Number(least);
    const max = sign
      ? sign === '?'
        ? 1
        : Number.POSITIVE_INFINITY
      : comma === ''
        ? min
        : most
          ? Number(most)
          : Number.POSITIVE_INFINITY;
    this.#repeat(start, min, max);
  }

  #repeat(start: number, min: number, max: number): void {
    const body = this.#cutFrom(start);
    for (let i = 0; i < min; i++) this.#paste(body, start, this.#program.length);
    if (max === Number.POSITIVE_INFINITY) {
      const split = this.#emit({ kind: 'split', a: 0, b: 0 });
      this.#patch(split, 'a', split + 1);
      this.#paste(body, start, split + 1);
      this.#emit({ kind: 'jump', to: split });
      this.#patch(split, 'b', this.#program.length);
      return;
    }
    const splits: number[] = [];
    for (let i = min; i < max; i++) {
      const split = this.#emit({ kind: 'split', a: 0, b: 0 });
      splits.push(split);
      this.#patch(split, 'a', split + 1);
      this.#paste(body, start, split + 1);
    }
    for (const split of splits) this.#patch(split, 'b', this.#program.length);
  }

  #cutFrom(start: number): Instruction[] {
    return this.#program.splice(start);
  }

  /** #paste appends instructions that were compiled for the index `from`, and adapts them to the index `to`. */
  #paste(body: readonly Instruction[], from: number, to: number): void {
    const shift = to - from;
    for (const instruction of body) {
      if (instruction.kind === 'split')
        this.#emit({ ...instruction, a: instruction.a + shift, b: instruction.b + shift });
      else if (instruction.kind === 'jump') this.#emit({ ...instruction, to: instruction.to + shift });
      else this.#emit(instruction);
    }
  }

  #patch(index: number, field: 'a' | 'b' | 'to', target: number): void {
    const instruction = this.#program[index];
    if (instruction?.kind === 'split' && field !== 'to') instruction[field] = target;
    else if (instruction?.kind === 'jump') instruction.to = target;
  }
}

function oneCharacter(wanted: string): CharacterTest {
  const lower = wanted.toLowerCase();
  const upper = wanted.toUpperCase();
  return (character) =>
    character === wanted || character === lower || character === upper || character.toLowerCase() === lower;
}

/** runProgram reports whether a compiled pattern matches anywhere in a text. */
function runProgram(program: readonly Instruction[], text: string): boolean {
  const characters = [...text];
  let current = new Set<number>();
  for (let i = 0; i <= characters.length; i++) {
    if (addState(program, 0, current, characters, i)) return true;
    const next = new Set<number>();
    const character = characters[i];
    if (character === undefined) return false;
    for (const state of current) {
      const instruction = program[state];
      if (instruction?.kind !== 'character' || !instruction.matches(character)) continue;
      if (addState(program, state + 1, next, characters, i + 1)) return true;
    }
    current = next;
  }
  return false;
}

/**
 * addState adds a state, and all states that are reachable without reading a character, and returns true if the pattern
 * matched.
 */
function addState(
  program: readonly Instruction[],
  from: number,
  states: Set<number>,
  text: readonly string[],
  at: number,
): boolean {
  const pending = [from];
  for (let state = pending.pop(); state !== undefined; state = pending.pop()) {
    if (states.has(state)) continue;
    states.add(state);
    const instruction = program[state];
    switch (instruction?.kind) {
      case 'match':
        return true;
      case 'jump':
        pending.push(instruction.to);
        break;
      case 'split':
        pending.push(instruction.b, instruction.a);
        break;
      case 'assert':
        if (holds(instruction.what, text, at)) pending.push(state + 1);
        break;
    }
  }
  return false;
}

function holds(what: 'start' | 'end' | 'boundary' | 'inside', text: readonly string[], at: number): boolean {
  if (what === 'start') return at === 0;
  if (what === 'end') return at === text.length;
  const isBoundary = /\w/.test(text[at - 1] ?? '') !== /\w/.test(text[at] ?? '');
  return isBoundary === (what === 'boundary');
}

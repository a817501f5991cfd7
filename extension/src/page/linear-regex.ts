// Matches regular expressions in linear time, so that no pattern of an agent can block the page.
//
// The matcher tracks the set of all possible states at once, as in Thompson's construction, instead of backtracking. A
// matcher without backtracking cannot support look-around and back-references, so compileRegex rejects patterns that
// contain them.
import { PageFailure } from './failure.ts';

/** LinearRegex matches anywhere in a text and ignores case. */
export interface LinearRegex {
  test(text: string): boolean;
}

type CharacterTest = (character: string) => boolean;

/** The fields a, b and to of an instruction are indices of other instructions. */
type Instruction =
  | { readonly kind: 'character'; readonly matches: CharacterTest }
  | { readonly kind: 'split'; a: number; b: number }
  | { readonly kind: 'jump'; to: number }
  | { readonly kind: 'assert'; readonly what: 'start' | 'end' | 'boundary' | 'inside' }
  | { readonly kind: 'match' };

const MaxPatternCharacters = 300;
const MaxInstructions = 5_000;
const MaxTextCharacters = 20_000;

export function compileRegex(pattern: string): LinearRegex {
  if (pattern.length > MaxPatternCharacters)
    throw makePatternFailure(pattern, `it has more than ${MaxPatternCharacters} characters`);
  try {
    new RegExp(pattern, 'iu');
  } catch {
    throw makePatternFailure(pattern, 'it is not a valid regular expression');
  }
  const program = new Compiler(pattern).compile();
  return { test: (text) => runProgram(program, text.slice(0, MaxTextCharacters)) };
}

function makePatternFailure(pattern: string, why: string): PageFailure {
  const shown = pattern.length > 80 ? `${pattern.slice(0, 80)}…` : pattern;
  return new PageFailure(
    'invalid_arguments',
    `The regular expression "${shown}" cannot be used: ${why}. Use text instead, or simplify the pattern.`,
  );
}

class Compiler {
  readonly #pattern: readonly string[];
  readonly #source: string;
  readonly #program: Instruction[] = [];
  #position = 0;

  constructor(pattern: string) {
    this.#source = pattern;
    this.#pattern = [...pattern];
  }

  compile(): readonly Instruction[] {
    this.#parseAlternatives();
    this.#emit({ kind: 'match' });
    return this.#program;
  }

  #emit(instruction: Instruction): number {
    if (this.#program.length >= MaxInstructions)
      throw makePatternFailure(this.#source, 'its repetitions are too large');
    return this.#program.push(instruction) - 1;
  }

  #parseAlternatives(): void {
    const start = this.#program.length;
    this.#parseSequence();
    if (this.#pattern[this.#position] !== '|') return;
    this.#position++;
    const first = this.#removeInstructionsFrom(start);
    const split = this.#emit({ kind: 'split', a: start + 1, b: 0 });
    this.#appendInstructions(first, start, start + 1);
    const jump = this.#emit({ kind: 'jump', to: 0 });
    this.#patchJump(split, 'b', this.#program.length);
    this.#parseAlternatives();
    this.#patchJump(jump, 'to', this.#program.length);
  }

  #parseSequence(): void {
    while (
      this.#position < this.#pattern.length &&
      this.#pattern[this.#position] !== '|' &&
      this.#pattern[this.#position] !== ')'
    ) {
      const start = this.#program.length;
      this.#parseAtom();
      this.#parseQuantifier(start);
    }
  }

  #parseAtom(): void {
    const character = this.#pattern[this.#position++] ?? '';
    switch (character) {
      case '(':
        this.#parseGroup();
        break;
      case '[':
        this.#emit({ kind: 'character', matches: this.#parseCharacterClass() });
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
        this.#parseEscape();
        break;
      default:
        this.#emit({ kind: 'character', matches: matchCharacter(character) });
    }
  }

  #parseGroup(): void {
    if (this.#pattern[this.#position] === '?') {
      const next = this.#pattern[this.#position + 1];
      const isNamed = next === '<' && !/[=!]/.test(this.#pattern[this.#position + 2] ?? '');
      if (next === ':') this.#position += 2;
      else if (isNamed) this.#position = this.#pattern.indexOf('>', this.#position) + 1;
      else throw makePatternFailure(this.#source, 'look-around and flags in groups are not supported');
    }
    this.#parseAlternatives();
    this.#position++;
  }

  #parseEscape(): void {
    const next = this.#pattern[this.#position] ?? '';
    if (/[1-9k]/.test(next)) throw makePatternFailure(this.#source, 'back-references are not supported');
    if (next === 'b' || next === 'B') {
      this.#position++;
      this.#emit({ kind: 'assert', what: next === 'b' ? 'boundary' : 'inside' });
      return;
    }
    this.#emit({ kind: 'character', matches: this.#makeNativeTest(this.#findEscapeEnd(this.#position - 1)) });
  }

  #findEscapeEnd(start: number): string {
    const rest = this.#pattern.slice(start).join('');
    const found =
      /^\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}(?:\\u[0-9a-f]{4})?|x[0-9a-f]{2}|c[a-z]|[pP]\{[^}]*\}|.)/iu.exec(rest)?.[0] ??
      '\\\\';
    this.#position = start + [...found].length;
    return found;
  }

  #parseCharacterClass(): CharacterTest {
    const start = this.#position - 1;
    for (let isFirst = true; this.#pattern[this.#position] !== ']' || isFirst; this.#position++) {
      isFirst = isFirst && this.#pattern[this.#position] === '^';
      if (this.#pattern[this.#position] === '\\') this.#position++;
      if (this.#position > this.#pattern.length) throw makePatternFailure(this.#source, 'a class has no end');
      if (!isFirst && this.#pattern[this.#position + 1] === ']') {
        this.#position++;
        break;
      }
    }
    this.#position++;
    return this.#makeNativeTest(this.#pattern.slice(start, this.#position).join(''));
  }

  #makeNativeTest(source: string): CharacterTest {
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

  #parseQuantifier(start: number): void {
    const rest = this.#pattern.slice(this.#position, this.#position + 20).join('');
    const found = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(rest);
    if (!found) return;
    this.#position += found[0].length;
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
    const body = this.#removeInstructionsFrom(start);
    for (let i = 0; i < min; i++) this.#appendInstructions(body, start, this.#program.length);
    if (max === Number.POSITIVE_INFINITY) {
      const split = this.#emit({ kind: 'split', a: 0, b: 0 });
      this.#patchJump(split, 'a', split + 1);
      this.#appendInstructions(body, start, split + 1);
      this.#emit({ kind: 'jump', to: split });
      this.#patchJump(split, 'b', this.#program.length);
      return;
    }
    const splits: number[] = [];
    for (let i = min; i < max; i++) {
      const split = this.#emit({ kind: 'split', a: 0, b: 0 });
      splits.push(split);
      this.#patchJump(split, 'a', split + 1);
      this.#appendInstructions(body, start, split + 1);
    }
    for (const split of splits) this.#patchJump(split, 'b', this.#program.length);
  }

  #removeInstructionsFrom(start: number): Instruction[] {
    return this.#program.splice(start);
  }

  #appendInstructions(body: readonly Instruction[], from: number, to: number): void {
    const shift = to - from;
    for (const instruction of body) {
      if (instruction.kind === 'split')
        this.#emit({ ...instruction, a: instruction.a + shift, b: instruction.b + shift });
      else if (instruction.kind === 'jump') this.#emit({ ...instruction, to: instruction.to + shift });
      else this.#emit(instruction);
    }
  }

  #patchJump(index: number, field: 'a' | 'b' | 'to', target: number): void {
    const instruction = this.#program[index];
    if (instruction?.kind === 'split' && field !== 'to') instruction[field] = target;
    else if (instruction?.kind === 'jump') instruction.to = target;
  }
}

function matchCharacter(wanted: string): CharacterTest {
  const lower = wanted.toLowerCase();
  const upper = wanted.toUpperCase();
  return (character) =>
    character === wanted || character === lower || character === upper || character.toLowerCase() === lower;
}

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
        if (isAssertionTrue(instruction.what, text, at)) pending.push(state + 1);
        break;
    }
  }
  return false;
}

function isAssertionTrue(what: 'start' | 'end' | 'boundary' | 'inside', text: readonly string[], at: number): boolean {
  if (what === 'start') return at === 0;
  if (what === 'end') return at === text.length;
  const isBoundary = /\w/.test(text[at - 1] ?? '') !== /\w/.test(text[at] ?? '');
  return isBoundary === (what === 'boundary');
}

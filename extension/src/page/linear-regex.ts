// Matches regular expressions in linear time, so that no pattern of an agent can block the page.
//
// The matcher tracks the set of all possible states at once, as in Thompson's construction, instead of backtracking. A
// matcher without backtracking cannot support look-around or back-references, so compileRegex rejects patterns with
// these features.
import { PageFailure } from './failure.ts';

/** A LinearRegex finds a match anywhere in a text, and ignores case. */
export interface LinearRegex {
  test(testedText: string): boolean;
}

type CharacterTest = (character: string) => boolean;

/** The fields `a`, `b` and `to` of an instruction are the indices of the possible next instructions. */
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
  const compiledProgram = new RegexCompiler(pattern).compile();
  return { test: (testedText) => runProgram(compiledProgram, testedText.slice(0, MaxTextCharacters)) };
}

function makePatternFailure(pattern: string, why: string): PageFailure {
  const shortPattern = pattern.length > 80 ? `${pattern.slice(0, 80)}…` : pattern;
  return new PageFailure(
    'invalid_arguments',
    `The regular expression "${shortPattern}" cannot be used: ${why}. Use text instead, or simplify the pattern.`,
  );
}

class RegexCompiler {
  readonly #pattern: readonly string[];
  readonly #source: string;
  readonly #instructions: Instruction[] = [];
  #position = 0;

  constructor(pattern: string) {
    this.#source = pattern;
    this.#pattern = [...pattern];
  }

  compile(): readonly Instruction[] {
    this.#parseAlternatives();
    this.#addInstruction({ kind: 'match' });
    return this.#instructions;
  }

  #addInstruction(instruction: Instruction): number {
    if (this.#instructions.length >= MaxInstructions)
      throw makePatternFailure(this.#source, 'its repetitions are too large');
    return this.#instructions.push(instruction) - 1;
  }

  #parseAlternatives(): void {
    const start = this.#instructions.length;
    this.#parseSequence();
    if (this.#pattern[this.#position] !== '|') return;
    this.#position++;
    const firstAlternative = this.#removeInstructionsFrom(start);
    const splitIndex = this.#addInstruction({ kind: 'split', a: start + 1, b: 0 });
    this.#appendInstructions(firstAlternative, start, start + 1);
    const jumpIndex = this.#addInstruction({ kind: 'jump', to: 0 });
    this.#setJumpTarget(splitIndex, 'b', this.#instructions.length);
    this.#parseAlternatives();
    this.#setJumpTarget(jumpIndex, 'to', this.#instructions.length);
  }

  #parseSequence(): void {
    while (
      this.#position < this.#pattern.length &&
      this.#pattern[this.#position] !== '|' &&
      this.#pattern[this.#position] !== ')'
    ) {
      const start = this.#instructions.length;
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
        this.#addInstruction({ kind: 'character', matches: this.#parseCharacterClass() });
        break;
      case '.':
        this.#addInstruction({ kind: 'character', matches: (c) => c !== '\n' });
        break;
      case '^':
        this.#addInstruction({ kind: 'assert', what: 'start' });
        break;
      case '$':
        this.#addInstruction({ kind: 'assert', what: 'end' });
        break;
      case '\\':
        this.#parseEscape();
        break;
      default:
        this.#addInstruction({ kind: 'character', matches: matchCharacter(character) });
    }
  }

  #parseGroup(): void {
    if (this.#pattern[this.#position] === '?') {
      const nextCharacter = this.#pattern[this.#position + 1];
      const isNamed = nextCharacter === '<' && !/[=!]/.test(this.#pattern[this.#position + 2] ?? '');
      if (nextCharacter === ':') this.#position += 2;
      else if (isNamed) this.#position = this.#pattern.indexOf('>', this.#position) + 1;
      else throw makePatternFailure(this.#source, 'look-around and flags in groups are not supported');
    }
    this.#parseAlternatives();
    this.#position++;
  }

  #parseEscape(): void {
    const nextCharacter = this.#pattern[this.#position] ?? '';
    if (/[1-9k]/.test(nextCharacter)) throw makePatternFailure(this.#source, 'back-references are not supported');
    if (nextCharacter === 'b' || nextCharacter === 'B') {
      this.#position++;
      this.#addInstruction({ kind: 'assert', what: nextCharacter === 'b' ? 'boundary' : 'inside' });
      return;
    }
    this.#addInstruction({ kind: 'character', matches: this.#makeNativeTest(this.#findEscapeEnd(this.#position - 1)) });
  }

  #findEscapeEnd(start: number): string {
    const remainingPattern = this.#pattern.slice(start).join('');
    const quantifierMatch =
      /^\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}(?:\\u[0-9a-f]{4})?|x[0-9a-f]{2}|c[a-z]|[pP]\{[^}]*\}|.)/iu.exec(
        remainingPattern,
      )?.[0] ?? '\\\\';
    this.#position = start + [...quantifierMatch].length;
    return quantifierMatch;
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

  #makeNativeTest(regexSource: string): CharacterTest {
    const nativeRegex = new RegExp(`^(?:${regexSource})$`, 'iu');
    const cachedResults = new Map<string, boolean>();
    return (character) => {
      let result = cachedResults.get(character);
      if (result === undefined) {
        result = nativeRegex.test(character);
        if (cachedResults.size < 1_000) cachedResults.set(character, result);
      }
      return result;
    };
  }

  #parseQuantifier(start: number): void {
    const remainingPattern = this.#pattern.slice(this.#position, this.#position + 20).join('');
    const quantifierMatch = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(remainingPattern);
    if (!quantifierMatch) return;
    this.#position += quantifierMatch[0].length;
    const [, sign, minText, rangeComma, maxText] = quantifierMatch;
    const minCount = sign ? (sign === '+' ? 1 : 0) : Number(minText);
    const maxCount = sign
      ? sign === '?'
        ? 1
        : Number.POSITIVE_INFINITY
      : rangeComma === ''
        ? minCount
        : maxText
          ? Number(maxText)
          : Number.POSITIVE_INFINITY;
    this.#repeatInstructions(start, minCount, maxCount);
  }

  #repeatInstructions(start: number, minCount: number, maxCount: number): void {
    const body = this.#removeInstructionsFrom(start);
    for (let i = 0; i < minCount; i++) this.#appendInstructions(body, start, this.#instructions.length);
    if (maxCount === Number.POSITIVE_INFINITY) {
      const splitIndex = this.#addInstruction({ kind: 'split', a: 0, b: 0 });
      this.#setJumpTarget(splitIndex, 'a', splitIndex + 1);
      this.#appendInstructions(body, start, splitIndex + 1);
      this.#addInstruction({ kind: 'jump', to: splitIndex });
      this.#setJumpTarget(splitIndex, 'b', this.#instructions.length);
      return;
    }
    const splitIndexes: number[] = [];
    for (let i = minCount; i < maxCount; i++) {
      const splitIndex = this.#addInstruction({ kind: 'split', a: 0, b: 0 });
      splitIndexes.push(splitIndex);
      this.#setJumpTarget(splitIndex, 'a', splitIndex + 1);
      this.#appendInstructions(body, start, splitIndex + 1);
    }
    for (const splitIndex of splitIndexes) this.#setJumpTarget(splitIndex, 'b', this.#instructions.length);
  }

  #removeInstructionsFrom(start: number): Instruction[] {
    return this.#instructions.splice(start);
  }

  #appendInstructions(body: readonly Instruction[], from: number, to: number): void {
    const instructionShift = to - from;
    for (const instruction of body) {
      if (instruction.kind === 'split')
        this.#addInstruction({
          ...instruction,
          a: instruction.a + instructionShift,
          b: instruction.b + instructionShift,
        });
      else if (instruction.kind === 'jump')
        this.#addInstruction({ ...instruction, to: instruction.to + instructionShift });
      else this.#addInstruction(instruction);
    }
  }

  #setJumpTarget(index: number, field: 'a' | 'b' | 'to', target: number): void {
    const instruction = this.#instructions[index];
    if (instruction?.kind === 'split' && field !== 'to') instruction[field] = target;
    else if (instruction?.kind === 'jump') instruction.to = target;
  }
}

function matchCharacter(wantedCharacter: string): CharacterTest {
  const lowerCase = wantedCharacter.toLowerCase();
  const upperCase = wantedCharacter.toUpperCase();
  return (character) =>
    character === wantedCharacter ||
    character === lowerCase ||
    character === upperCase ||
    character.toLowerCase() === lowerCase;
}

function runProgram(compiledProgram: readonly Instruction[], testedText: string): boolean {
  const patternCharacters = [...testedText];
  let currentStates = new Set<number>();
  for (let i = 0; i <= patternCharacters.length; i++) {
    if (addReachableStates(compiledProgram, 0, currentStates, patternCharacters, i)) return true;
    const nextStates = new Set<number>();
    const character = patternCharacters[i];
    if (character === undefined) return false;
    for (const currentState of currentStates) {
      const instruction = compiledProgram[currentState];
      if (instruction?.kind !== 'character' || !instruction.matches(character)) continue;
      if (addReachableStates(compiledProgram, currentState + 1, nextStates, patternCharacters, i + 1)) return true;
    }
    currentStates = nextStates;
  }
  return false;
}

function addReachableStates(
  compiledProgram: readonly Instruction[],
  from: number,
  stateIndexes: Set<number>,
  testedCharacters: readonly string[],
  textPosition: number,
): boolean {
  const pendingStates = [from];
  for (let currentState = pendingStates.pop(); currentState !== undefined; currentState = pendingStates.pop()) {
    if (stateIndexes.has(currentState)) continue;
    stateIndexes.add(currentState);
    const instruction = compiledProgram[currentState];
    switch (instruction?.kind) {
      case 'match':
        return true;
      case 'jump':
        pendingStates.push(instruction.to);
        break;
      case 'split':
        pendingStates.push(instruction.b, instruction.a);
        break;
      case 'assert':
        if (isAssertionTrue(instruction.what, testedCharacters, textPosition)) pendingStates.push(currentState + 1);
        break;
    }
  }
  return false;
}

function isAssertionTrue(
  what: 'start' | 'end' | 'boundary' | 'inside',
  testedCharacters: readonly string[],
  textPosition: number,
): boolean {
  if (what === 'start') return textPosition === 0;
  if (what === 'end') return textPosition === testedCharacters.length;
  const isBoundary =
    /\w/.test(testedCharacters[textPosition - 1] ?? '') !== /\w/.test(testedCharacters[textPosition] ?? '');
  return isBoundary === (what === 'boundary');
}

// Describes the keys of a keyboard with the US layout, because scripts that handle keys expect this layout.

export interface CharacterKey {
  readonly code: string;
  readonly keyCode: number;
  readonly needsShift: boolean;
}

/**
 * nonLetterKeys lists all keys except letters, each with its code, its key code, and its characters without and with
 * Shift.
 */
const nonLetterKeys: readonly (readonly [code: string, keyCode: number, characters: string])[] = [
  ['Digit0', 48, '0)'],
  ['Digit1', 49, '1!'],
  ['Digit2', 50, '2@'],
  ['Digit3', 51, '3#'],
  ['Digit4', 52, '4$'],
  ['Digit5', 53, '5%'],
  ['Digit6', 54, '6^'],
  ['Digit7', 55, '7&'],
  ['Digit8', 56, '8*'],
  ['Digit9', 57, '9('],
  ['Semicolon', 186, ';:'],
  ['Equal', 187, '=+'],
  ['Comma', 188, ',<'],
  ['Minus', 189, '-_'],
  ['Period', 190, '.>'],
  ['Slash', 191, '/?'],
  ['Backquote', 192, '`~'],
  ['BracketLeft', 219, '[{'],
  ['Backslash', 220, '\\|'],
  ['BracketRight', 221, ']}'],
  ['Quote', 222, `'"`],
  ['Space', 32, ' '],
];

export function findCharacterKey(character: string): CharacterKey | undefined {
  if (/^[a-z]$/i.test(character)) {
    const upperCase = character.toUpperCase();
    return { code: `Key${upperCase}`, keyCode: upperCase.charCodeAt(0), needsShift: character === upperCase };
  }
  if ([...character].length !== 1) return undefined;
  const row = nonLetterKeys.find(([, , characters]) => characters.includes(character));
  return row && { code: row[0], keyCode: row[1], needsShift: row[2].indexOf(character) > 0 };
}

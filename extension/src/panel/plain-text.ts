// Finds hidden characters: characters that are invisible, or that change how other text looks. The server's package
// internal/plaintext has the same rules for hidden characters, and the tests of panel and server use the same list of
// cases.

const HiddenCharacter =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/u;
/** NumberSignCharacters are format characters that are visible, because they are drawn around or under digits. */
const NumberSignCharacters = /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]/u;
const Pictograph = /[\u203c\u2049\u2139\u3030]|(?![\0-\u00a8\ufffc\ufffd])[\p{So}\p{Sm}]/u;
/** EmojiModifier matches a character that sets the style or skin tone of the preceding emoji. */
const EmojiModifier = /[\ufe0e\ufe0f\u{1f3fb}-\u{1f3ff}]/u;
/** NonLatinLetter matches a letter or combining mark outside the Latin, Greek, Cyrillic and Armenian blocks. */
const NonLatinLetter = /(?![\0-\u058f])[\p{L}\p{M}]/u;
const UnjoinedLetter =
  /[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}\p{sc=Common}\p{sc=Inherited}]/u;
const KeycapBase = /[#*0-9]/;
const MongolianLetter = /(?=\p{L})\p{sc=Mongolian}/u;

export function replaceHiddenCharacters(
  plainText: string,
  replaceCharacters: (hiddenCharacters: string) => string,
): string {
  if (!HiddenCharacter.test(plainText)) return plainText;
  const characters = [...plainText];
  const visibleCharacters: string[] = [];
  let previousCharacter = ''; // the last visible character so far
  let baseCharacter = ''; // the last visible character so far that is not an emoji modifier
  for (const [i, character] of characters.entries()) {
    if (
      HiddenCharacter.test(character) &&
      !NumberSignCharacters.test(character) &&
      !belongsToVisibleText(character, previousCharacter, baseCharacter, characters[i + 1] ?? '')
    ) {
      visibleCharacters.push(replaceCharacters(character));
      continue;
    }
    visibleCharacters.push(character);
    previousCharacter = character;
    if (!EmojiModifier.test(character)) baseCharacter = character;
  }
  return visibleCharacters.join('');
}

/**
 * belongsToVisibleText reports whether a hidden character is needed to display ordinary text, such as a joiner between
 * two emoji.
 */
function belongsToVisibleText(
  character: string,
  previousCharacter: string,
  baseCharacter: string,
  nextCharacter: string,
): boolean {
  switch (character) {
    case '\u200d':
      return (
        joinsLetters(previousCharacter) ||
        (Pictograph.test(baseCharacter) && previousCharacter !== '\u200d' && Pictograph.test(nextCharacter))
      );
    case '\u200c':
      return joinsLetters(previousCharacter);
    case '\ufe0f':
      return Pictograph.test(previousCharacter) || (KeycapBase.test(previousCharacter) && nextCharacter === '\u20e3');
    case '\ufe0e':
      return Pictograph.test(previousCharacter);
    case '\u180b':
    case '\u180c':
    case '\u180d':
    case '\u180f':
      return MongolianLetter.test(previousCharacter);
    default:
      return false;
  }
}

function joinsLetters(character: string): boolean {
  return NonLatinLetter.test(character) && !UnjoinedLetter.test(character);
}

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
/** Letter matches a letter or combining mark outside the Latin, Greek, Cyrillic and Armenian blocks. */
const Letter = /(?![\0-\u058f])[\p{L}\p{M}]/u;
const UnjoinedLetter =
  /[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}\p{sc=Common}\p{sc=Inherited}]/u;
const KeycapBase = /[#*0-9]/;
const MongolianLetter = /(?=\p{L})\p{sc=Mongolian}/u;

export function replaceHidden(text: string, replace: (hidden: string) => string): string {
  if (!HiddenCharacter.test(text)) return text;
  const characters = [...text];
  const result: string[] = [];
  let previous = ''; // The last character that is not hidden.
  let base = ''; // the last character that is neither hidden nor an emoji modifier
  for (const [i, char] of characters.entries()) {
    if (
      HiddenCharacter.test(char) &&
      !NumberSignCharacters.test(char) &&
      !belongsToVisibleText(char, previous, base, characters[i + 1] ?? '')
    ) {
      result.push(replace(char));
      continue;
    }
    result.push(char);
    previous = char;
    if (!EmojiModifier.test(char)) base = char;
  }
  return result.join('');
}

/**
 * belongsToVisibleText reports whether a hidden character is needed to display ordinary text, such as a joiner between
 * two emoji.
 */
function belongsToVisibleText(char: string, prev: string, base: string, next: string): boolean {
  switch (char) {
    case '\u200d':
      return joinsLetters(prev) || (Pictograph.test(base) && prev !== '\u200d' && Pictograph.test(next));
    case '\u200c':
      return joinsLetters(prev);
    case '\ufe0f':
      return Pictograph.test(prev) || (KeycapBase.test(prev) && next === '\u20e3');
    case '\ufe0e':
      return Pictograph.test(prev);
    case '\u180b':
    case '\u180c':
    case '\u180d':
    case '\u180f':
      return MongolianLetter.test(prev);
    default:
      return false;
  }
}

function joinsLetters(char: string): boolean {
  return Letter.test(char) && !UnjoinedLetter.test(char);
}

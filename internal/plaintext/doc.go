// Package plaintext removes hidden characters from text that plugins, pages and clients have sent. Agents, logs and
// users only receive the cleaned text.
//
// Hidden characters are invisible, or change how other text looks.
//
// Hidden characters that have a visible effect in ordinary text are kept. Zero-width joiners are kept between emoji, as
// in family emoji. Zero-width joiners and non-joiners are kept after letters of scripts that join letters, such as
// Arabic and Hindi. One variation selector (U+FE0E or U+FE0F) is kept after a symbol or in a keycap, where it selects
// emoji or text style. After Mongolian letters, variation selectors are kept too, because they select the shape of the
// letter.
//
// plaintext keeps the letters of all scripts, including scripts that are written from right to left. Package plaintext
// removes the tag characters in the flags of England, Scotland and Wales, which then appear as a plain black flag. Tool
// results must never be cleaned, because they are data.
//
// The side panel implements the rules of package plaintext in extension/src/panel/plain-text.ts. The Go tests and the
// TypeScript tests of the rules for hidden characters both read the file testdata/cases.json.
package plaintext

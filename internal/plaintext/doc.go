// Package plaintext removes hidden characters from text that plugins, pages and clients
// have sent. Agents, logs and users only receive the cleaned text.
//
// Hidden characters are invisible, or change how other text looks. Examples are control
// characters except line feed and tab, characters that change the writing direction,
// tags, fillers and variation selectors. Some of these characters are part of ordinary
// text, so they are kept where they have a visible effect:
//
//   - zero-width joiners between emoji (families, professions), and joiners and
//     non-joiners after letters of scripts that join, such as Arabic or Hindi,
//   - one variation selector (U+FE0E or U+FE0F) after a symbol or in a keycap, which
//     selects emoji or text style,
//   - variation selectors after Mongolian letters.
//
// Letters of all scripts are kept, including scripts that are written from right to left.
// The flags of England, Scotland and Wales contain tag characters, so they become a plain
// black flag. Tool results are data, and must never be cleaned.
//
// The side panel implements the same rules in extension/src/panel/plain-text.ts. The Go
// and TypeScript tests both read testdata/cases.json.
package plaintext

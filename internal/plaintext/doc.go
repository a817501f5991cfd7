// Package plaintext removes hidden characters from text of plugins, pages and
// clients, before agents, logs and users receive it.
//
// Hidden characters show nothing or change how other text looks. Examples are control
// characters except line feed and tab, marks that change the writing direction, tags,
// fillers, and variation selectors. Package plaintext keeps hidden characters of
// ordinary text where they have a visible effect:
//
//   - zero-width joiners between emoji (families, professions), and joiners and
//     non-joiners after letters of scripts that join, such as Arabic or Hindi,
//   - one selector of emoji or text style (U+FE0E, U+FE0F) after a symbol, or in a
//     keycap,
//   - variation selectors after Mongolian letters.
//
// Letters of all scripts are kept, including scripts that are written from right to
// left. Flags of regions that are spelled with tags (England, Scotland, Wales) lose the
// tags and become a black flag. Results of tools are data and never go through package
// plaintext.
//
// extension/src/panel/plain-text.ts implements the rules of package plaintext for the
// side panel; the tests of both read testdata/cases.json.
package plaintext

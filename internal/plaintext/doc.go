// Package plaintext removes hidden characters from text of plugins, pages and
// clients, before agents, logs and users receive it.
//
// Hidden characters are those that show nothing or change how other text looks: control
// characters other than line feed and tab, marks that change the writing direction,
// tags, fillers, and variation selectors. Package plaintext keeps hidden characters of
// ordinary text where they have a visible effect:
//
//   - zero-width joiners between emoji (families, professions), and joiners and
//     non-joiners after letters of scripts that join, such as Arabic or Hindi,
//   - one selector of emoji or text style (U+FE0E, U+FE0F) after a symbol, or in a
//     keycap,
//   - variation selectors after Mongolian letters.
//
// Letters of all scripts are kept, those written from right to left too. Flags of
// regions that are spelled with tags (England, Scotland, Wales) lose the tags and
// become a black flag. Results of tools are data and never go through this package.
//
// extension/src/panel/plain-text.ts follows the same rules in the side panel;
// testdata/cases.json is read by the tests of both.
package plaintext

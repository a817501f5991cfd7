import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { replaceHiddenCharacters } from './plain-text.ts';

test('the server and the panel hide the same characters', () => {
  const file = new URL('../../../internal/plaintext/testdata/cases.json', import.meta.url);
  const plainTextCases: readonly { name: string; in: string; out: string }[] = JSON.parse(readFileSync(file, 'utf8'));
  assert.ok(plainTextCases.length > 20);
  const lineSeparators = /[\u2028\u2029]/;
  for (const plainTextCase of plainTextCases) {
    const shownText = replaceHiddenCharacters(plainTextCase.in, (hiddenCharacters) =>
      lineSeparators.test(hiddenCharacters) ? '\n' : '',
    );
    assert.equal(shownText, plainTextCase.out, plainTextCase.name);
  }
});

test('replaceHiddenCharacters replaces hidden characters', () => {
  assert.equal(
    replaceHiddenCharacters(
      'a\u202eb\u{e0041}',
      (hiddenCharacter) => `<${hiddenCharacter.codePointAt(0)?.toString(16)}>`,
    ),
    'a<202e>b<e0041>',
  );
});

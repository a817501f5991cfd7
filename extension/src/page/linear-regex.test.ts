import assert from 'node:assert/strict';
import test from 'node:test';
import { compileRegex } from './linear-regex.ts';

const patterns = [
  'abc',
  'a|b|cd',
  'a*b',
  'a+?b',
  '(ab)+c',
  'x{2,3}y',
  'x{2}',
  'x{2,}z',
  '^start',
  'end$',
  '\\bword\\b',
  '\\Bx',
  '[a-c]+d',
  '[^0-9]x',
  '\\d{3}-\\d{4}',
  '(?:a|b)c',
  '(?<n>a)b',
  '.*foo.*',
  'a.c',
  '\\$\\d+\\.\\d\\d',
  '[\\]x]y',
  '(a(b(c)?)?)?d',
  'é',
  '\\u00e9',
  '\\x41',
  '\\p{L}+\\s\\p{N}',
  '(a|ab)(c|bcd)',
  '',
  'a||b',
  '(|x)y',
  '[-a]b',
  '\\w+@\\w+\\.com',
  '^$',
  'x?y?z?$',
];
const testedTexts = [
  '',
  'abc',
  'cd',
  'aaab',
  'ababc',
  'xxy',
  'xxxy',
  'xxz',
  'start here',
  'the end',
  'a word here',
  'sword',
  'abcd',
  'yx',
  '555-1234',
  'bc',
  'ab',
  'a foo b',
  'a\nc',
  'axc',
  '$12.50',
  ']y',
  'abcd',
  'É',
  'é',
  'A',
  'Zoë 7',
  'abcd',
  'xy',
  '-b',
  'me@example.com',
  'ABC',
  'x',
  'ax',
];

test('patterns match exactly what RegExp matches', () => {
  for (const pattern of patterns) {
    const compiledRegex = compileRegex(pattern);
    for (const text of testedTexts) {
      assert.equal(
        compiledRegex.test(text),
        new RegExp(pattern, 'iu').test(text),
        `/${pattern}/ on ${JSON.stringify(text)}`,
      );
    }
  }
});

test('matching ends quickly for patterns that would block a backtracking matcher', () => {
  const text = `${'a'.repeat(19_999)}!`;
  // Each pattern of this test would block JavaScript's RegExp practically forever.
  for (const pattern of ['(a+)+$', '(a|aa)+$', '(.*)*x', 'a*a*a*a*a*a*b', '(a|a)*b', '([a-z]+)*\\d', '(x?){20}y'])
    assert.equal(compileRegex(pattern).test(text), false, pattern);
});

test('compileRegex rejects invalid patterns and patterns that cannot run in linear time, with the reason', () => {
  for (const [pattern, reason] of [
    ['(?=a)b', /look-around/],
    ['(?<!a)b', /look-around/],
    ['(a)\\1', /back-references/],
    ['(?<n>a)\\k<n>', /back-references/],
    ['a(', /not a valid/],
    ['[z-a]', /not a valid/],
    ['(((a{100}){100}){100})', /repetitions/],
    ['a'.repeat(400), /300 characters/],
  ] as const) {
    assert.throws(() => compileRegex(pattern), reason, pattern);
  }
});

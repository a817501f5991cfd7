import assert from 'node:assert/strict';
import test from 'node:test';
import { type DiffLine, diffLines } from './diff.ts';

/** The text after "#" is a line's key: `button #b1` has the key b1. */
function makeLines(text: string, folded = false): DiffLine[] {
  return text.split('\n').map((line) => {
    const [shown = '', key] = line.trim().split(' #');
    return { depth: line.length - line.trimStart().length, text: shown, key: key ?? shown, folded };
  });
}

function diffTexts(before: string, after: string, maxTokens = 1_000): string {
  const options = { isStillShown: () => false, markFresh: () => '+' as const, maxTokens };
  return diffLines(makeLines(before), makeLines(after), options).text;
}

test('a snapshot diff shows a new row below its table', () => {
  const before = 'main\n table "Orders"\n  row 1\n  row 2';
  assert.equal(diffTexts(before, `${before}\n  row 3`), 'in table "Orders"\n+ row 3');
});

test('changed, new and removed lines, with the content of new containers below them', () => {
  assert.equal(
    diffTexts(
      'button Save #s\ndialog A #d\n text in A\ntext',
      'button Save [disabled] #s\ntext\ndialog B #e\n text in B',
    ),
    '~ button Save [disabled]\n+ dialog B\n+  text in B\n- dialog A',
  );
});

test('elements that the page draws again are changes of their refs only', () => {
  assert.equal(
    diffTexts('list #l\n button Edit [ref=e1] #1\n plain #2', 'list #l\n button Edit [ref=e9] #8\n plain #9'),
    'in list\n~ button Edit [ref=e9]',
  );
});

test('a snapshot diff without changes is empty', () => {
  assert.equal(diffTexts('a\nb', 'a\nb'), '');
});

test('lines of a diff beyond maxTokens are counted', () => {
  const after = Array.from({ length: 100 }, (_, i) => `line number ${i}`).join('\n');
  assert.match(diffTexts('x', after, 50), /… \d\d more changed lines; take a snapshot$/);
});

test('rows that are still shown, but folded away, are not gone', () => {
  const options = { isStillShown: () => true, markFresh: () => '>' as const, maxTokens: 100 };
  assert.equal(diffLines(makeLines('row 1\nrow 2'), makeLines('row 2\nrow 3', true), options).text, '> row 3');
});

test('moved lines are marked, and the lines that stayed are not', () => {
  assert.equal(diffTexts('list\n a\n b\n c\n d', 'list\n b\n c\n d\n a'), 'in list\n~ a (moved)');
  assert.equal(diffTexts('a\nb\nc\nd', 'd\na\nx\nb\nc'), '~ d (moved)\n+ x');
});

test('removed lines are short and have no refs, because removed elements cannot be used', () => {
  const row = `row one | link "Ada" [ref=e1] ${'text '.repeat(20)}| button "Delete" [ref=e2]`;
  assert.equal(
    diffTexts(`list\n ${row}\n a`, 'list\n a'),
    `${`- row one | link "Ada" ${'text '.repeat(20)}`.slice(0, 62)}…`,
  );
});

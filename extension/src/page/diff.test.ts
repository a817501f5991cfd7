import assert from 'node:assert/strict';
import test from 'node:test';
import { type DiffLine, diffLines } from './diff.ts';

/** The text after "#" is a line's key: `button #b1` has the key b1. */
function makeLines(text: string, isFolded = false): DiffLine[] {
  return text.split('\n').map((line) => {
    const [visibleText = '', key] = line.trim().split(' #');
    return {
      depth: line.length - line.trimStart().length,
      text: visibleText,
      key: key ?? visibleText,
      folded: isFolded,
    };
  });
}

function diffTexts(oldText: string, newText: string, maxTokens = 1_000): string {
  const options = { isStillShown: () => false, chooseNewLineMark: () => '+' as const, maxTokens };
  return diffLines(makeLines(oldText), makeLines(newText), options).text;
}

test('a snapshot diff shows a new row below its table', () => {
  const oldText = 'main\n table "Orders"\n  row 1\n  row 2';
  assert.equal(diffTexts(oldText, `${oldText}\n  row 3`), 'in table "Orders"\n+ row 3');
});

test('a snapshot diff marks changed, new and removed lines, and shows the content of new containers below them', () => {
  assert.equal(
    diffTexts(
      'button Save #s\ndialog A #d\n text in A\ntext',
      'button Save [disabled] #s\ntext\ndialog B #e\n text in B',
    ),
    '~ button Save [disabled]\n+ dialog B\n+  text in B\n- dialog A',
  );
});

test('if the page recreates elements, the diff shows only lines whose refs changed', () => {
  assert.equal(
    diffTexts('list #l\n button Edit [ref=e1] #1\n plain #2', 'list #l\n button Edit [ref=e9] #8\n plain #9'),
    'in list\n~ button Edit [ref=e9]',
  );
});

test('a snapshot diff without changes is empty', () => {
  assert.equal(diffTexts('a\nb', 'a\nb'), '');
});

test('a diff only counts the changed lines beyond maxTokens', () => {
  const newText = Array.from({ length: 100 }, (_, i) => `line number ${i}`).join('\n');
  assert.match(diffTexts('x', newText, 50), /… \d\d more changed lines; take a snapshot$/);
});

test('a diff does not mark rows as removed that the page still shows but the snapshot leaves out', () => {
  const options = { isStillShown: () => true, chooseNewLineMark: () => '>' as const, maxTokens: 100 };
  assert.equal(diffLines(makeLines('row 1\nrow 2'), makeLines('row 2\nrow 3', true), options).text, '> row 3');
});

test('a diff marks moved lines, but not lines that kept their order', () => {
  assert.equal(diffTexts('list\n a\n b\n c\n d', 'list\n b\n c\n d\n a'), 'in list\n~ a (moved)');
  assert.equal(diffTexts('a\nb\nc\nd', 'd\na\nx\nb\nc'), '~ d (moved)\n+ x');
});

test('a diff shortens removed lines and omits their refs, because removed elements cannot be used', () => {
  const row = `row one | link "Ada" [ref=e1] ${'text '.repeat(20)}| button "Delete" [ref=e2]`;
  assert.equal(
    diffTexts(`list\n ${row}\n a`, 'list\n a'),
    `${`- row one | link "Ada" ${'text '.repeat(20)}`.slice(0, 62)}…`,
  );
});

import assert from 'node:assert/strict';
import test from 'node:test';
import { splitText, TextJoiner } from './text-pieces.ts';

test('texts of any length are split and joined again', () => {
  const joiner = new TextJoiner();
  for (const text of ['', 'a', '😀😀', 'abcdef', '+.+.']) {
    const pieces = splitText(text, 2);
    assert.ok(pieces.every((piece) => piece.length <= 3));
    assert.deepEqual(
      pieces.map((piece) => joiner.add(piece)).filter((joined) => joined !== undefined),
      [text],
    );
  }
  assert.equal(joiner.add(7), undefined);
});

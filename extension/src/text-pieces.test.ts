import assert from 'node:assert/strict';
import test from 'node:test';
import { splitText, TextJoiner } from './text-pieces.ts';

test('split texts of any length are equal to the original after joining', () => {
  const textJoiner = new TextJoiner();
  for (const fullText of ['', 'a', '😀😀', 'abcdef', '+.+.']) {
    const textPieces = splitText(fullText, 2);
    assert.ok(textPieces.every((piece) => piece.length <= 3));
    assert.deepEqual(
      textPieces.map((piece) => textJoiner.add(piece)).filter((joined) => joined !== undefined),
      [fullText],
    );
  }
  assert.equal(textJoiner.add(7), undefined);
});

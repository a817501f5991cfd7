import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToolFailure } from '../tool-failure.ts';
import { TextPartCharacters, TextParts } from './text-parts.ts';

const sampleCall = { documentId: 'd1' };

test('the joined parts equal the whole text, and a cursor is invalid in another document', () => {
  const textParts = new TextParts();
  assert.deepEqual(textParts.readFirstPart(sampleCall, 'short'), { text: 'short', sentences: [] });
  const fullText = `${'x'.repeat(TextPartCharacters - 1)}😀${'y'.repeat(TextPartCharacters)}`;
  let textPart = textParts.readFirstPart(sampleCall, fullText);
  const partTexts = [textPart.text];
  for (
    let cursor = /"(.+)"/.exec(textPart.sentences[1] ?? '')?.[1];
    cursor;
    cursor = /"(.+)"/.exec(textPart.sentences[1] ?? '')?.[1]
  ) {
    assert.throws(() => textParts.readNextPart({ documentId: 'd2' }, cursor ?? ''), ToolFailure);
    textPart = textParts.readNextPart(sampleCall, cursor);
    partTexts.push(textPart.text);
  }
  assert.deepEqual(
    [partTexts.join('') === fullText, partTexts.length, partTexts[0]?.length],
    [true, 3, TextPartCharacters - 1],
  );
  assert.equal(textPart.sentences[1], 'This is the last part.');
});

test('readNextPart rejects unknown cursors, and new texts replace the oldest texts', () => {
  const textParts = new TextParts();
  const extractCursor = (text: string) =>
    /"(.+)"/.exec(textParts.readFirstPart(sampleCall, text).sentences[1] ?? '')?.[1] ?? '';
  const firstCursor = extractCursor('x'.repeat(7_000_000));
  assert.equal(textParts.readNextPart(sampleCall, firstCursor).text.length, TextPartCharacters);
  const secondCursor = extractCursor('y'.repeat(7_000_000));
  for (const cursor of [firstCursor, '', 'x', `${secondCursor.slice(0, 8)}:99999999`, 'constructor:0'])
    assert.throws(() => textParts.readNextPart(sampleCall, cursor), /there is no text for this cursor/, cursor);
  assert.equal(textParts.readNextPart(sampleCall, secondCursor).text.charAt(0), 'y');
});

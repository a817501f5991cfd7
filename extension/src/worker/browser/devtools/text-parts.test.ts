import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToolFailure } from '../tool-failure.ts';
import { PartCharacters, TextParts } from './text-parts.ts';

const shopCall = { documentId: 'd1' };

test('the parts of a text add up to the text, and are valid only in its document', () => {
  const textParts = new TextParts();
  assert.deepEqual(textParts.storeAndReadFirst(shopCall, 'short'), { text: 'short', words: [] });
  const wholeText = `${'x'.repeat(PartCharacters - 1)}😀${'y'.repeat(PartCharacters)}`;
  let textPart = textParts.storeAndReadFirst(shopCall, wholeText);
  const partTexts = [textPart.text];
  for (
    let cursor = /"(.+)"/.exec(textPart.words[1] ?? '')?.[1];
    cursor;
    cursor = /"(.+)"/.exec(textPart.words[1] ?? '')?.[1]
  ) {
    assert.throws(() => textParts.readNext({ documentId: 'd2' }, cursor ?? ''), ToolFailure);
    textPart = textParts.readNext(shopCall, cursor);
    partTexts.push(textPart.text);
  }
  assert.deepEqual(
    [partTexts.join('') === wholeText, partTexts.length, partTexts[0]?.length],
    [true, 3, PartCharacters - 1],
  );
  assert.equal(textPart.words[1], 'This is the last part.');
});

test('unknown cursors fail, and old texts are dropped for newer ones', () => {
  const textParts = new TextParts();
  const cursorOf = (text: string) =>
    /"(.+)"/.exec(textParts.storeAndReadFirst(shopCall, text).words[1] ?? '')?.[1] ?? '';
  const firstCursor = cursorOf('x'.repeat(7_000_000));
  assert.equal(textParts.readNext(shopCall, firstCursor).text.length, PartCharacters);
  const secondCursor = cursorOf('y'.repeat(7_000_000));
  for (const cursor of [firstCursor, '', 'x', `${secondCursor.slice(0, 8)}:99999999`, 'constructor:0'])
    assert.throws(() => textParts.readNext(shopCall, cursor), /there is no text for this cursor/, cursor);
  assert.equal(textParts.readNext(shopCall, secondCursor).text.charAt(0), 'y');
});

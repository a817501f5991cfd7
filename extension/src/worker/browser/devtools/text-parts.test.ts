import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToolFailure } from '../tool-failure.ts';
import { PartCharacters, TextParts } from './text-parts.ts';

const shop = { documentId: 'd1' };

test('the parts of a text add up to the text, and are valid only in its document', () => {
  const parts = new TextParts();
  assert.deepEqual(parts.storeAndReadFirst(shop, 'short'), { text: 'short', words: [] });
  const whole = `${'x'.repeat(PartCharacters - 1)}😀${'y'.repeat(PartCharacters)}`;
  let part = parts.storeAndReadFirst(shop, whole);
  const texts = [part.text];
  for (let cursor = /"(.+)"/.exec(part.words[1] ?? '')?.[1]; cursor; cursor = /"(.+)"/.exec(part.words[1] ?? '')?.[1]) {
    assert.throws(() => parts.readNext({ documentId: 'd2' }, cursor ?? ''), ToolFailure);
    part = parts.readNext(shop, cursor);
    texts.push(part.text);
  }
  assert.deepEqual([texts.join('') === whole, texts.length, texts[0]?.length], [true, 3, PartCharacters - 1]);
  assert.equal(part.words[1], 'This is the last part.');
});

test('unknown cursors fail, and old texts are dropped for newer ones', () => {
  const parts = new TextParts();
  const cursorOf = (text: string) => /"(.+)"/.exec(parts.storeAndReadFirst(shop, text).words[1] ?? '')?.[1] ?? '';
  const first = cursorOf('x'.repeat(7_000_000));
  assert.equal(parts.readNext(shop, first).text.length, PartCharacters);
  const second = cursorOf('y'.repeat(7_000_000));
  for (const cursor of [first, '', 'x', `${second.slice(0, 8)}:99999999`, 'constructor:0'])
    assert.throws(() => parts.readNext(shop, cursor), /there is no text for this cursor/, cursor);
  assert.equal(parts.readNext(shop, second).text.charAt(0), 'y');
});

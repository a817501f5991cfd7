import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TextRanges } from './text-ranges.ts';

test('TextRanges counts each character once', () => {
  const textRanges = new TextRanges();
  const testRanges = [
    [0, 10],
    [20, 30],
    [20, 30],
    [5, 12],
    [12, 20],
    [40, 40],
    [50, 45],
    [35, 36],
  ].map(([start = 0, end = 0]) => {
    textRanges.add({ start, end });
    return textRanges.length;
  });
  assert.deepEqual(testRanges, [10, 20, 20, 22, 30, 30, 30, 31]);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import { filterAllowedFrames } from './frame-rules.ts';

const makeFrame = (frameId: number, parentFrameId: number, url: string) => ({
  frameId,
  parentFrameId,
  documentId: '',
  url,
});

function isFrameUsable(url: string, frameRules: Readonly<Record<string, unknown>>): boolean {
  return (
    filterAllowedFrames([makeFrame(0, -1, 'https://top.example/'), makeFrame(3, 0, url)], { _frames: frameRules })
      .length === 2
  );
}

test('the most specific rule for the site of a child frame decides whether tools may use the frame', () => {
  const frameRules = { '*': false, '*.shop.example': true, 'pay.shop.example': false, 'pay.shop.example:8080': true };
  for (const [url, isExpectedUsable] of [
    ['https://other.example/', false],
    ['https://shop.example/', true],
    ['https://a.b.shop.example/', true],
    ['https://pay.shop.example/x', false],
    ['https://pay.shop.example./x', false],
    ['https://pay.shop.example:8080/x', true],
    ['blob:https://other.example/1-2', false],
    ['about:blank', true],
    ['about:srcdoc', true],
    ['data:text/html,x', true],
  ] as const)
    assert.equal(isFrameUsable(url, frameRules), isExpectedUsable, url);
  assert.equal(isFrameUsable('http://[::1]:9527/', { '[::1]:9527': false }), false);
  assert.equal(isFrameUsable('http://127.0.0.1:9528/', { '127.0.0.1:9527': false }), true);
  assert.equal(isFrameUsable('http://a.example/', { 'a.example:80': false }), false);
});

test('filterAllowedFrames omits all frames inside a forbidden frame, but never the top frame', () => {
  const frames = [
    makeFrame(0, -1, 'https://bank.example/'),
    makeFrame(1, 0, 'https://bank.example/'),
    makeFrame(2, 1, 'about:srcdoc'),
    makeFrame(3, 0, 'https://shop.example/'),
  ];
  const allowedFrames = filterAllowedFrames(frames, { _frames: { 'bank.example': false } });
  assert.deepEqual(
    allowedFrames.map(({ frameId }) => frameId),
    [0, 3],
  );
  assert.equal(filterAllowedFrames(frames, {}).length, 4);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import { joinFrames } from './join-frames.ts';
import type { SnapshotResult } from './operations.ts';

// The unit test runs in Node, which has no DOM, so it fails if join-frames.ts uses the DOM.

function makeSnapshot(snapshotText: string, frames: SnapshotResult['frames'] = []): SnapshotResult {
  return {
    snapshot: 's1',
    text: snapshotText,
    title: 'T',
    url: 'https://shop.test/a?b=c#d',
    tokens: 1,
    folded: 0,
    frames,
    full: false,
  };
}

test('joinFrames inserts the text of each frame below its frame element, with a deeper indent', () => {
  const frames = [{ ref: 'e2', line: 1, index: 0, src: '' }];
  const deepFrame = { ref: 'f2e1', snapshot: makeSnapshot('link "Deep"'), children: [] };
  const inner = makeSnapshot('button "In"\niframe [ref=f2e1]', [{ ref: 'f2e1', line: 1, index: 0, src: '' }]);
  const joined = joinFrames(makeSnapshot('main\n iframe [ref=e2]\nend', frames), [
    { ref: 'e2', snapshot: inner, children: [deepFrame] },
  ]);
  assert.equal(joined, 'main\n iframe [ref=e2]\n  button "In"\n  iframe [ref=f2e1]\n   link "Deep"\nend');
});

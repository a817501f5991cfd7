import assert from 'node:assert/strict';
import test from 'node:test';
import { awaitFailure, findTool, makeBrowserCall } from '../../../test/browser-call.ts';
import { idleBrowser, makeTabFrames } from '../../../test/frames-fixture.ts';
import { runPendingPromises } from '../../../test/server.ts';
import { makeWaitingTools } from './waiting.ts';

test('a wait for the end of a text times out while the page keeps replacing its frames', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
  const topFrame = { frameId: 0, parentFrameId: -1, documentId: 'top', url: 'https://shop.example/' };
  let frameCount = 0;
  let areFramesReplaced = true;
  const frames = makeTabFrames({
    listTabFrames: () => {
      if (areFramesReplaced) frameCount++;
      return [topFrame, { ...topFrame, frameId: frameCount, parentFrameId: 0, documentId: `d${frameCount}` }];
    },
    answer: async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return { ok: true, result: { message: 'no text "Loading"', waitedMs: 0 } };
    },
  });
  const waitForTextGone = findTool(makeWaitingTools(idleBrowser, frames), 'browser_wait_for');
  const advanceTime = async () => {
    for (let i = 0; i < 60; i++) {
      for (let j = 0; j < 5; j++) await runPendingPromises();
      t.mock.timers.tick(100);
    }
  };
  const call = makeBrowserCall({ textGone: 'Loading', timeout: 3 }, { tabId: 7 });
  const failure = awaitFailure(waitForTextGone(call));
  await advanceTime();
  areFramesReplaced = false; // without the time limit, the wait succeeds here
  await advanceTime();
  assert.equal((await failure).code, 'timeout');
  const result = waitForTextGone(call);
  await advanceTime();
  assert.equal((await result).text, 'Found: textGone.');
});

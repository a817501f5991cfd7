import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeThrottledRender } from './throttled-render.ts';

test('the pause after a render is 40 times its duration, at most 1 s, and only an urgent render does not wait', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  let renderCount = 0;
  let renderMs = 10;
  const render = makeThrottledRender(
    () => {
      renderCount++;
      nowMs += renderMs;
    },
    () => nowMs,
  );
  const advance = (ms: number) => {
    nowMs += ms;
    t.mock.timers.tick(ms);
  };
  render(false);
  assert.equal(renderCount, 1, 'the first render waited');
  render(false);
  render(false);
  advance(399);
  assert.equal(renderCount, 1, 'a render ran during the pause');
  advance(1);
  assert.equal(renderCount, 2, 'the calls during the pause caused no render');
  advance(5000);
  assert.equal(renderCount, 2, 'the two calls during the pause caused two renders');
  renderMs = 500;
  render(false);
  assert.equal(renderCount, 3, 'a render after the pause waited');
  render(false);
  advance(999);
  assert.equal(renderCount, 3, 'a render ran before the longest pause had ended');
  advance(1);
  assert.equal(renderCount, 4, 'the pause was longer than 1 s');
  render(false);
  render(true);
  assert.equal(renderCount, 5, 'an urgent render waited');
  advance(5000);
  assert.equal(renderCount, 5, 'the render that the urgent render replaced ran as well');
});

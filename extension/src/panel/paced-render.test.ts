import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makePacedRender } from './paced-render.ts';

test('the panel rests forty times as long as a render took, and combines renders during the rest', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  let renderCount = 0;
  let renderMs = 10;
  const render = makePacedRender(
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
  render();
  assert.equal(renderCount, 1, 'the first render waited');
  render();
  render();
  advance(399);
  assert.equal(renderCount, 1, 'a render ran during the rest');
  advance(1);
  assert.equal(renderCount, 2, 'the requests during the rest caused no render');
  advance(5000);
  assert.equal(renderCount, 2, 'the two requests caused two renders');
  renderMs = 500;
  render();
  assert.equal(renderCount, 3, 'a render after the rest waited');
  render();
  advance(999);
  assert.equal(renderCount, 3, 'a render ran before the longest rest had ended');
  advance(1);
  assert.equal(renderCount, 4, 'the rest was longer than 1 s');
});

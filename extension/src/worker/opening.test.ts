import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { makeOpening } from './opening.ts';

const page = 'https://demo.example/start';

function makeBench(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date'] });
  const opened: string[] = [];
  const there = new Set<number>();
  const state = { window: true };
  const opening = makeOpening({
    plugins: () => [
      {
        name: 'demo',
        displayName: 'Demo',
        hash: 'h',
        script: 's',
        world: 'main',
        matches: ['https://demo.example/*'],
        excludes: ['https://demo.example/admin'],
      },
    ],
    open: async (url) => {
      if (!state.window) throw new Error('no window is open');
      opened.push(url);
      there.add(opened.length);
      return opened.length;
    },
    exists: async (tabId) => there.has(tabId),
  });
  return { opening, opened, there, state, tick: (ms: number) => t.mock.timers.tick(ms) };
}

test('calls that come together, and those that try again, get one tab', async (t) => {
  const { opening, opened, there, tick } = makeBench(t);
  assert.deepEqual(await Promise.all([opening.open(page), opening.open(page)]), [1, 1]);
  tick(9 * 60_000);
  assert.equal(await opening.open(page), 1);
  assert.equal(await opening.open(`${page}?2`), 2);
  // The person has closed it.
  there.delete(1);
  assert.deepEqual(await Promise.all([opening.open(page), opening.open(page)]), [3, 3]);
  // By now it may show anything.
  tick(10 * 60_000);
  assert.equal(await opening.open(page), 4);
  assert.equal(opened.length, 4);
});

test('nothing is opened in which no plugin works', async (t) => {
  const { opening, opened } = makeBench(t);
  for (const url of ['https://evil.example/', 'https://demo.example/admin', 'javascript:alert(1)', 'about:blank', '']) {
    await assert.rejects(opening.open(url), /no plugin works in that page/, url);
  }
  assert.deepEqual(opened, []);
});

test('one that could not be opened is tried again', async (t) => {
  const { opening, state } = makeBench(t);
  state.window = false;
  await assert.rejects(opening.open(page), /no window is open/);
  state.window = true;
  assert.equal(await opening.open(page), 1);
});

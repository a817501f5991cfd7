import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { settle } from '../../test/server.ts';
import { makeNavigating } from './navigating.ts';

function makeBench(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const tab = { loads: false };
  const started: string[] = [];
  const navigating = makeNavigating(async () => tab.loads);
  const hold = (name: string) => navigating.hold('d', () => started.push(name));
  const pass = async (ms: number) => {
    for (let past = 0; past < ms; past += 100) {
      t.mock.timers.tick(100);
      await settle();
    }
  };
  return { tab, started, navigating, hold, pass };
}

test('a call starts at once in a document that does not navigate', (t) => {
  const { started, hold } = makeBench(t);
  hold('a');
  assert.deepEqual(started, ['a']);
});

test('a navigation that brings no document, such as a download, delays a call until the tab loads no more', async (t) => {
  const { tab, started, navigating, hold, pass } = makeBench(t);
  navigating.told(1, 'd', true);
  hold('a');
  hold('b');
  tab.loads = true;
  await pass(700);
  assert.deepEqual(started, []);
  tab.loads = false;
  await pass(100);
  assert.deepEqual(started, ['a', 'b']);
});

test('a navigation that never shows delays a call by a second', async (t) => {
  const { started, navigating, hold, pass } = makeBench(t);
  navigating.told(1, 'd', true);
  hold('a');
  await pass(900);
  assert.deepEqual(started, []);
  await pass(100);
  assert.deepEqual(started, ['a']);
});

test('a navigation after a navigation is awaited as well, both for five seconds at most', async (t) => {
  const { tab, started, navigating, hold, pass } = makeBench(t);
  navigating.told(1, 'd', true);
  hold('a');
  await pass(900);
  navigating.told(1, 'd', true);
  await pass(900);
  assert.deepEqual(started, []);
  tab.loads = true;
  await pass(3100);
  assert.deepEqual(started, []);
  await pass(100);
  assert.deepEqual(started, ['a']);
});

test('a navigation that takes the place of one has its own second to show', async (t) => {
  const { tab, started, navigating, hold, pass } = makeBench(t);
  navigating.told(1, 'd', true);
  hold('a');
  tab.loads = true;
  await pass(200);
  navigating.told(1, 'd', true);
  tab.loads = false;
  await pass(900);
  assert.deepEqual(started, []);
  await pass(100);
  assert.deepEqual(started, ['a']);
});

test('a call for a document that goes never starts', async (t) => {
  const { started, navigating, hold, pass } = makeBench(t);
  navigating.told(1, 'd', true);
  hold('a');
  navigating.gone('d');
  await pass(6000);
  assert.deepEqual(started, []);
});

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { settle } from '../../../test/server.ts';
import { makeNavigating } from './navigating.ts';

function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const tab = { loads: false };
  const started: string[] = [];
  const navigating = makeNavigating(async () => tab.loads);
  const hold = (name: string) => navigating.runWhenSettled('d', () => started.push(name));
  const advanceTime = async (ms: number) => {
    for (let past = 0; past < ms; past += 100) {
      t.mock.timers.tick(100);
      await settle();
    }
  };
  return { tab, started, navigating, hold, advanceTime };
}

test('a call starts at once in a document that does not navigate', (t) => {
  const { started, hold } = makeFixture(t);
  hold('a');
  assert.deepEqual(started, ['a']);
});

test('a navigation without a new document, such as a download, delays a call until the tab stops loading', async (t) => {
  const { tab, started, navigating, hold, advanceTime } = makeFixture(t);
  navigating.setNavigating(1, 'd', true);
  hold('a');
  hold('b');
  tab.loads = true;
  await advanceTime(700);
  assert.deepEqual(started, []);
  tab.loads = false;
  await advanceTime(100);
  assert.deepEqual(started, ['a', 'b']);
});

test('a navigation during which the tab never loads delays a call by 1 s', async (t) => {
  const { started, navigating, hold, advanceTime } = makeFixture(t);
  navigating.setNavigating(1, 'd', true);
  hold('a');
  await advanceTime(900);
  assert.deepEqual(started, []);
  await advanceTime(100);
  assert.deepEqual(started, ['a']);
});

test('two navigations in a row delay a call by at most 5 s together', async (t) => {
  const { tab, started, navigating, hold, advanceTime } = makeFixture(t);
  navigating.setNavigating(1, 'd', true);
  hold('a');
  await advanceTime(900);
  navigating.setNavigating(1, 'd', true);
  await advanceTime(900);
  assert.deepEqual(started, []);
  tab.loads = true;
  await advanceTime(3100);
  assert.deepEqual(started, []);
  await advanceTime(100);
  assert.deepEqual(started, ['a']);
});

test('a navigation that replaces another one has its own second to start loading', async (t) => {
  const { tab, started, navigating, hold, advanceTime } = makeFixture(t);
  navigating.setNavigating(1, 'd', true);
  hold('a');
  tab.loads = true;
  await advanceTime(200);
  navigating.setNavigating(1, 'd', true);
  tab.loads = false;
  await advanceTime(900);
  assert.deepEqual(started, []);
  await advanceTime(100);
  assert.deepEqual(started, ['a']);
});

test('a call for a removed document never starts', async (t) => {
  const { started, navigating, hold, advanceTime } = makeFixture(t);
  navigating.setNavigating(1, 'd', true);
  hold('a');
  navigating.forget('d');
  await advanceTime(6000);
  assert.deepEqual(started, []);
});

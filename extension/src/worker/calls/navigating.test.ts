import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { runPendingPromises } from '../../../test/server.ts';
import { makeNavigatingDocuments } from './navigating.ts';

function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const tab = { loads: false };
  const startedCalls: string[] = [];
  const navigatingDocuments = makeNavigatingDocuments(async () => tab.loads);
  const startAfterNavigation = (name: string) =>
    navigatingDocuments.runAfterNavigation('d', () => startedCalls.push(name));
  const advanceTime = async (ms: number) => {
    for (let elapsedMs = 0; elapsedMs < ms; elapsedMs += 100) {
      t.mock.timers.tick(100);
      await runPendingPromises();
    }
  };
  return {
    tab,
    startedCalls,
    navigatingDocuments,
    startWhenSettled: startAfterNavigation,
    advanceTime,
  };
}

test('a call starts at once in a document that is not navigating', (t) => {
  const { startedCalls, startWhenSettled } = makeFixture(t);
  startWhenSettled('a');
  assert.deepEqual(startedCalls, ['a']);
});

test('a navigation without a new document, such as a download, delays a call until the tab stops loading', async (t) => {
  const { tab, startedCalls, navigatingDocuments, startWhenSettled, advanceTime } = makeFixture(t);
  navigatingDocuments.setNavigating(1, 'd', true);
  startWhenSettled('a');
  startWhenSettled('b');
  tab.loads = true;
  await advanceTime(700);
  assert.deepEqual(startedCalls, []);
  tab.loads = false;
  await advanceTime(100);
  assert.deepEqual(startedCalls, ['a', 'b']);
});

test('a navigation delays a call by only 1 s if the tab never starts to load', async (t) => {
  const { startedCalls, navigatingDocuments, startWhenSettled, advanceTime } = makeFixture(t);
  navigatingDocuments.setNavigating(1, 'd', true);
  startWhenSettled('a');
  await advanceTime(900);
  assert.deepEqual(startedCalls, []);
  await advanceTime(100);
  assert.deepEqual(startedCalls, ['a']);
});

test('two consecutive navigations delay a call by at most 5 s in total', async (t) => {
  const { tab, startedCalls, navigatingDocuments, startWhenSettled, advanceTime } = makeFixture(t);
  navigatingDocuments.setNavigating(1, 'd', true);
  startWhenSettled('a');
  await advanceTime(900);
  navigatingDocuments.setNavigating(1, 'd', true);
  await advanceTime(900);
  assert.deepEqual(startedCalls, []);
  tab.loads = true;
  await advanceTime(3100);
  assert.deepEqual(startedCalls, []);
  await advanceTime(100);
  assert.deepEqual(startedCalls, ['a']);
});

test('a navigation that replaces another navigation has a new time limit of 1 s to start loading', async (t) => {
  const { tab, startedCalls, navigatingDocuments, startWhenSettled, advanceTime } = makeFixture(t);
  navigatingDocuments.setNavigating(1, 'd', true);
  startWhenSettled('a');
  tab.loads = true;
  await advanceTime(200);
  navigatingDocuments.setNavigating(1, 'd', true);
  tab.loads = false;
  await advanceTime(900);
  assert.deepEqual(startedCalls, []);
  await advanceTime(100);
  assert.deepEqual(startedCalls, ['a']);
});

test('a call for a removed document never starts', async (t) => {
  const { startedCalls, navigatingDocuments, startWhenSettled, advanceTime } = makeFixture(t);
  navigatingDocuments.setNavigating(1, 'd', true);
  startWhenSettled('a');
  navigatingDocuments.forgetDocument('d');
  await advanceTime(6000);
  assert.deepEqual(startedCalls, []);
});

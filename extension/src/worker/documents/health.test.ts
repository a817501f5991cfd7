import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { runPendingPromises } from '../../../test/server.ts';
import type { Doc } from './docs.ts';
import { HealthMonitor } from './health.ts';

function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
  const pingedTimes: number[] = [];
  const healthChanges: boolean[] = [];
  const page = { busy: true, frozen: false };
  const doc: Doc = {
    tabId: 1,
    frameId: 0,
    documentId: 'd',
    url: '',
    post: (message) => {
      if (message.op === 'ping') pingedTimes.push(message.ping);
    },
  };
  const health = new HealthMonitor({
    isBusy: () => page.busy,
    isFrozen: async () => page.frozen,
  });
  health.changed.addListener(() => healthChanges.push(health.isSilent('d')));
  health.onDocumentConnected(doc);
  const advanceTime = async (ms: number) => {
    t.mock.timers.tick(ms);
    await runPendingPromises();
  };
  return { health, doc, pingedTimes, healthChanges, page, advanceTime };
}

test('the worker pings a document every second while calls run in it, and not otherwise', async (t) => {
  const { health, doc, pingedTimes, healthChanges, page, advanceTime } = makeFixture(t);
  for (let i = 1; i <= 5; i++) {
    await advanceTime(1000);
    assert.equal(pingedTimes.at(-1), i);
    health.recordMessage(doc, i);
  }
  health.recordMessage(doc);
  page.busy = false;
  await advanceTime(60_000);
  assert.deepEqual([pingedTimes.length, healthChanges], [5, []]);
});

test('the worker pings a busy document 1 s after the last message from the document', async (t) => {
  const { health, doc, pingedTimes, advanceTime } = makeFixture(t);
  await advanceTime(900);
  health.prepareCall(doc);
  health.recordMessage(doc);
  await advanceTime(999);
  assert.deepEqual(pingedTimes, []);
  await advanceTime(1);
  assert.deepEqual(pingedTimes, [1]);
});

test('a document that does not answer pings for 5 s counts as silent until it answers', async (t) => {
  const { health, doc, healthChanges, advanceTime } = makeFixture(t);
  await advanceTime(1000);
  await advanceTime(4999);
  assert.equal(health.isSilent('d'), false);
  await advanceTime(1);
  assert.equal(health.isSilent('d'), true);
  health.recordMessage(doc); // the document sent this message before the ping
  assert.equal(health.isSilent('d'), true);
  health.recordMessage(doc, 1);
  assert.deepEqual([health.isSilent('d'), healthChanges], [false, [true, false]]);
});

test('a call has arrived once the preceding ping is answered; after a recent message, it needs no ping', async (t) => {
  const { health, doc, pingedTimes, page, advanceTime } = makeFixture(t);
  assert.equal(health.prepareCall(doc), 0);
  page.busy = false;
  await advanceTime(5000);
  assert.deepEqual([health.prepareCall(doc), health.prepareCall(doc), pingedTimes], [1, 1, [1]]);
  assert.equal(health.hasAnswered('d', 1), false);
  health.recordMessage(doc, 7); // no ping with number 7 was sent
  assert.equal(health.hasAnswered('d', 1), false);
  health.recordMessage(doc, 1);
  assert.equal(health.hasAnswered('d', 1), true);
  assert.equal(health.prepareCall(doc), 0);
});

test('a frozen tab, a sleeping machine and a new port do not make a document silent', async (t) => {
  const { health, doc, page, advanceTime, healthChanges } = makeFixture(t);
  page.frozen = true;
  await advanceTime(1000);
  await advanceTime(60_000);
  page.frozen = false;
  health.onDocumentConnected(doc);
  await advanceTime(1000);
  t.mock.timers.setTime(Date.now() + 60_000); // the machine was asleep, so all timers fire late
  await runPendingPromises();
  assert.deepEqual(healthChanges, []);
  await advanceTime(1); // after the machine wakes up, the delayed timers fire
  assert.deepEqual(healthChanges, []);
  await advanceTime(5000);
  assert.deepEqual(healthChanges, [true]);
  health.onDocumentConnected(doc);
  assert.equal(health.isSilent('d'), false);
  health.onDocumentDisconnected('d');
  await advanceTime(60_000);
  assert.deepEqual(healthChanges, [true]);
});

test('waitForAnswer sends one ping at a time and resolves within its limit', async (t) => {
  const { health, doc, pingedTimes, page, advanceTime } = makeFixture(t);
  page.busy = false;
  const healthAnswers: boolean[] = [];
  const askHealth = () => void health.waitForAnswer(doc, 1000).then((answer) => healthAnswers.push(answer));
  askHealth();
  askHealth();
  assert.deepEqual(pingedTimes, [1]);
  await advanceTime(999);
  health.recordMessage(doc, 1);
  await advanceTime(0);
  assert.deepEqual(healthAnswers, [true, true]);
  askHealth();
  await advanceTime(1000);
  assert.deepEqual(
    [pingedTimes, healthAnswers],
    [
      [1, 2],
      [true, true, false],
    ],
  );
  health.recordMessage(doc, 2);
  await advanceTime(10_000);
  assert.deepEqual([healthAnswers.length, health.isSilent('d')], [3, false]);
});

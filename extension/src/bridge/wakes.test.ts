import assert from 'node:assert/strict';
import test from 'node:test';
import type { BridgeToWorkerMessage } from '../port-message.ts';
import type { Host } from './hosts.ts';
import { makeWakeRequests } from './wakes.ts';

function setUpWakeRequests() {
  const pageState = { now: 1000, visible: false, port: true };
  const postedMessages: BridgeToWorkerMessage[] = [];
  const sentWakes: string[] = [];
  const host = (plugin: string): Host => ({
    plugin,
    hash: 'h',
    sendText: (hostMessageText) => sentWakes.push(`${plugin} ${hostMessageText}`),
  });
  const wakeRequests = makeWakeRequests({
    post: (postedMessage) => {
      if (pageState.port) postedMessages.push(postedMessage);
      return pageState.port;
    },
    isVisible: () => pageState.visible,
    nowMs: () => pageState.now,
  });
  const takeWakeRequests = () =>
    postedMessages
      .splice(0)
      .map((postedMessage) => (postedMessage.op === 'scheduleWake' ? postedMessage.ms : postedMessage.op));
  return {
    pageState,
    wokenPlugins: sentWakes,
    wakeRequests,
    takeWakeRequests,
    a: host('a'),
    b: host('b'),
  };
}

test('a hidden document asks the worker to wake it at its next timer, and a visible document does not', () => {
  const {
    pageState,
    wokenPlugins,
    wakeRequests,
    takeWakeRequests,
    a: firstPlugin,
    b: secondPlugin,
  } = setUpWakeRequests();
  wakeRequests.setTimer(firstPlugin, 500.2);
  wakeRequests.setTimer(secondPlugin, 700);
  assert.deepEqual(takeWakeRequests(), [501]);
  wakeRequests.setTimer(secondPlugin, 100);
  assert.deepEqual(takeWakeRequests(), [100]);
  pageState.now = 1100;
  wakeRequests.wake();
  assert.deepEqual(wokenPlugins.splice(0), ['b ["wake"]']);
  assert.deepEqual(takeWakeRequests(), [401]);
  pageState.visible = true;
  pageState.now = 1501;
  wakeRequests.wake();
  wakeRequests.setTimer(firstPlugin, 50);
  assert.deepEqual([wokenPlugins, takeWakeRequests()], [['a ["wake"]'], []]);
  pageState.visible = false;
  wakeRequests.onVisibilityChanged();
  assert.deepEqual(takeWakeRequests(), [50]);
});

test('a host without pending timers gets no wake message', () => {
  const { pageState, wokenPlugins, wakeRequests, a: firstPlugin } = setUpWakeRequests();
  wakeRequests.setTimer(firstPlugin, 10);
  wakeRequests.setTimer(firstPlugin, -1);
  pageState.now = 2000;
  wakeRequests.wake();
  assert.deepEqual(wokenPlugins, []);
});

test('a hidden page gets wake messages at least 4 ms apart', () => {
  const { pageState, wakeRequests, takeWakeRequests, a: firstPlugin } = setUpWakeRequests();
  let messageCount = 0;
  for (let i = 0; i < 1000; i++) {
    wakeRequests.setTimer(firstPlugin, 0);
    for (const ms of takeWakeRequests()) {
      messageCount++;
      pageState.now += Number(ms);
      wakeRequests.wake();
    }
  }
  assert.equal(messageCount, 1000);
  assert.ok(pageState.now - 1000 >= 4000);
});

test('the bridge repeats its wake request on a new port', () => {
  const { pageState, wakeRequests, takeWakeRequests, a: firstPlugin } = setUpWakeRequests();
  wakeRequests.setTimer(firstPlugin, 1000);
  assert.deepEqual(takeWakeRequests(), [1000]);
  pageState.port = false;
  wakeRequests.onPortConnected();
  pageState.port = true;
  pageState.now = 1400;
  wakeRequests.onPortConnected();
  assert.deepEqual(takeWakeRequests(), [600]);
});

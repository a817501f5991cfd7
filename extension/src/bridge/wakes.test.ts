import assert from 'node:assert/strict';
import test from 'node:test';
import type { FromBridge } from '../port-message.ts';
import type { Host } from './hosts.ts';
import { makeWakeRequests } from './wakes.ts';

function setUpWakes() {
  const state = { now: 1000, visible: false, port: true };
  const posted: FromBridge[] = [];
  const woken: string[] = [];
  const host = (plugin: string): Host => ({ plugin, hash: 'h', send: (text) => woken.push(`${plugin} ${text}`) });
  const wakes = makeWakeRequests({
    post: (message) => {
      if (state.port) posted.push(message);
      return state.port;
    },
    isVisible: () => state.visible,
    now: () => state.now,
  });
  const asked = () => posted.splice(0).map((message) => (message.op === 'scheduleWake' ? message.ms : message.op));
  return { state, woken, wakes, asked, a: host('a'), b: host('b') };
}

test('a hidden document requests its next wake, a visible one does not', () => {
  const { state, woken, wakes, asked, a, b } = setUpWakes();
  wakes.setTimer(a, 500.2);
  wakes.setTimer(b, 700);
  assert.deepEqual(asked(), [501]);
  wakes.setTimer(b, 100);
  assert.deepEqual(asked(), [100]);
  state.now = 1100;
  wakes.wake();
  assert.deepEqual(woken.splice(0), ['b ["wake"]']);
  assert.deepEqual(asked(), [401]);
  state.visible = true;
  state.now = 1501;
  wakes.wake();
  wakes.setTimer(a, 50);
  assert.deepEqual([woken, asked()], [['a ["wake"]'], []]);
  state.visible = false;
  wakes.onVisibilityChanged();
  assert.deepEqual(asked(), [50]);
});

test('a host without timers gets no wake', () => {
  const { state, woken, wakes, a } = setUpWakes();
  wakes.setTimer(a, 10);
  wakes.setTimer(a, -1);
  state.now = 2000;
  wakes.wake();
  assert.deepEqual(woken, []);
});

test('wakes are at least 4 ms apart', () => {
  const { state, wakes, asked, a } = setUpWakes();
  let messages = 0;
  for (let i = 0; i < 1000; i++) {
    wakes.setTimer(a, 0);
    for (const ms of asked()) {
      messages++;
      state.now += Number(ms);
      wakes.wake();
    }
  }
  assert.equal(messages, 1000);
  assert.ok(state.now - 1000 >= 4000);
});

test('a new port requests the wake again', () => {
  const { state, wakes, asked, a } = setUpWakes();
  wakes.setTimer(a, 1000);
  assert.deepEqual(asked(), [1000]);
  state.port = false;
  wakes.onPortConnected();
  state.port = true;
  state.now = 1400;
  wakes.onPortConnected();
  assert.deepEqual(asked(), [600]);
});

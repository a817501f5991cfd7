import assert from 'node:assert/strict';
import test from 'node:test';
import { StateWatch } from './state-watch.ts';

test('StateWatch subscribes while a consumer needs the state, and subscribes again for the first panel', () => {
  const sentStates: boolean[] = [];
  const stateWatch = new StateWatch((on) => sentStates.push(on));
  stateWatch.resend();
  stateWatch.setConsumer('notifications', false);
  assert.deepEqual(sentStates.splice(0), []);
  stateWatch.setConsumer('notifications', true);
  stateWatch.setConsumer('notifications', true);
  assert.deepEqual(sentStates.splice(0), [true]);
  stateWatch.setConsumer('panels', true);
  assert.deepEqual(sentStates.splice(0), [true], 'the first panel must cause a new subscription');
  stateWatch.setConsumer('notifications', false);
  stateWatch.resend();
  assert.deepEqual(sentStates.splice(0), [true]);
  stateWatch.setConsumer('panels', false);
  assert.deepEqual([sentStates, stateWatch.isOn], [[false], false]);
});

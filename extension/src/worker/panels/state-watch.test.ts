import assert from 'node:assert/strict';
import test from 'node:test';
import { StateWatch } from './state-watch.ts';

test('StateWatch subscribes while a consumer needs the state, and subscribes again for the first panel', () => {
  const sentStates: boolean[] = [];
  const stateWatch = new StateWatch((on) => sentStates.push(on));
  stateWatch.resend();
  stateWatch.setConsumerActive('notifications', false);
  assert.deepEqual(sentStates.splice(0), []);
  stateWatch.setConsumerActive('notifications', true);
  stateWatch.setConsumerActive('notifications', true);
  assert.deepEqual(sentStates.splice(0), [true]);
  stateWatch.setConsumerActive('panels', true);
  assert.deepEqual(sentStates.splice(0), [true], 'the first panel must cause a new subscription');
  stateWatch.setConsumerActive('notifications', false);
  stateWatch.resend();
  assert.deepEqual(sentStates.splice(0), [true]);
  stateWatch.setConsumerActive('panels', false);
  assert.deepEqual([sentStates, stateWatch.isOn], [[false], false]);
});

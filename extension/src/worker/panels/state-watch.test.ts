import assert from 'node:assert/strict';
import test from 'node:test';
import { StateWatch } from './state-watch.ts';

test('StateWatch subscribes while a part needs the state, and resubscribes for the first panel', () => {
  const sent: boolean[] = [];
  const watch = new StateWatch((on) => sent.push(on));
  watch.resend();
  watch.setUser('notifications', false);
  assert.deepEqual(sent.splice(0), []);
  watch.setUser('notifications', true);
  watch.setUser('notifications', true);
  assert.deepEqual(sent.splice(0), [true]);
  watch.setUser('panels', true);
  assert.deepEqual(sent.splice(0), [true], 'the whole state for the panel');
  watch.setUser('notifications', false);
  watch.resend();
  assert.deepEqual(sent.splice(0), [true]);
  watch.setUser('panels', false);
  assert.deepEqual([sent, watch.isOn], [[false], false]);
});

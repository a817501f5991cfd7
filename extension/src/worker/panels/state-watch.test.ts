import assert from 'node:assert/strict';
import test from 'node:test';
import { StateWatch } from './state-watch.ts';

test('StateWatch subscribes while a part needs the state, and resubscribes for the first panel', () => {
  const sent: boolean[] = [];
  const watch = new StateWatch((on) => sent.push(on));
  watch.resend();
  watch.setConsumer('notifications', false);
  assert.deepEqual(sent.splice(0), []);
  watch.setConsumer('notifications', true);
  watch.setConsumer('notifications', true);
  assert.deepEqual(sent.splice(0), [true]);
  watch.setConsumer('panels', true);
  assert.deepEqual(sent.splice(0), [true], 'the whole state for the panel');
  watch.setConsumer('notifications', false);
  watch.resend();
  assert.deepEqual(sent.splice(0), [true]);
  watch.setConsumer('panels', false);
  assert.deepEqual([sent, watch.isOn], [[false], false]);
});

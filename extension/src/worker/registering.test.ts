import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { makeRegistering } from './registering.ts';

function makeBench(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date'], now: 1000 });
  const told: number[] = [];
  const registering = makeRegistering((fromMs) => told.push(fromMs));
  const change = registering.noted(async () => undefined);
  return { registering, change, told };
}

test('what a sync changes counts from the first change to the last adapter that was missing', (t) => {
  const { registering, change, told } = makeBench(t);
  registering.synced([]);
  assert.deepEqual(told, []);
  t.mock.timers.setTime(2000);
  void change();
  t.mock.timers.setTime(3000);
  registering.synced(['a', 'b']);
  void change();
  registering.taken('a');
  registering.taken('b');
  assert.deepEqual(told, [2000, 2000, 2000]);
  // From here on nothing is missing.
  registering.synced([]);
  t.mock.timers.setTime(4000);
  void change();
  registering.synced([]);
  assert.deepEqual(told, [2000, 2000, 2000, 4000]);
});

test('a new worker, and an extension that was installed anew, may have been between two registrations', (t) => {
  const { registering, change, told } = makeBench(t);
  t.mock.timers.setTime(5000);
  void change();
  registering.synced([]);
  assert.deepEqual(told, [1000]);
  t.mock.timers.setTime(6000);
  registering.cleared();
  t.mock.timers.setTime(7000);
  void change();
  registering.synced([]);
  assert.deepEqual(told, [1000, 6000]);
});

test('an adapter that a later sync does not want any more is not waited for', (t) => {
  const { registering, change, told } = makeBench(t);
  void change();
  registering.synced(['a']);
  registering.synced([]);
  t.mock.timers.setTime(9000);
  void change();
  registering.synced([]);
  assert.deepEqual(told, [1000, 1000, 9000]);
});

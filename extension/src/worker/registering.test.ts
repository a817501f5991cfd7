import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { makeRegistering } from './registering.ts';

function makeBench(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date'], now: 10_000 });
  const spans: number[] = [];
  const registering = makeRegistering((fromMs) => spans.push(fromMs));
  const change = registering.noted(async (_scripts: readonly string[]) => undefined);
  return { registering, change, spans };
}

test('what a sync changes counts from some time before the first change', (t) => {
  const { registering, change, spans } = makeBench(t);
  registering.settled();
  assert.deepEqual([spans, registering.pending], [[], false]);
  t.mock.timers.setTime(20_000);
  void change([]);
  assert.equal(registering.pending, false, 'nothing was registered');
  void change(['a']);
  t.mock.timers.setTime(30_000);
  void change(['b']);
  assert.equal(registering.pending, true);
  registering.settled();
  assert.deepEqual([spans, registering.pending], [[17_000], false]);
  registering.settled();
  assert.deepEqual(spans, [17_000]);
});

test('a new worker, and an extension that was installed just now, may have been between two registrations', (t) => {
  const { registering, change, spans } = makeBench(t);
  t.mock.timers.setTime(15_000);
  void change(['a']);
  registering.settled();
  assert.deepEqual(spans, [7000]);
  t.mock.timers.setTime(20_000);
  registering.cleared();
  t.mock.timers.setTime(30_000);
  void change(['a']);
  registering.settled();
  assert.deepEqual(spans, [7000, 17_000]);
});

test('no document of a browser that has just started can have had anything, also if all is registered', (t) => {
  const { registering, spans } = makeBench(t);
  registering.began();
  registering.settled();
  assert.deepEqual(spans, [0]);
});

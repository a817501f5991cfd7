import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { makeRegistering, type Registrations } from './registering.ts';

function makeBench(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date'], now: 10_000 });
  const reports: Registrations[] = [];
  const registering = makeRegistering((registrations) => reports.push(registrations));
  const change = registering.noted(async (_scripts: readonly string[]) => undefined);
  return { registering, change, reports };
}

test('what a sync changes counts from some time before the first change', (t) => {
  const { registering, change, reports } = makeBench(t);
  registering.settled();
  assert.deepEqual([reports, registering.pending], [[], false]);
  t.mock.timers.setTime(20_000);
  void change([]);
  assert.equal(registering.pending, false, 'nothing was registered');
  void change(['a']);
  t.mock.timers.setTime(30_000);
  void change(['b']);
  assert.equal(registering.pending, true);
  registering.settled();
  assert.deepEqual([reports, registering.pending], [[{ fromMs: 17_000, firstMs: 20_000 }], false]);
  registering.settled();
  assert.equal(reports.length, 1);
});

test('a new worker, and an extension that was installed just now, may have been between two registrations', (t) => {
  const { registering, change, reports } = makeBench(t);
  t.mock.timers.setTime(15_000);
  void change(['a']);
  registering.settled();
  assert.deepEqual(reports, [{ fromMs: 7000, firstMs: 15_000 }]);
  t.mock.timers.setTime(20_000);
  registering.cleared();
  t.mock.timers.setTime(30_000);
  void change(['a']);
  registering.settled();
  assert.deepEqual(reports.slice(1), [{ fromMs: 17_000, firstMs: 30_000 }]);
});

test('no document of a browser that has just started can have had anything, also if all is registered', (t) => {
  const { registering, reports } = makeBench(t);
  registering.began();
  registering.settled();
  assert.deepEqual(reports, [{ fromMs: 0, firstMs: undefined }]);
});

test('what every document needs is reported before the rest is registered, and the rest counts from the same time', (t) => {
  const { registering, change, reports } = makeBench(t);
  registering.began();
  registering.based();
  void change(['base']);
  t.mock.timers.setTime(11_000);
  registering.based();
  assert.equal(registering.pending, true);
  void change(['adapter']);
  registering.settled();
  const [nothing, ...both] = reports;
  assert.deepEqual(nothing, { fromMs: 0, firstMs: undefined });
  assert.deepEqual(both, [
    { fromMs: 0, firstMs: 10_000 },
    { fromMs: 0, firstMs: 10_000 },
  ]);
});

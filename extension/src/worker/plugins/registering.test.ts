import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { type PendingRegistrations, RegistrationTracker } from './registering.ts';

function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date'], now: 10_000 });
  const reports: PendingRegistrations[] = [];
  const registrationTracker = new RegistrationTracker();
  registrationTracker.registered.addListener((registrations) => reports.push(registrations));
  const changeScripts = registrationTracker.track(async (_scripts: readonly string[]) => undefined);
  return { registrationTracker, changeScripts, reports };
}

test('changes of a sync count from shortly before the first change', (t) => {
  const { registrationTracker, changeScripts, reports } = makeFixture(t);
  registrationTracker.recordSettled();
  assert.deepEqual([reports, registrationTracker.isActive], [[], false]);
  t.mock.timers.setTime(20_000);
  void changeScripts([]);
  assert.equal(registrationTracker.isActive, false, 'nothing was registered');
  void changeScripts(['a']);
  t.mock.timers.setTime(30_000);
  void changeScripts(['b']);
  assert.equal(registrationTracker.isActive, true);
  registrationTracker.recordSettled();
  assert.deepEqual([reports, registrationTracker.isActive], [[{ fromMs: 17_000, firstMs: 20_000 }], false]);
  registrationTracker.recordSettled();
  assert.equal(reports.length, 1);
});

test('a new worker or extension may have been interrupted between two registrations', (t) => {
  const { registrationTracker, changeScripts, reports } = makeFixture(t);
  t.mock.timers.setTime(15_000);
  void changeScripts(['a']);
  registrationTracker.recordSettled();
  assert.deepEqual(reports, [{ fromMs: 7000, firstMs: 15_000 }]);
  t.mock.timers.setTime(20_000);
  registrationTracker.recordCleared();
  t.mock.timers.setTime(30_000);
  void changeScripts(['a']);
  registrationTracker.recordSettled();
  assert.deepEqual(reports.slice(1), [{ fromMs: 17_000, firstMs: 30_000 }]);
});

test('documents from before a browser start have no scripts, even if everything is registered', (t) => {
  const { registrationTracker, reports } = makeFixture(t);
  registrationTracker.recordBrowserStart();
  registrationTracker.recordSettled();
  assert.deepEqual(reports, [{ fromMs: 0, firstMs: undefined }]);
});

test('the scripts that every document needs are reported first, and the rest counts from the same time', (t) => {
  const { registrationTracker, changeScripts, reports } = makeFixture(t);
  registrationTracker.recordBrowserStart();
  registrationTracker.recordBases();
  void changeScripts(['base']);
  t.mock.timers.setTime(11_000);
  registrationTracker.recordBases();
  assert.equal(registrationTracker.isActive, true);
  void changeScripts(['adapter']);
  registrationTracker.recordSettled();
  const [firstReport, ...laterReports] = reports;
  assert.deepEqual(firstReport, { fromMs: 0, firstMs: undefined });
  assert.deepEqual(laterReports, [
    { fromMs: 0, firstMs: 10_000 },
    { fromMs: 0, firstMs: 10_000 },
  ]);
});

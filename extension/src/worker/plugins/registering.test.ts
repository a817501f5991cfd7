import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { type PendingRegistrations, RegistrationTracker } from './registering.ts';

function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date'], now: 10_000 });
  const reports: PendingRegistrations[] = [];
  const registrationTracker = new RegistrationTracker();
  registrationTracker.registrationSignal.addListener((registrations) => reports.push(registrations));
  const changeScripts = registrationTracker.wrapRegistrationFunction(async (_scripts: readonly string[]) => undefined);
  return { registrationTracker, changeScripts, reports };
}

test('a sync reports a period that starts shortly before its first registration', (t) => {
  const { registrationTracker, changeScripts, reports } = makeFixture(t);
  registrationTracker.recordAllRegistered();
  assert.deepEqual([reports, registrationTracker.isActive], [[], false]);
  t.mock.timers.setTime(20_000);
  void changeScripts([]);
  assert.equal(registrationTracker.isActive, false, 'a change without scripts must have no effect');
  void changeScripts(['a']);
  t.mock.timers.setTime(30_000);
  void changeScripts(['b']);
  assert.equal(registrationTracker.isActive, true);
  registrationTracker.recordAllRegistered();
  assert.deepEqual([reports, registrationTracker.isActive], [[{ fromMs: 17_000, firstMs: 20_000 }], false]);
  registrationTracker.recordAllRegistered();
  assert.equal(reports.length, 1);
});

test('after a restart of the worker or the extension, the reported period includes earlier registrations', (t) => {
  const { registrationTracker, changeScripts, reports } = makeFixture(t);
  t.mock.timers.setTime(15_000);
  void changeScripts(['a']);
  registrationTracker.recordAllRegistered();
  assert.deepEqual(reports, [{ fromMs: 7000, firstMs: 15_000 }]);
  t.mock.timers.setTime(20_000);
  registrationTracker.recordScriptsCleared();
  t.mock.timers.setTime(30_000);
  void changeScripts(['a']);
  registrationTracker.recordAllRegistered();
  assert.deepEqual(reports.slice(1), [{ fromMs: 17_000, firstMs: 30_000 }]);
});

test('after a browser start, all open documents count as documents without scripts', (t) => {
  const { registrationTracker, reports } = makeFixture(t);
  registrationTracker.recordBrowserStart();
  registrationTracker.recordAllRegistered();
  assert.deepEqual(reports, [{ fromMs: 0, firstMs: undefined }]);
});

test('the base scripts are reported first, and the remaining scripts later with the same start time', (t) => {
  const { registrationTracker, changeScripts, reports } = makeFixture(t);
  registrationTracker.recordBrowserStart();
  registrationTracker.recordBaseScriptsRegistered();
  void changeScripts(['base']);
  t.mock.timers.setTime(11_000);
  registrationTracker.recordBaseScriptsRegistered();
  assert.equal(registrationTracker.isActive, true);
  void changeScripts(['adapter']);
  registrationTracker.recordAllRegistered();
  const [firstReport, ...laterReports] = reports;
  assert.deepEqual(firstReport, { fromMs: 0, firstMs: undefined });
  assert.deepEqual(laterReports, [
    { fromMs: 0, firstMs: 10_000 },
    { fromMs: 0, firstMs: 10_000 },
  ]);
});

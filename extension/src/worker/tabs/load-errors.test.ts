import assert from 'node:assert/strict';
import test from 'node:test';
import { TabLoadErrors } from './load-errors.ts';

test('a load error lasts until the tab shows another page', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 5000 });
  let changeCount = 0;
  const errors = new TabLoadErrors();
  errors.changed.addListener(() => {
    changeCount++;
  });
  errors.recordFailure(1, 'net::ERR_CONNECTION_REFUSED');
  assert.deepEqual(errors.getError(1), { name: 'net::ERR_CONNECTION_REFUSED', atMs: 5000 });
  assert.equal(errors.getError(2), undefined);
  // Chrome reports the previous error again at a later time, which counts as a new error.
  t.mock.timers.tick(10);
  errors.recordFailure(1, 'net::ERR_CONNECTION_REFUSED');
  assert.deepEqual([errors.getError(1)?.atMs, changeCount], [5010, 2]);
  errors.recordPageShown(1);
  errors.recordPageShown(1);
  assert.deepEqual([errors.getError(1), changeCount], [undefined, 3]);
});

test('a cancelled navigation leaves the tab with its current page', () => {
  const errors = new TabLoadErrors();
  errors.recordFailure(1, 'net::ERR_ABORTED');
  assert.equal(errors.getError(1), undefined);
  errors.recordFailure(1, 'net::ERR_NAME_NOT_RESOLVED');
  errors.recordFailure(1, 'net::ERR_ABORTED');
  assert.equal(errors.getError(1)?.name, 'net::ERR_NAME_NOT_RESOLVED');
});

test('a site that has not answered for 8 s is a load error until it answers or the tab requests it again', (t) => {
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 0 });
  let changeCount = 0;
  const errors = new TabLoadErrors();
  errors.changed.addListener(() => {
    changeCount++;
  });
  const advanceTime = (ms: number) => {
    t.mock.timers.tick(ms);
    return errors.getError(1);
  };
  errors.recordRequest(1);
  assert.equal(advanceTime(7999), undefined);
  assert.deepEqual([advanceTime(1), changeCount], [{ name: 'no_answer', atMs: 8000 }, 1]);
  errors.recordPageShown(1);
  assert.deepEqual([advanceTime(60_000), changeCount], [undefined, 2]);
  // The wait for a site ends with a response, a failure or a cancelled navigation.
  for (const loadEnd of [
    (id: number) => errors.recordPageShown(id),
    (id: number) => errors.recordFailure(id, 'net::ERR_ABORTED'),
  ]) {
    errors.recordRequest(1);
    advanceTime(7000);
    loadEnd(1);
    assert.equal(advanceTime(60_000), undefined);
  }
  errors.recordRequest(1);
  errors.recordFailure(1, 'net::ERR_CONNECTION_RESET');
  assert.equal(advanceTime(60_000)?.name, 'net::ERR_CONNECTION_RESET');
  // Chrome does not report when a new tab starts to load, so the worker calls only startResponseTimer, not
  // recordRequest.
  errors.recordFailure(1, 'net::ERR_CONNECTION_RESET');
  errors.startResponseTimer(1);
  advanceTime(5000);
  errors.startResponseTimer(1);
  assert.equal(advanceTime(3000)?.name, 'no_answer');
  const changeCountBefore = changeCount;
  errors.startResponseTimer(1);
  advanceTime(60_000);
  assert.equal(changeCount, changeCountBefore);
  errors.recordPageShown(1);
  errors.recordFailure(1, 'net::ERR_CONNECTION_RESET');
  // The user reloads a tab that shows an error page, gets no response, stops the reload, and reloads again.
  errors.recordRequest(1);
  assert.equal(advanceTime(7999)?.name, 'net::ERR_CONNECTION_RESET');
  assert.equal(advanceTime(1)?.name, 'no_answer');
  errors.recordRequest(1);
  assert.equal(advanceTime(7999), undefined);
  assert.equal(advanceTime(1)?.name, 'no_answer');
  errors.recordFailure(1, 'net::ERR_ABORTED');
  assert.equal(advanceTime(60_000), undefined);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import { LoadErrors } from './load-errors.ts';

test('an error lasts until the tab shows another page', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 5000 });
  let changes = 0;
  const errors = new LoadErrors();
  errors.changed.addListener(() => {
    changes++;
  });
  errors.failed(1, 'net::ERR_CONNECTION_REFUSED');
  assert.deepEqual(errors.of(1), { name: 'net::ERR_CONNECTION_REFUSED', atMs: 5000 });
  assert.equal(errors.of(2), undefined);
  // The same error at a later time counts as a new error.
  t.mock.timers.tick(10);
  errors.failed(1, 'net::ERR_CONNECTION_REFUSED');
  assert.deepEqual([errors.of(1)?.atMs, changes], [5010, 2]);
  errors.shown(1);
  errors.shown(1);
  assert.deepEqual([errors.of(1), changes], [undefined, 3]);
});

test('a cancelled navigation leaves the tab with its current page', () => {
  const errors = new LoadErrors();
  errors.failed(1, 'net::ERR_ABORTED');
  assert.equal(errors.of(1), undefined);
  errors.failed(1, 'net::ERR_NAME_NOT_RESOLVED');
  errors.failed(1, 'net::ERR_ABORTED');
  assert.equal(errors.of(1)?.name, 'net::ERR_NAME_NOT_RESOLVED');
});

test('a site that has not answered for 8 s is an error until it answers, or the tab requests it again', (t) => {
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 0 });
  let changes = 0;
  const errors = new LoadErrors();
  errors.changed.addListener(() => {
    changes++;
  });
  const wait = (ms: number) => {
    t.mock.timers.tick(ms);
    return errors.of(1);
  };
  errors.begun(1);
  assert.equal(wait(7999), undefined);
  assert.deepEqual([wait(1), changes], [{ name: 'no_answer', atMs: 8000 }, 1]);
  errors.shown(1);
  assert.deepEqual([wait(60_000), changes], [undefined, 2]);
  // An answer in time, a failure in time and a cancelled navigation end the wait.
  for (const end of [(id: number) => errors.shown(id), (id: number) => errors.failed(id, 'net::ERR_ABORTED')]) {
    errors.begun(1);
    wait(7000);
    end(1);
    assert.equal(wait(60_000), undefined);
  }
  errors.begun(1);
  errors.failed(1, 'net::ERR_CONNECTION_RESET');
  assert.equal(wait(60_000)?.name, 'net::ERR_CONNECTION_RESET');
  // For a new tab, there is no begun event, only repeated calls of waits.
  errors.failed(1, 'net::ERR_CONNECTION_RESET');
  errors.waits(1);
  wait(5000);
  errors.waits(1);
  assert.equal(wait(3000)?.name, 'no_answer');
  const seen = changes;
  errors.waits(1);
  wait(60_000);
  assert.equal(changes, seen);
  errors.shown(1);
  errors.failed(1, 'net::ERR_CONNECTION_RESET');
  // The tab shows an error page, and its reload gets no answer. The user stops the reload and starts it again.
  errors.begun(1);
  assert.equal(wait(7999)?.name, 'net::ERR_CONNECTION_RESET');
  assert.equal(wait(1)?.name, 'no_answer');
  errors.begun(1);
  assert.equal(wait(7999), undefined);
  assert.equal(wait(1)?.name, 'no_answer');
  errors.failed(1, 'net::ERR_ABORTED');
  assert.equal(wait(60_000), undefined);
});

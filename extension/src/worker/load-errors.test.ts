import assert from 'node:assert/strict';
import test from 'node:test';
import { makeLoadErrors } from './load-errors.ts';

test('an error is known until the tab shows another page', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 5000 });
  let changes = 0;
  const errors = makeLoadErrors(() => {
    changes++;
  });
  errors.failed(1, 'net::ERR_CONNECTION_REFUSED');
  assert.deepEqual(errors.of(1), { name: 'net::ERR_CONNECTION_REFUSED', atMs: 5000 });
  assert.equal(errors.of(2), undefined);
  // The same error at another time is another failure.
  t.mock.timers.tick(10);
  errors.failed(1, 'net::ERR_CONNECTION_REFUSED');
  assert.deepEqual([errors.of(1)?.atMs, changes], [5010, 2]);
  errors.shown(1);
  errors.shown(1);
  assert.deepEqual([errors.of(1), changes], [undefined, 3]);
});

test('a navigation that was given up leaves the tab with the page that it shows', () => {
  const errors = makeLoadErrors(() => undefined);
  errors.failed(1, 'net::ERR_ABORTED');
  assert.equal(errors.of(1), undefined);
  errors.failed(1, 'net::ERR_NAME_NOT_RESOLVED');
  errors.failed(1, 'net::ERR_ABORTED');
  assert.equal(errors.of(1)?.name, 'net::ERR_NAME_NOT_RESOLVED');
});

import assert from 'node:assert/strict';
import test from 'node:test';
import { MinStablePositionMs, makeClickGuard } from './click-guard.ts';

test('an approval card accepts clicks after it stayed in place for 500 ms', () => {
  const clickGuard = makeClickGuard();
  assert.equal(clickGuard.remainingWaitMs('a', 0), MinStablePositionMs);
  clickGuard.recordPositions(new Map([['a', 10]]), 1000);
  assert.equal(clickGuard.remainingWaitMs('a', 1000), MinStablePositionMs);
  assert.equal(clickGuard.remainingWaitMs('a', 1499), 1);
  assert.equal(clickGuard.remainingWaitMs('a', 1500), 0);
  clickGuard.recordPositions(new Map([['a', 10.4]]), 1600);
  assert.equal(clickGuard.remainingWaitMs('a', 1600), 0);
});

test('an approval card that moved up ignores clicks for another 500 ms', () => {
  const clickGuard = makeClickGuard();
  clickGuard.recordPositions(
    new Map([
      ['a', 10],
      ['b', 200],
    ]),
    0,
  );
  assert.equal(clickGuard.remainingWaitMs('b', 2000), 0);
  clickGuard.recordPositions(new Map([['b', 10]]), 2000);
  assert.equal(clickGuard.remainingWaitMs('b', 2000), MinStablePositionMs);
  assert.equal(clickGuard.remainingWaitMs('a', 2000), MinStablePositionMs);
  assert.equal(clickGuard.remainingWaitMs('b', 2500), 0);
});

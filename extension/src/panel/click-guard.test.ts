import assert from 'node:assert/strict';
import test from 'node:test';
import { MinUnmovedMs, makeClickGuard } from './click-guard.ts';

test('a card accepts clicks after 500 ms in place', () => {
  const clickGuard = makeClickGuard();
  assert.equal(clickGuard.remainingWaitMs('a', 0), MinUnmovedMs);
  clickGuard.recordPositions(new Map([['a', 10]]), 1000);
  assert.equal(clickGuard.remainingWaitMs('a', 1000), MinUnmovedMs);
  assert.equal(clickGuard.remainingWaitMs('a', 1499), 1);
  assert.equal(clickGuard.remainingWaitMs('a', 1500), 0);
  clickGuard.recordPositions(new Map([['a', 10.4]]), 1600);
  assert.equal(clickGuard.remainingWaitMs('a', 1600), 0);
});

test('a card that moved up ignores clicks again for a moment', () => {
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
  assert.equal(clickGuard.remainingWaitMs('b', 2000), MinUnmovedMs);
  assert.equal(clickGuard.remainingWaitMs('a', 2000), MinUnmovedMs);
  assert.equal(clickGuard.remainingWaitMs('b', 2500), 0);
});

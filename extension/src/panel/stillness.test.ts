import assert from 'node:assert/strict';
import test from 'node:test';
import { makeStillness, StillMs } from './stillness.ts';

test('a card has to stand in its place for a while', () => {
  const still = makeStillness();
  assert.equal(still.waitMs('a', 0), StillMs);
  still.drawn(new Map([['a', 10]]), 1000);
  assert.equal(still.waitMs('a', 1000), StillMs);
  assert.equal(still.waitMs('a', 1499), 1);
  assert.equal(still.waitMs('a', 1500), 0);
  still.drawn(new Map([['a', 10.4]]), 1600);
  assert.equal(still.waitMs('a', 1600), 0);
});

test('a card that moved, as one above it went, waits anew', () => {
  const still = makeStillness();
  still.drawn(
    new Map([
      ['a', 10],
      ['b', 200],
    ]),
    0,
  );
  assert.equal(still.waitMs('b', 2000), 0);
  still.drawn(new Map([['b', 10]]), 2000);
  assert.equal(still.waitMs('b', 2000), StillMs);
  assert.equal(still.waitMs('a', 2000), StillMs);
  assert.equal(still.waitMs('b', 2500), 0);
});

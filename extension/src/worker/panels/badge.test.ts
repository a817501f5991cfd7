import assert from 'node:assert/strict';
import test from 'node:test';
import { Badge, badgeContent } from './badge.ts';

test('a lost link has priority over waiting calls, and those over running calls', () => {
  const text = (linked: boolean, waiting: number, running: number) =>
    badgeContent({ isLinked: linked, waiting, running }).text;
  assert.deepEqual(
    [text(true, 0, 0), text(true, 0, 3), text(true, 1, 3), text(true, 200, 0), text(false, 1, 3)],
    ['', '3', '1?', '99?', '!'],
  );
  assert.equal(badgeContent({ isLinked: true, waiting: 1, running: 0 }).title, 'opentabs: 1 call waiting for approval');
  assert.equal(
    badgeContent({ isLinked: true, waiting: 2, running: 0 }).title,
    'opentabs: 2 calls waiting for approval',
  );
});

test('the badge is redrawn when its text changes, and not for short calls', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let running = 0;
  const drawn: string[] = [];
  const badge = new Badge({ state: () => ({ isLinked: true, running }), draw: (text) => drawn.push(text) });
  badge.scheduleRedraw();
  t.mock.timers.tick(300);
  assert.deepEqual(drawn, ['']);
  running = 1;
  badge.scheduleRedraw();
  t.mock.timers.tick(299);
  running = 0;
  badge.scheduleRedraw();
  t.mock.timers.tick(300);
  assert.deepEqual(drawn, [''], 'a short call does not change the badge');
  running = 2;
  badge.scheduleRedraw();
  t.mock.timers.tick(300);
  assert.deepEqual(drawn, ['', '2']);
  badge.setWaiting(1);
  t.mock.timers.tick(300);
  assert.deepEqual(drawn, ['', '2', '1?']);
});

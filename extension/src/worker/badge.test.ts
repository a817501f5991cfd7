import assert from 'node:assert/strict';
import test from 'node:test';
import { badgeOf, makeBadge } from './badge.ts';

test('questions to the person come before what runs, and a lost link before both', () => {
  const text = (linked: boolean, waiting: number, running: number) => badgeOf({ linked, waiting, running }).text;
  assert.deepEqual(
    [text(true, 0, 0), text(true, 0, 3), text(true, 1, 3), text(true, 200, 0), text(false, 1, 3)],
    ['', '3', '1?', '99?', '!'],
  );
  assert.equal(badgeOf({ linked: true, waiting: 1, running: 0 }).title, 'opentabs: a call waits for you');
  assert.equal(badgeOf({ linked: true, waiting: 2, running: 0 }).title, 'opentabs: 2 calls wait for you');
});

test('the badge is drawn when what it says has changed, and not for short calls', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let running = 0;
  const drawn: string[] = [];
  const show = makeBadge({ glance: () => ({ linked: true, waiting: 0, running }), draw: (text) => drawn.push(text) });
  show();
  t.mock.timers.tick(300);
  assert.deepEqual(drawn, ['']);
  running = 1;
  show();
  t.mock.timers.tick(299);
  running = 0;
  show();
  t.mock.timers.tick(300);
  assert.deepEqual(drawn, [''], 'a short call is not seen');
  running = 2;
  show();
  t.mock.timers.tick(300);
  assert.deepEqual(drawn, ['', '2']);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import type { PanelHold } from '../../panel-message.ts';
import { Badge, makeBadgeContent } from './badge.ts';

test('a lost link has priority over waiting calls, and those over running calls', () => {
  const text = (linked: boolean, waiting: number, running: number) =>
    makeBadgeContent({ isLinked: linked, waiting, running }).text;
  assert.deepEqual(
    [text(true, 0, 0), text(true, 0, 3), text(true, 1, 3), text(true, 200, 0), text(false, 1, 3)],
    ['', '3', '1?', '99?', '!'],
  );
  assert.equal(
    makeBadgeContent({ isLinked: true, waiting: 1, running: 0 }).title,
    'opentabs: 1 call waiting for approval',
  );
  assert.equal(
    makeBadgeContent({ isLinked: true, waiting: 2, running: 0 }).title,
    'opentabs: 2 calls waiting for approval',
  );
});

test('the badge is redrawn when its text changes, and not for short calls', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let running = 0;
  const drawn: string[] = [];
  const badge = new Badge({
    state: () => ({ isLinked: true, running }),
    holds: () => [],
    draw: ({ text }) => drawn.push(text),
    drawTab: () => assert.fail('no tab is in use'),
  });
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
  badge.scheduleRedraw();
  badge.setWaiting(1);
  assert.deepEqual(drawn, ['', '2', '1?'], 'a waiting call is shown at once');
  badge.setWaiting(0);
  assert.deepEqual(drawn, ['', '2', '1?', '2'], 'a decided call is removed at once');
  t.mock.timers.tick(300);
  assert.equal(drawn.length, 4);
});

test('a tab in use by an agent has a separate badge', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  let holds: PanelHold[] = [];
  const drawn: string[] = [];
  const badge = new Badge({
    state: () => ({ isLinked: true, running: 0 }),
    holds: () => holds.filter(({ endMs }) => endMs > Date.now()),
    draw: () => undefined,
    drawTab: (tabId, text, title) => drawn.push(`${tabId} ${text} ${title}`),
  });
  const take = () => {
    t.mock.timers.tick(300);
    return drawn.splice(0);
  };
  holds = [
    { tabId: 7, client: 'Claude Code', site: 'https://shop.example', endMs: 10_000 },
    { tabId: 8, client: 'Cursor', site: 'https://news.example', endMs: 60_000, taken: true },
  ];
  badge.scheduleRedraw();
  assert.deepEqual(take(), ['7 ● opentabs: Claude Code uses this tab']);
  badge.scheduleRedraw();
  assert.deepEqual(take(), []);
  badge.forgetTab(7);
  badge.forgetTab(9);
  assert.deepEqual(take(), ['7 ● opentabs: Claude Code uses this tab'], 'Chrome drops the badge with the document');
  badge.setWaiting(1);
  assert.deepEqual(
    take(),
    ['7 undefined opentabs: 1 call waiting for approval'],
    'a call that waits for approval is shown in every tab',
  );
  badge.setWaiting(0);
  assert.deepEqual(take(), ['7 ● opentabs: Claude Code uses this tab']);
  t.mock.timers.tick(10_000);
  assert.deepEqual(take(), ['7 undefined opentabs'], 'the tab is no longer in use');
});

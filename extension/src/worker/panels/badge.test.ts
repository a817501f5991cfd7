import assert from 'node:assert/strict';
import test from 'node:test';
import type { PanelTabHold } from '../../panel-message.ts';
import { Badge, makeBadgeContent } from './badge.ts';

test('the badge shows a lost link before waiting calls, and waiting calls before running calls', () => {
  const makeBadgeText = (isLinkOpen: boolean, waitingCount: number, runningCount: number) =>
    makeBadgeContent({ isLinked: isLinkOpen, waitingCount, runningCount }).text;
  assert.deepEqual(
    [
      makeBadgeText(true, 0, 0),
      makeBadgeText(true, 0, 3),
      makeBadgeText(true, 1, 3),
      makeBadgeText(true, 200, 0),
      makeBadgeText(false, 1, 3),
    ],
    ['', '3', '1?', '99?', '!'],
  );
  assert.equal(
    makeBadgeContent({ isLinked: true, waitingCount: 1, runningCount: 0 }).title,
    'opentabs: 1 call waiting for approval',
  );
  assert.equal(
    makeBadgeContent({ isLinked: true, waitingCount: 2, runningCount: 0 }).title,
    'opentabs: 2 calls waiting for approval',
  );
});

test('the badge is redrawn when its text changes, but not for calls shorter than 300 ms', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let runningCount = 0;
  const drawnBadgeTexts: string[] = [];
  const badge = new Badge({
    state: () => ({ isLinked: true, runningCount }),
    holds: () => [],
    drawBadge: ({ text: badgeText }) => drawnBadgeTexts.push(badgeText),
    drawTabBadge: () => assert.fail('no tab is in use'),
  });
  badge.scheduleRedraw();
  t.mock.timers.tick(300);
  assert.deepEqual(drawnBadgeTexts, ['']);
  runningCount = 1;
  badge.scheduleRedraw();
  t.mock.timers.tick(299);
  runningCount = 0;
  badge.scheduleRedraw();
  t.mock.timers.tick(300);
  assert.deepEqual(drawnBadgeTexts, [''], 'a short call must not change the badge');
  runningCount = 2;
  badge.scheduleRedraw();
  t.mock.timers.tick(300);
  assert.deepEqual(drawnBadgeTexts, ['', '2']);
  badge.scheduleRedraw();
  badge.setWaitingCount(1);
  assert.deepEqual(drawnBadgeTexts, ['', '2', '1?'], 'a waiting call must be shown at once');
  badge.setWaitingCount(0);
  assert.deepEqual(drawnBadgeTexts, ['', '2', '1?', '2'], 'a decided call must be removed at once');
  t.mock.timers.tick(300);
  assert.equal(drawnBadgeTexts.length, 4);
});

test('a tab in use by an agent has a separate badge', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  let tabHolds: PanelTabHold[] = [];
  const drawnBadgeTexts: string[] = [];
  const badge = new Badge({
    state: () => ({ isLinked: true, runningCount: 0 }),
    holds: () => tabHolds.filter(({ endMs }) => endMs > Date.now()),
    drawBadge: () => undefined,
    drawTabBadge: (tabId, badgeText, title) => drawnBadgeTexts.push(`${tabId} ${badgeText} ${title}`),
  });
  const takeDrawnBadgeTexts = () => {
    t.mock.timers.tick(300);
    return drawnBadgeTexts.splice(0);
  };
  tabHolds = [
    { tabId: 7, client: 'Claude Code', site: 'https://shop.example', endMs: 10_000 },
    { tabId: 8, client: 'Cursor', site: 'https://news.example', endMs: 60_000, taken: true },
  ];
  badge.scheduleRedraw();
  assert.deepEqual(takeDrawnBadgeTexts(), ['7 ● opentabs: Claude Code uses this tab']);
  badge.scheduleRedraw();
  assert.deepEqual(takeDrawnBadgeTexts(), []);
  badge.forgetTab(7);
  badge.forgetTab(9);
  assert.deepEqual(
    takeDrawnBadgeTexts(),
    ['7 ● opentabs: Claude Code uses this tab'],
    'a new document must get its badge again',
  );
  badge.setWaitingCount(1);
  assert.deepEqual(
    takeDrawnBadgeTexts(),
    ['7 undefined opentabs: 1 call waiting for approval'],
    'a waiting call must be shown in every tab',
  );
  badge.setWaitingCount(0);
  assert.deepEqual(takeDrawnBadgeTexts(), ['7 ● opentabs: Claude Code uses this tab']);
  t.mock.timers.tick(10_000);
  assert.deepEqual(
    takeDrawnBadgeTexts(),
    ['7 undefined opentabs'],
    'a tab that is no longer in use must lose its badge',
  );
});

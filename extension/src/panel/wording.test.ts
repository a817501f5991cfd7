import assert from 'node:assert/strict';
import test from 'node:test';
import type { LinkDownReason } from '../worker/link/link.ts';
import {
  findStatusWord,
  formatDuration,
  formatGrantLabel,
  formatPercent,
  formatRunTime,
  formatTimeOfDay,
  formatToolName,
  makeLinkAdvice,
  makeLinkTitle,
  makeModeAdvice,
  makeVersionAdvice,
  readHost,
  removeHiddenCharacters,
} from './wording.ts';

test('makeLinkAdvice returns advice for each reason of a lost connection', () => {
  const downReasons: LinkDownReason[] = ['unpaired', 'no_server', 'refused', 'version', 'replaced', 'lost'];
  for (const downReason of downReasons) {
    const advice = makeLinkAdvice({ kind: 'down', why: downReason, text: 'update the extension' });
    assert.match(advice?.title ?? '', /^[A-Z].*\.$/, downReason);
    assert.match(advice?.adviceSteps.join(' ') ?? '', /Run|Start|Update|Close/, downReason);
  }
  assert.equal(makeLinkAdvice({ kind: 'open', serverVersion: '1' }), undefined);
  assert.deepEqual(
    [makeLinkTitle(undefined), makeLinkTitle({ kind: 'open', serverVersion: '1' })],
    ['Connecting', 'Connected'],
  );
});

test('formatToolName returns the full name of a browser tool, and formatGrantLabel names its site', () => {
  assert.equal(formatToolName({ plugin: 'browser', tool: 'browser_click' }), 'browser_click');
  assert.equal(formatToolName({ plugin: 'messages', tool: 'send' }), 'messages send');
  assert.equal(
    formatGrantLabel(
      { plugin: 'browser', tool: 'browser_click', client: 'claude' },
      { plugin: 'browser' },
      'https://shop.example',
    ),
    'Allow claude on https://shop.example without asking again',
  );
  const call = { plugin: 'messages', tool: 'send' };
  assert.equal(
    formatGrantLabel({ ...call, client: 'claude' }, undefined, 'Messages'),
    'Allow claude to run send without asking again',
  );
  assert.equal(
    formatGrantLabel({ ...call, client: 'claude' }, { plugin: 'tickets' }),
    'Allow the plugin tickets to run send without asking again',
  );
  assert.equal(formatGrantLabel(call, undefined), 'Allow this agent to run send without asking again');
});

test('makeModeAdvice mentions the switch “Allow User Scripts”', () => {
  assert.equal(makeModeAdvice('userScripts'), undefined);
  for (const injectMode of ['files', 'none'] as const) {
    assert.match(makeModeAdvice(injectMode)?.adviceSteps.join(' ') ?? '', /details page.*“Allow User Scripts”/);
  }
});

test('formatDuration and formatPercent format times and shares', () => {
  const durationCases: [number, string][] = [
    [-5, '0 s'],
    [999, '0 s'],
    [1000, '1 s'],
    [59_999, '59 s'],
    [65_000, '1 min 05 s'],
    [3_600_000 + 61_000, '1 h 01 min'],
  ];
  for (const [ms, expectedText] of durationCases) assert.equal(formatDuration(ms), expectedText);
  assert.deepEqual(
    [formatPercent(0), formatPercent(0.999), formatPercent(1), formatPercent(1.5), formatPercent(-1)],
    ['0%', '99%', '100%', '100%', '0%'],
  );
  assert.equal(readHost('https://a.org:8080/x'), 'a.org:8080');
  assert.equal(readHost('?'), '?');
  assert.equal(findStatusWord('cancelled'), 'cancelled');
  assert.equal(findStatusWord('timed out'), 'timed out');
});

test('removeHiddenCharacters keeps letters and removes hidden characters', () => {
  assert.equal(removeHiddenCharacters('a\u202eb\u2066c\u200bd\u{e0041}e\u001b[2Jf\u009bg\u00adh'), 'abcde[2Jfgh');
  assert.equal(removeHiddenCharacters('Grüße,\n\t世界 👩\u200d🚀 שלום'), 'Grüße,\n\t世界 👩\u200d🚀 שלום');
});

test('makeVersionAdvice reports whether extension or server is older, and how to update it', () => {
  assert.equal(makeVersionAdvice('0.1.0', '0.1.0'), undefined);
  assert.equal(makeVersionAdvice('0.1.0', 'unknown'), undefined);
  assert.match(makeVersionAdvice('0.9.0', '0.10.0')?.title ?? '', /^The extension \(0\.9\.0\) is older/);
  assert.match(makeVersionAdvice('0.9.0', '0.10.0')?.adviceSteps.join(' ') ?? '', /opentabs extension install/);
  assert.match(makeVersionAdvice('1.0.0', '0.10.0')?.title ?? '', /^The server \(0\.10\.0\) is older/);
});

test('formatRunTime and formatTimeOfDay return short texts', () => {
  assert.deepEqual([0.2, 3.4, 999, 1234, 9999, 10_000, 302_000].map(formatRunTime), [
    '1 ms',
    '3 ms',
    '999 ms',
    '1.2 s',
    '9.9 s',
    '10 s',
    '5 min 02 s',
  ]);
  const noonMs = new Date(2026, 10, 23, 12, 5).getTime();
  assert.match(formatTimeOfDay(noonMs, noonMs + 60_000), /^12:05/);
  assert.match(formatTimeOfDay(noonMs, noonMs + 86_400_000), /(23.*Nov|Nov.*23|11.*23|23.*11).*12:05/);
});

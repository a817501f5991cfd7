import assert from 'node:assert/strict';
import test from 'node:test';
import type { Down } from '../worker/link.ts';
import { duration, hostOf, linkAdvice, linkTitle, modeAdvice, percent, plain, statusWord } from './wording.ts';

test('each reason for no link says what to do', () => {
  const reasons: Down[] = ['not_installed', 'no_server', 'refused', 'version', 'replaced', 'lost'];
  for (const why of reasons) {
    const advice = linkAdvice({ kind: 'down', why, text: 'update the extension' });
    assert.match(advice?.title ?? '', /^[A-Z].*\.$/, why);
    assert.match(advice?.steps.join(' ') ?? '', /Run|Start|Update|Close/, why);
  }
  assert.equal(linkAdvice({ kind: 'open', serverVersion: '1' }), undefined);
  assert.deepEqual(
    [linkTitle(undefined), linkTitle({ kind: 'open', serverVersion: '1' })],
    ['Connecting', 'Connected'],
  );
});

test('user scripts', () => {
  assert.equal(modeAdvice('userScripts'), undefined);
  for (const mode of ['files', 'none'] as const) {
    assert.match(modeAdvice(mode)?.steps.join(' ') ?? '', /details page.*“Allow User Scripts”/);
  }
});

test('numbers for people', () => {
  const times: [number, string][] = [
    [-5, '0 s'],
    [999, '0 s'],
    [1000, '1 s'],
    [59_999, '59 s'],
    [65_000, '1 min 05 s'],
    [3_600_000 + 61_000, '1 h 01 min'],
  ];
  for (const [ms, want] of times) assert.equal(duration(ms), want);
  assert.deepEqual(
    [percent(0), percent(0.999), percent(1), percent(1.5), percent(-1)],
    ['0%', '99%', '100%', '100%', '0%'],
  );
  assert.equal(hostOf('https://a.org:8080/x'), 'a.org:8080');
  assert.equal(hostOf('?'), '?');
  assert.equal(statusWord('cancelled'), 'stopped');
});

test('text of others keeps its letters and loses what hides or turns them', () => {
  assert.equal(plain('a\u202eb\u2066c\u200bd\u{e0041}e\u001b[2Jf\u009bg\u00adh'), 'abcde[2Jfgh');
  assert.equal(plain('Grüße,\n\t世界 👩\u200d🚀 שלום'), 'Grüße,\n\t世界 👩\u200d🚀 שלום');
});

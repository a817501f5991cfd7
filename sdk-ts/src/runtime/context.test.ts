import assert from 'node:assert/strict';
import test from 'node:test';
import { completeContext } from './context.ts';

test('a whole context is passed on as it is', () => {
  const whole = {
    reportProgress: () => undefined,
    reportPercent: () => undefined,
    reportCount: () => undefined,
    signal: new AbortController().signal,
  };
  assert.equal(completeContext(whole), whole);
});

test('what an older host lacks is made of reportProgress', () => {
  const seen: unknown[] = [];
  const host = {
    reportProgress(options: unknown) {
      seen.push(this === host, options);
    },
  };
  const context = completeContext(Object.freeze(host));
  context.reportProgress({ progress: 1, total: 2, message: 'a' });
  context.reportPercent(40, 'b');
  context.reportCount(3, 9, 'c');
  assert.deepEqual(seen, [
    true,
    { progress: 1, total: 2, message: 'a' },
    true,
    { percent: 40, message: 'b', progress: 40, total: 100 },
    true,
    { progress: 3, total: 9, message: 'c' },
  ]);
  assert.equal(context.signal.aborted, false);
});

test('without a host nothing happens', () => {
  const context = completeContext(undefined);
  context.reportProgress({ progress: 1 });
  context.reportPercent(1);
  context.reportCount(1, 2);
  assert.equal(context.signal.aborted, false);
});

test("the host's signal is used even if the page has replaced AbortSignal", (t) => {
  const { signal } = new AbortController();
  const real = globalThis.AbortSignal;
  t.after(() => {
    globalThis.AbortSignal = real;
  });
  Object.assign(globalThis, { AbortSignal: class {} });
  assert.equal(completeContext({ signal }).signal, signal);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import { completeContext } from './context.ts';

test('completeContext returns a complete context unchanged', () => {
  const completeHostContext = {
    reportProgress: () => undefined,
    reportPercent: () => undefined,
    reportCount: () => undefined,
    reportActivity: () => undefined,
    reportActivityDelta: () => undefined,
    endAudience: () => undefined,
    call: async () => undefined,
    waitForUser: async () => undefined,
    signal: new AbortController().signal,
  };
  assert.equal(completeContext(completeHostContext), completeHostContext);
});

test('completeContext does not read the signal of a complete context', () => {
  let readCount = 0;
  const method = () => undefined;
  const names = ['reportProgress', 'reportPercent', 'reportCount', 'reportActivity', 'reportActivityDelta'];
  const context = {
    ...Object.fromEntries([...names, 'endAudience', 'call', 'waitForUser'].map((name) => [name, method])),
    get signal() {
      readCount++;
      return new AbortController().signal;
    },
  };
  assert.equal(completeContext(context), context);
  assert.equal(readCount, 0);
});

test('methods that an older host lacks use reportProgress', () => {
  const calls: unknown[] = [];
  const host = {
    reportProgress(options: unknown) {
      calls.push(this === host, options);
    },
  };
  const context = completeContext(Object.freeze(host));
  context.reportProgress({ progress: 1, total: 2, message: 'a' });
  context.reportPercent(40, 'b');
  context.reportCount(3, 9, 'c');
  context.reportPercent(50, undefined, { audience: 'user' });
  context.reportCount(4, 9, 'd', { audience: 'user' });
  assert.deepEqual(calls, [
    true,
    { progress: 1, total: 2, message: 'a' },
    true,
    { __proto__: null, percent: 40, message: 'b', progress: 40, total: 100 },
    true,
    { __proto__: null, progress: 3, total: 9, message: 'c' },
    true,
    { __proto__: null, percent: 50, audience: 'user', progress: 50, total: 100 },
    true,
    { __proto__: null, progress: 4, total: 9, message: 'd', audience: 'user' },
  ]);
  assert.equal(context.signal.aborted, false);
});

test('a host without activities, nested calls and waitForUser still receives progress reports', async () => {
  const reports: unknown[] = [];
  const { signal } = new AbortController();
  const context = completeContext({
    reportProgress: (options: unknown) => reports.push(options),
    reportPercent: () => undefined,
    reportCount: () => undefined,
    signal,
  });
  context.reportActivity('table', []);
  context.reportActivityDelta('table', { op: 'remove', path: '/0' }, { audience: 'user' });
  context.endAudience('user');
  assert.deepEqual(reports, [{ __proto__: null }, { __proto__: null, audience: 'user' }]);
  assert.deepEqual([context.signal, context.decision], [signal, undefined]);
  const unsupportedError = {
    name: 'ToolError',
    code: 'not_supported',
    message: /no context\.(call|waitForUser); update the extension/,
  };
  await assert.rejects(context.call('a'), unsupportedError);
  await assert.rejects(context.waitForUser({ reason: 'a' }), unsupportedError);
});

test('a context without a host ignores reports', () => {
  const context = completeContext(undefined);
  context.reportProgress({ progress: 1 });
  context.reportPercent(1);
  context.reportCount(1, 2);
  assert.equal(context.signal.aborted, false);
});

test("the host's signal is used even if the page has replaced AbortSignal", (t) => {
  const { signal } = new AbortController();
  const RealAbortSignal = globalThis.AbortSignal;
  t.after(() => {
    globalThis.AbortSignal = RealAbortSignal;
  });
  Object.assign(globalThis, { AbortSignal: class {} });
  assert.equal(completeContext({ signal }).signal, signal);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import { makeContext } from './testing.ts';
import { ToolError } from './tool-error.ts';

test('makeContext records reports unchanged', () => {
  const { reportProgress, reportPercent, reportCount, ...context } = makeContext();
  reportProgress({ message: 'a', audience: 'user' });
  reportPercent(Number.NaN, 'b');
  reportCount(1, 2);
  reportPercent(5, 'c', { audience: 'user' });
  reportCount(1, 2, undefined, { audience: 'user' });
  assert.deepEqual(context.reports, [
    { message: 'a', audience: 'user' },
    { percent: Number.NaN, message: 'b' },
    { progress: 1, total: 2, message: undefined },
    { percent: 5, message: 'c', audience: 'user' },
    { progress: 1, total: 2, message: undefined, audience: 'user' },
  ]);
});

test('makeContext records endAudience', () => {
  const context = makeContext();
  assert.equal(context.endedFor, 'internal');
  context.endAudience('user');
  assert.equal(context.endedFor, 'user');
});

test('the method activity returns the content with all patches applied', () => {
  const context = makeContext();
  const tableRows = [{ n: 1 }];
  context.reportActivity('table', { rows: tableRows }, { audience: 'user' });
  tableRows.push({ n: 99 }); // The recorded report must keep its single row.
  context.reportActivityDelta('table', { op: 'add', path: '/rows/-', value: { n: 2 } });
  context.reportActivityDelta('table', [
    { op: 'replace', path: '/rows/0/n', value: 0 },
    { op: 'add', path: '/done', value: true },
  ]);
  context.reportActivity('text', 'hello');
  assert.deepEqual(context.activity('table'), { rows: [{ n: 0 }, { n: 2 }], done: true });
  assert.equal(context.activity('text'), 'hello');
  assert.equal(context.activity('code'), undefined);
  assert.deepEqual(
    context.activities.map(({ type, content, patch, audience }) => [
      type,
      content !== undefined,
      patch?.length,
      audience,
    ]),
    [
      ['table', true, undefined, 'user'],
      ['table', false, 1, undefined],
      ['table', false, 2, undefined],
      ['text', true, undefined, undefined],
    ],
  );
  assert.deepEqual(context.dropped, []);
});

test('the field dropped lists the reports that a browser would drop', () => {
  const context = makeContext();
  context.reportActivity('a', undefined);
  context.reportActivity('a', () => 1);
  context.reportActivity('a', 'x'.repeat(256 * 1024));
  context.reportActivityDelta('a', { op: 'add', path: '', value: 1 });
  context.reportActivity('a', []);
  context.reportActivityDelta('a', { op: 'remove', path: '/0' });
  context.reportActivityDelta('a', [
    { op: 'add', path: '/-', value: 'x'.repeat(256 * 1024) },
    { op: 'remove', path: '/0' },
  ]);
  for (let i = 0; i < 16; i++) context.reportActivity(`t${i}`, i);
  assert.deepEqual(
    context.dropped.map((text) => text.slice(0, 40)),
    [
      'activity a: the content is not JSON',
      'activity a: the content is not JSON',
      'activity a: the content has 262146 bytes',
      'activity a: there is no content to patch',
      'activity a: operation 0 (remove "/0"): n',
      'activity a: the content has 262209 bytes',
      'activity t15: a call has up to 16 activi',
    ],
  );
  assert.deepEqual(context.activity('a'), []);
});

test('a bigint in a report or a nested call becomes the same integer', async () => {
  const context = makeContext({ tools: { double: ({ n }: { n: number }) => BigInt(n) * 2n } });
  context.reportActivity('a', { n: 1n });
  assert.deepEqual(context.activity('a'), { n: 1 });
  assert.equal(await context.call('double', { n: 4n }), 8);
  assert.deepEqual(context.calls, [{ tool: 'double', input: { n: 4 } }]);
});

test('makeContext records nested calls and returns the results from the ContextScript', async () => {
  const context = makeContext({
    tools: {
      list: { ids: [1] },
      double: ({ n }: { n: number }) => n * 2,
      nothing: undefined,
      refuse: () => {
        throw ToolError.notFound('gone');
      },
      break: async () => {
        throw new TypeError('oops');
      },
    },
  });
  assert.deepEqual(await context.call('list'), { ids: [1] });
  assert.equal(await context.call('double', { n: 4 }, { tabId: 7 }), 8);
  assert.equal(await context.call('nothing'), undefined);
  await assert.rejects(context.call('refuse'), { code: 'NOT_FOUND', message: 'gone' });
  await assert.rejects(context.call('break'), { name: 'ToolError', code: 'tool_error', message: 'oops' });
  await assert.rejects(context.call('toString'), { code: 'unknown_tool', message: /no tool toString/ });
  assert.deepEqual(context.calls[1], { tool: 'double', input: { n: 4 }, tabId: 7 });
  assert.deepEqual(
    context.calls.map((call) => call.tool),
    ['list', 'double', 'nothing', 'refuse', 'break', 'toString'],
  );
});

test('waitForUser returns or rejects as the ContextScript specifies', async () => {
  const request = { reason: 'Log in.', title: 'Log in' };
  const context = makeContext();
  await context.waitForUser(request);
  assert.deepEqual(context.userRequests, [request]);
  await assert.rejects(makeContext({ user: 'deny' }).waitForUser(request), { code: 'user_denied' });
  await assert.rejects(makeContext({ user: 'timeout' }).waitForUser(request), { code: 'user_timeout' });
  const reasons: string[] = [];
  await makeContext({ user: ({ reason }) => void reasons.push(reason) }).waitForUser(request);
  assert.deepEqual(reasons, ['Log in.']);
  await assert.rejects(context.waitForUser({ reason: '' }), { code: 'invalid_arguments' });
});

test('the method stop makes running and later nested calls and user requests reject', async () => {
  const neverSettle = () => new Promise<never>(() => undefined);
  const context = makeContext({ tools: { slow: neverSettle }, user: neverSettle });
  const pendingRequests = [context.call('slow'), context.waitForUser({ reason: 'Wait.' })];
  context.stop('enough');
  assert.equal(context.signal.aborted, true);
  for (const request of [...pendingRequests, context.call('slow'), context.waitForUser({ reason: 'Wait.' })]) {
    await assert.rejects(request, { code: 'aborted', message: 'aborted: enough' });
  }
  assert.deepEqual([context.calls.length, context.userRequests.length], [1, 1]);
});

test('a signal can stop a nested call while the calling tool continues', async () => {
  const context = makeContext({ tools: { slow: () => new Promise(() => undefined) } });
  const nestedController = new AbortController();
  const call = context.call('slow', {}, { signal: nestedController.signal });
  nestedController.abort(new DOMException('not needed', 'AbortError'));
  await assert.rejects(call, { code: 'aborted', message: 'aborted: not needed' });
  assert.equal(context.signal.aborted, false);
});

test('the ContextScript can stop the call at a report and set a decision', () => {
  const context = makeContext({ stopAtReport: 2, decision: { allow: true, by: 'the side panel' } });
  assert.deepEqual(context.decision, { allow: true, by: 'the side panel' });
  context.reportPercent(1);
  assert.equal(context.signal.aborted, false);
  context.reportActivity('text', 'a');
  assert.equal(context.signal.aborted, true);
});

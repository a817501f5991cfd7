import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { MaxPartChars, type ToolDispatchParams } from '../../../../wire/wire.gen.ts';
import { runPendingPromises } from '../../../test/server.ts';
import type { TabState } from '../../chrome.ts';
import { isRecord } from '../../record.ts';
import { Outbox } from '../calls/outbox.ts';
import { BrowserCalls } from './browser-calls.ts';
import type { BrowserCall, BrowserResult } from './browser-tool.ts';
import { toolFailure } from './tool-failure.ts';

interface Call extends BrowserCall {
  end(result: BrowserResult): void;
  fail(error: unknown): void;
}

function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const sent: string[] = [];
  const calls: Call[] = [];
  const tab: { state: TabState; documentId: string | undefined } = { state: 'open', documentId: 'd1' };
  const room = { inMs: 0 };
  const outbox = new Outbox({
    send: (text) => sent.push(text) > 0,
    confirm: () => new Promise(() => undefined),
  });
  const startCall = (call: BrowserCall) =>
    new Promise<BrowserResult>((resolve, reject) => {
      calls.push({ ...call, end: resolve, fail: reject });
    });
  const browserCalls = new BrowserCalls({
    outbox,
    tools: new Map(['browser_click', 'browser_navigate'].map((name) => [name, startCall])),
    readTabState: async () => tab.state,
    readTopDocument: async () => tab.documentId,
    readPage: async () => ({ url: 'https://a.example/', title: 'A' }),
    waitBeforePartMs: () => room.inMs,
  });
  const dispatch = (params: Partial<ToolDispatchParams> = {}) =>
    browserCalls.dispatch({
      dispatchId: 'x',
      plugin: 'browser',
      tool: 'browser_click',
      tabId: 1,
      documentId: 'd1',
      maxResultBytes: 10 * MaxPartChars,
      args: { target: 'e1' },
      ...params,
    });
  const start = async (params: Partial<ToolDispatchParams> = {}): Promise<Call> => {
    dispatch(params);
    await runPendingPromises();
    const call = calls.at(-1);
    if (!call) throw new Error('the tool did not start');
    return call;
  };
  const frames = () =>
    sent.splice(0).map((text) => {
      const frame: unknown = JSON.parse(text);
      return isRecord(frame) ? frame : {};
    });
  return { browserCalls, outbox, calls, tab, room, dispatch, start, frames, sent };
}

test('a tool runs, and its result has the page of the tab', async (t) => {
  const { browserCalls, start, frames } = makeFixture(t);
  const call = await start();
  assert.deepEqual(call.args, { target: 'e1' });
  assert.deepEqual(browserCalls.ids, ['x']);
  call.end({ text: 'Clicked.' });
  await runPendingPromises();
  const output = { text: 'Clicked.', page: { url: 'https://a.example/', title: 'A' } };
  assert.deepEqual(frames(), [{ jsonrpc: '2.0', id: 'x', result: { output } }]);
  assert.deepEqual(browserCalls.ids, []);
});

test('a repeated dispatch runs nothing, whether the call runs, has ended, or is unknown', async (t) => {
  const { calls, dispatch, start, frames } = makeFixture(t);
  const call = await start();
  dispatch({ again: true });
  call.end({});
  await runPendingPromises();
  assert.equal(frames().length, 1);
  dispatch({ again: true });
  await runPendingPromises();
  assert.deepEqual(frames(), []);
  dispatch({ dispatchId: 'y', again: true });
  await runPendingPromises();
  const [{ error } = {}] = frames();
  assert.ok(isRecord(error) && isRecord(error.data));
  assert.equal(error.data.code, 'link_lost');
  assert.equal(error.data.notStarted, undefined);
  assert.equal(calls.length, 1);
});

test('a tool does not start in another document or without its tab', async (t) => {
  const { calls, tab, dispatch, sent } = makeFixture(t);
  tab.documentId = 'd2';
  dispatch();
  await runPendingPromises();
  assert.match(sent.splice(0).join(), /"code":"navigated",.*"notStarted":true/);
  dispatch();
  await runPendingPromises();
  assert.deepEqual(sent, [], 'the ending of the call is stored');
  tab.state = 'closed';
  dispatch({ dispatchId: 'y' });
  await runPendingPromises();
  assert.match(sent.join(), /"code":"tab_closed",.*"notStarted":true/);
  assert.equal(calls.length, 0);
});

test('a tool without a pinned document runs in any document, and a tool without a tab needs none', async (t) => {
  const { tab, start, calls } = makeFixture(t);
  tab.documentId = 'd2';
  await start({ documentId: '' });
  tab.state = 'crashed';
  await start({ dispatchId: 'y', documentId: '' });
  tab.state = 'closed';
  await start({ dispatchId: 'z', tabId: 0, documentId: '' });
  assert.equal(calls.length, 3);
});

test('a navigation pinned to a document runs in a tab whose page crashed, and other tools do not', async (t) => {
  const { tab, start, dispatch, calls, sent } = makeFixture(t);
  tab.state = 'crashed';
  await start({ tool: 'browser_navigate' });
  assert.equal(calls.length, 1);
  dispatch({ dispatchId: 'y' });
  await runPendingPromises();
  assert.match(sent.join(), /"code":"page_crashed",.*"notStarted":true/);
});

test('an unknown tool is named', async (t) => {
  const { dispatch, sent } = makeFixture(t);
  dispatch({ tool: 'browser_fly' });
  await runPendingPromises();
  assert.match(sent.join(), /"code":"unknown_tool".*browser_fly/);
});

test('reports are numbered and end with the call', async (t) => {
  const { start, frames } = makeFixture(t);
  const call = await start();
  call.report({ message: 'one' });
  call.report({ message: 'two', progress: 1, total: 2 });
  call.fail(toolFailure('stale_ref', 'the element e1 is gone'));
  await runPendingPromises();
  call.report({ message: 'late' });
  const [first, second, ending, ...others] = frames();
  assert.deepEqual(first?.params, { dispatchId: 'x', seq: 0, reports: [{ message: 'one' }] });
  assert.deepEqual(second?.params, { dispatchId: 'x', seq: 1, reports: [{ message: 'two', progress: 1, total: 2 }] });
  const tool = { code: 'stale_ref', retryable: false, category: 'not_found' };
  const data = { code: 'tool_error', message: 'the element e1 is gone', tool };
  assert.deepEqual(ending?.error, { code: -32000, message: data.message, data });
  assert.deepEqual(others, []);
});

test('a cancel is answered with aborted, with finished, or after 2 s with ignored', async (t) => {
  const { browserCalls, start, frames } = makeFixture(t);
  const params = { dispatchId: 'x', reason: 'enough' };
  const aborted = await start();
  const outcome = browserCalls.cancel(params);
  assert.equal(aborted.signal.aborted, true);
  assert.match(String(aborted.signal.reason), /enough/);
  aborted.fail(aborted.signal.reason);
  assert.equal(await outcome, 'aborted');
  const finished = await start();
  const late = browserCalls.cancel(params);
  finished.end({});
  assert.equal(await late, 'finished');
  await start();
  const ignored = browserCalls.cancel(params);
  await runPendingPromises();
  t.mock.timers.tick(2000);
  assert.equal(await ignored, 'ignored');
  assert.equal(await browserCalls.cancel(params), 'finished');
  assert.deepEqual(frames(), [], 'a cancelled call has no ending');
  assert.deepEqual(browserCalls.ids, []);
});

test('a large result is sent in parts when the link has room, and a result above the limit fails', async (t) => {
  const { room, start, frames } = makeFixture(t);
  const content = `${'a'.repeat(MaxPartChars)}😀${'b'.repeat(MaxPartChars)}`;
  const call = await start();
  room.inMs = 4;
  call.end({ content });
  await runPendingPromises();
  assert.deepEqual(frames(), []);
  room.inMs = 0;
  t.mock.timers.tick(4);
  await runPendingPromises();
  const sent = frames();
  const parts = sent.slice(0, -1).map(({ params }) => (isRecord(params) ? String(params.text) : ''));
  assert.ok(parts.every((part) => part.length <= MaxPartChars));
  const joined: unknown = JSON.parse(parts.join(''));
  assert.ok(isRecord(joined) && joined.content === content);
  assert.deepEqual(sent.at(-1)?.result, { parts: 3 });
  const small = await start({ dispatchId: 'y', maxResultBytes: 60 });
  small.end({ content: 'é'.repeat(40) });
  await runPendingPromises();
  assert.match(JSON.stringify(frames()), /"code":"result_too_large"/);
});

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { MaxPartChars, type ToolDispatchParams } from '../../../../wire/wire.gen.ts';
import { runPendingPromises } from '../../../test/server.ts';
import type { TabState } from '../../chrome.ts';
import { isRecord } from '../../record.ts';
import { Outbox } from '../calls/outbox.ts';
import { BrowserCalls } from './browser-calls.ts';
import type { BrowserCall, BrowserResult } from './browser-tool.ts';
import { makeDocumentGoneFailure, toolFailure } from './tool-failure.ts';

interface TestCall extends BrowserCall {
  end(result: BrowserResult): void;
  fail(error: unknown): void;
}

function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const sentFrames: string[] = [];
  const calls: TestCall[] = [];
  const tab: { state: TabState; documentId: string | undefined } = { state: 'open', documentId: 'd1' };
  const outboxDelay = { inMs: 0 };
  const outbox = new Outbox({
    send: (frameText) => sentFrames.push(frameText) > 0,
    requestConfirmation: () => new Promise(() => undefined),
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
    getPartDelayMs: () => outboxDelay.inMs,
  });
  const dispatchCall = (params: Partial<ToolDispatchParams> = {}) =>
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
  const start = async (params: Partial<ToolDispatchParams> = {}): Promise<TestCall> => {
    dispatchCall(params);
    await runPendingPromises();
    const call = calls.at(-1);
    if (!call) throw new Error('the tool did not start');
    return call;
  };
  const frames = () =>
    sentFrames.splice(0).map((frameText) => {
      const frame: unknown = JSON.parse(frameText);
      return isRecord(frame) ? frame : {};
    });
  return {
    browserCalls,
    outbox,
    calls,
    tab,
    outboxRoom: outboxDelay,
    dispatchCall,
    start,
    frames,
    sentFrames,
  };
}

test("the result of a browser tool contains the URL and the title of the tab's page", async (t) => {
  const { browserCalls, start: startCall, frames } = makeFixture(t);
  const call = await startCall();
  assert.deepEqual(call.args, { target: 'e1' });
  assert.deepEqual(browserCalls.ids, ['x']);
  call.end({ text: 'Clicked.' });
  await runPendingPromises();
  const output = { text: 'Clicked.', page: { url: 'https://a.example/', title: 'A' } };
  assert.deepEqual(frames(), [{ jsonrpc: '2.0', id: 'x', result: { output } }]);
  assert.deepEqual(browserCalls.ids, []);
});

test('a repeated dispatch does not run the tool again, whether the call is running, ended or unknown', async (t) => {
  const { calls, dispatchCall, start: startCall, frames } = makeFixture(t);
  const call = await startCall();
  dispatchCall({ again: true });
  call.end({});
  await runPendingPromises();
  assert.equal(frames().length, 1);
  dispatchCall({ again: true });
  await runPendingPromises();
  assert.deepEqual(frames(), []);
  dispatchCall({ dispatchId: 'y', again: true });
  await runPendingPromises();
  const [{ error } = {}] = frames();
  assert.ok(isRecord(error) && isRecord(error.data));
  assert.equal(error.data.code, 'link_lost');
  assert.equal(error.data.notStarted, undefined);
  assert.equal(calls.length, 1);
});

test('a tool does not start if its tab is closed or shows another document', async (t) => {
  const { calls, tab, dispatchCall, sentFrames } = makeFixture(t);
  tab.documentId = 'd2';
  dispatchCall();
  await runPendingPromises();
  assert.match(sentFrames.splice(0).join(), /"code":"navigated",.*"notStarted":true/);
  dispatchCall();
  await runPendingPromises();
  assert.deepEqual(sentFrames, [], 'a repeated dispatch of an ended call must send nothing');
  tab.state = 'closed';
  dispatchCall({ dispatchId: 'y' });
  await runPendingPromises();
  assert.match(sentFrames.join(), /"code":"tab_closed",.*"notStarted":true/);
  assert.equal(calls.length, 0);
});

test('a call without a documentId runs in any document, and a call without a tabId runs without a tab', async (t) => {
  const { tab, start: startCall, calls } = makeFixture(t);
  tab.documentId = 'd2';
  await startCall({ documentId: '' });
  tab.state = 'crashed';
  await startCall({ dispatchId: 'y', documentId: '' });
  tab.state = 'closed';
  await startCall({ dispatchId: 'z', tabId: 0, documentId: '' });
  assert.equal(calls.length, 3);
});

test('in a tab whose page crashed, a navigation tool runs, and other tools fail', async (t) => {
  const { tab, start: startCall, dispatchCall, calls, sentFrames } = makeFixture(t);
  tab.state = 'crashed';
  await startCall({ tool: 'browser_navigate' });
  assert.equal(calls.length, 1);
  dispatchCall({ dispatchId: 'y' });
  await runPendingPromises();
  assert.match(sentFrames.join(), /"code":"page_crashed",.*"notStarted":true/);
});

test("the error for an unknown tool contains the tool's name", async (t) => {
  const { dispatchCall, sentFrames } = makeFixture(t);
  dispatchCall({ tool: 'browser_fly' });
  await runPendingPromises();
  assert.match(sentFrames.join(), /"code":"unknown_tool".*browser_fly/);
});

test('progress reports have increasing numbers, and reports after the end of the call are dropped', async (t) => {
  const { start: startCall, frames } = makeFixture(t);
  const call = await startCall();
  call.report({ message: 'one' });
  call.report({ message: 'two', progress: 1, total: 2 });
  call.fail(toolFailure('stale_ref', 'the element e1 is gone'));
  await runPendingPromises();
  call.report({ message: 'late' });
  const [firstFrame, secondFrame, endingFrame, ...otherFrames] = frames();
  assert.deepEqual(firstFrame?.params, { dispatchId: 'x', seq: 0, reports: [{ message: 'one' }] });
  assert.deepEqual(secondFrame?.params, {
    dispatchId: 'x',
    seq: 1,
    reports: [{ message: 'two', progress: 1, total: 2 }],
  });
  const tool = { code: 'stale_ref', retryable: false, category: 'not_found' };
  const errorData = { code: 'tool_error', message: 'the element e1 is gone', tool };
  assert.deepEqual(endingFrame?.error, { code: -32000, message: errorData.message, data: errorData });
  assert.deepEqual(otherFrames, []);
});

test('the outcome of a cancellation is aborted, finished, or after 2 s ignored', async (t) => {
  const { browserCalls, start: startCall, frames } = makeFixture(t);
  const params = { dispatchId: 'x', reason: 'enough' };
  const abortedCall = await startCall();
  const cancelOutcome = browserCalls.cancel(params);
  assert.equal(abortedCall.signal.aborted, true);
  assert.match(String(abortedCall.signal.reason), /enough/);
  abortedCall.fail(abortedCall.signal.reason);
  assert.equal(await cancelOutcome, 'aborted');
  const finishedCall = await startCall();
  const lateCancel = browserCalls.cancel(params);
  finishedCall.end({});
  assert.equal(await lateCancel, 'finished');
  await startCall();
  const ignoredCancel = browserCalls.cancel(params);
  await runPendingPromises();
  t.mock.timers.tick(2000);
  assert.equal(await ignoredCancel, 'ignored');
  assert.equal(await browserCalls.cancel(params), 'finished');
  assert.deepEqual(frames(), [], 'a cancelled call must send no ending');
  assert.deepEqual(browserCalls.ids, []);
});

test('a large result is sent in parts when the link can accept them, and a result above the limit fails', async (t) => {
  const { outboxRoom, start: startCall, frames } = makeFixture(t);
  const content = `${'a'.repeat(MaxPartChars)}😀${'b'.repeat(MaxPartChars)}`;
  const call = await startCall();
  outboxRoom.inMs = 4;
  call.end({ content });
  await runPendingPromises();
  assert.deepEqual(frames(), []);
  outboxRoom.inMs = 0;
  t.mock.timers.tick(4);
  await runPendingPromises();
  const sentFrames = frames();
  const partTexts = sentFrames.slice(0, -1).map(({ params }) => (isRecord(params) ? String(params.text) : ''));
  assert.ok(partTexts.every((partText) => partText.length <= MaxPartChars));
  const joinedResult: unknown = JSON.parse(partTexts.join(''));
  assert.ok(isRecord(joinedResult) && joinedResult.content === content);
  assert.deepEqual(sentFrames.at(-1)?.result, { parts: 3 });
  const smallCall = await startCall({ dispatchId: 'y', maxResultBytes: 60 });
  smallCall.end({ content: 'é'.repeat(40) });
  await runPendingPromises();
  assert.match(JSON.stringify(frames()), /"code":"result_too_large"/);
});

test('an error after the tool has acted does not state that the tool has not started', async (t) => {
  const { start: startCall, frames } = makeFixture(t);
  const waitingCall = await startCall();
  waitingCall.fail(makeDocumentGoneFailure('open', false));
  await runPendingPromises();
  assert.match(JSON.stringify(frames()), /"code":"navigated".*"notStarted":true/);
  const actingCall = await startCall({ dispatchId: 'y' });
  actingCall.markActed();
  actingCall.fail(makeDocumentGoneFailure('open', false));
  await runPendingPromises();
  const endingText = JSON.stringify(frames());
  assert.match(endingText, /"code":"navigated"/);
  assert.doesNotMatch(endingText, /notStarted/);
});

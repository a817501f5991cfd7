import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { CancelOutcome } from '../../../../wire/wire.gen.ts';
import { runPendingPromises } from '../../../test/server.ts';
import type { TabState } from '../../chrome.ts';
import { MaxCallAgeMs, type WorkerToBridgeMessage } from '../../port-message.ts';
import { type Doc, makeDocs } from '../documents/docs.ts';
import { Calls, type CallsOptions } from './calls.ts';
import { Outbox } from './outbox.ts';
import { RunningCalls } from './running.ts';

function makeFixture(t: TestContext, isBooting = false, health?: CallsOptions['health']) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const sentFrames: string[] = [];
  const linkState = { up: true };
  const resumedCallIds: string[][] = [];
  const tabs = new Map<number, TabState>([
    [1, 'open'],
    [2, 'open'],
  ]);
  const busyDocuments = new Set<string>();
  const inaccessibleDocuments = new Map<string, string>();
  const loadingTabs = new Set<number>();
  const frozenTabs = new Map<number, boolean>();
  const partRequestDelay = { inMs: 0 };
  const missingDocumentTabs: number[] = [];
  const outbox = new Outbox({
    send: (text) => sentFrames.push(text) > 0,
    requestConfirmation: () => new Promise(() => undefined),
  });
  const docs = makeDocs();
  const runningCalls = new RunningCalls();
  const calls = new Calls({
    ...(health ? { health } : {}),
    outbox,
    docs,
    runningCalls,
    send: (text) => linkState.up && sentFrames.push(text) > 0,
    reportResumedCalls: (ids) => resumedCallIds.push([...ids]),
    readTabState: async (id) => tabs.get(id) ?? 'closed',
    isTabLoading: async (id) => loadingTabs.has(id),
    isTabFrozen: (id) => (frozenTabs.has(id) ? Promise.resolve(frozenTabs.get(id) === true) : false),
    findAccessProblem: (id) => inaccessibleDocuments.get(id),
    isDocumentGone: async (_tab, id) => !busyDocuments.has(id),
    getPartDelayMs: () => partRequestDelay.inMs,
    onDocumentMissing: (id) => missingDocumentTabs.push(id),
  });
  if (!isBooting) t.mock.timers.tick(10_000);
  const doc = (tabId: number, documentId: string) => {
    const receivedMessages: WorkerToBridgeMessage[] = [];
    const fakeDoc: Doc = { tabId, frameId: 0, documentId, url: '', post: (message) => receivedMessages.push(message) };
    return { doc: fakeDoc, receivedMessages };
  };
  const addDocument = (tabId: number, documentId: string) => {
    const fakeDoc = doc(tabId, documentId);
    calls.onDocumentConnected(fakeDoc.doc);
    calls.receive(fakeDoc.doc, { op: 'documentState', plugins: [{ name: 'demo', hash: 'h' }], running: [] });
    return fakeDoc;
  };
  const dispatchCall = (id: string, tabId = 1, documentId = 'd1', isRetry = false) =>
    calls.dispatch({
      dispatchId: id,
      plugin: 'demo',
      tool: 't',
      tabId,
      documentId,
      maxResultBytes: 5,
      args: { a: 1 },
      ...(isRetry ? { again: isRetry } : {}),
    });
  const codes = () =>
    sentFrames.map((s) =>
      /"id":"(\w+)".*?(?:"code":"(\w+)"|"result":(.*)}$)/.exec(s)?.slice(1).filter(Boolean).join(' '),
    );
  const advanceTime = async (ms: number) => {
    t.mock.timers.tick(ms);
    await runPendingPromises();
  };
  return {
    calls,
    docs,
    sentFrames,
    linkState,
    partDelay: partRequestDelay,
    resumedCalls: resumedCallIds,
    tabs,
    busyTabs: busyDocuments,
    inaccessibleDocuments,
    loadingTabs,
    frozenTabs,
    runningCalls,
    missingCalls: missingDocumentTabs,
    addDocument,
    doc,
    dispatchCall,
    codes,
    advanceTime,
  };
}

test('the answer to a traced call contains the step times of worker and page, and other answers do not', async (t) => {
  let nowMs = 500;
  t.mock.method(performance, 'now', () => nowMs);
  const { calls, sentFrames, addDocument, dispatchCall } = makeFixture(t);
  const { doc, receivedMessages } = addDocument(1, 'd1');
  const target = { plugin: 'demo', tool: 't', tabId: 1, documentId: 'd1', maxResultBytes: 5 };
  for (const dispatchId of ['x', 'failed']) calls.dispatch({ ...target, dispatchId, trace: true, args: {} }, 499.8);
  dispatchCall('y');
  dispatchCall('alsoFailed');
  assert.deepEqual(
    receivedMessages.map((message) => message.op === 'call' && message.trace),
    [true, true, undefined, undefined],
  );
  nowMs = 504.1;
  const page = { bridgeInUs: 1, hostInUs: 2, schemaUs: 3, handlerUs: 4, resultUs: 5 };
  calls.receive(doc, { op: 'result', id: 'x', text: '7', hops: page }, 504);
  calls.receive(doc, { op: 'result', id: 'y', text: '8', hops: page }, 504);
  const error = JSON.stringify({ code: 'tool_error', message: 'no' });
  calls.receive(doc, { op: 'error', id: 'failed', error, hops: page }, 504);
  calls.receive(doc, { op: 'error', id: 'alsoFailed', error, hops: page }, 504);
  const browserHops = { workerInUs: 200, documentUs: 4000, workerOutUs: 100, page };
  const frames = sentFrames.map((frame) => JSON.parse(frame));
  assert.deepEqual(
    frames.slice(0, 2).map((frame) => frame.result),
    [{ output: 7, hops: browserHops }, { output: 8 }],
  );
  assert.deepEqual(
    frames.slice(2).map((frame) => frame.error.hops),
    [browserHops, undefined],
  );
});

test('a call does not start in a frozen page, so that it can run in another page', async (t) => {
  const { sentFrames, frozenTabs, addDocument, dispatchCall, codes, advanceTime } = makeFixture(t);
  const { receivedMessages } = addDocument(1, 'd1');
  frozenTabs.set(1, true);
  dispatchCall('x');
  await advanceTime(0);
  assert.deepEqual([receivedMessages, codes()], [[], ['x tab_frozen']]);
  assert.match(sentFrames.join(), /"notStarted":true/);
  frozenTabs.set(1, false);
  dispatchCall('y');
  await advanceTime(0);
  assert.deepEqual(
    receivedMessages.map((message) => message.op),
    ['call'],
  );
});

test('a call that is cancelled while the worker reads the state of its page does not start', async (t) => {
  const { calls, frozenTabs, addDocument, dispatchCall, advanceTime } = makeFixture(t);
  const { receivedMessages } = addDocument(1, 'd1');
  frozenTabs.set(1, false);
  dispatchCall('x');
  void calls.cancel({ dispatchId: 'x', reason: 'enough' });
  await advanceTime(0);
  assert.deepEqual(
    receivedMessages.map((message) => message.op),
    ['cancel'],
  );
});

test('the worker stores the readiness that an adapter reports', (t) => {
  const { calls, docs, addDocument } = makeFixture(t);
  calls.receive(addDocument(1, 'd1').doc, { op: 'ready', plugin: 'demo', ready: true });
  assert.deepEqual(docs.findTopDoc(1)?.plugins, [{ name: 'demo', hash: 'h', ready: true }]);
});

test('a document may send the next part of a result when the socket can accept data, even for an unknown call', async (t) => {
  const { calls, partDelay, addDocument, dispatchCall, advanceTime } = makeFixture(t);
  const { doc, receivedMessages } = addDocument(1, 'd1');
  dispatchCall('x');
  receivedMessages.splice(0);
  partDelay.inMs = 4;
  calls.receive(doc, { op: 'part', id: 'x', seq: 0, text: '1' });
  await advanceTime(3);
  assert.deepEqual(receivedMessages, []);
  partDelay.inMs = 0;
  await advanceTime(1);
  assert.deepEqual(receivedMessages, [{ op: 'partSent' }]);
  calls.receive(doc, { op: 'part', id: 'unknown', seq: 0, text: '1' });
  await advanceTime(0);
  assert.equal(receivedMessages.length, 2);
});

test("the worker forwards a call to its document, and the call's progress reports and result to the server", (t) => {
  const { calls, runningCalls, sentFrames, addDocument, dispatchCall } = makeFixture(t);
  const { doc, receivedMessages } = addDocument(1, 'd1');
  dispatchCall('x');
  dispatchCall('x');
  const sentCall = { op: 'call', id: 'x', plugin: 'demo', tool: 't', maxBytes: 5, args: '{"a":1}', atMs: Date.now() };
  assert.deepEqual(receivedMessages, [sentCall]);
  calls.receive(doc, { op: 'progress', id: 'x', seq: 0, skipped: 0, reports: '[{"progress":1}]' });
  calls.receive(doc, { op: 'result', id: 'x', text: '{"ok":true}' });
  assert.deepEqual(sentFrames, [
    '{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"x","seq":0,"reports":[{"progress":1}]}}',
    '{"jsonrpc":"2.0","id":"x","result":{"output":{"ok":true}}}',
  ]);
  assert.deepEqual(runningCalls.ids, []);
  calls.confirmDelivery(['x', 'unknown']);
  assert.deepEqual(receivedMessages.at(-1), { op: 'confirmEndings', ids: ['x'] });
});

test("messages about a call are ignored if they come from another document than the call's", (t) => {
  const { calls, runningCalls, sentFrames, addDocument, dispatchCall } = makeFixture(t);
  addDocument(1, 'd1');
  const otherDocument = addDocument(2, 'd2');
  dispatchCall('x');
  calls.receive(otherDocument.doc, { op: 'progress', id: 'x', seq: 0, skipped: 0, reports: '[{}]' });
  calls.receive(otherDocument.doc, { op: 'part', id: 'x', seq: 0, text: 'forged' });
  calls.receive(otherDocument.doc, { op: 'result', id: 'x', text: '"forged"' });
  calls.receive(otherDocument.doc, { op: 'error', id: 'x', error: '{"code":"internal","message":"forged"}' });
  assert.deepEqual(sentFrames, []);
  assert.deepEqual(runningCalls.ids, ['x']);
});

test('calls for a missing document or tab fail with notStarted', async (t) => {
  const { addDocument, dispatchCall, codes, missingCalls, sentFrames, advanceTime } = makeFixture(t);
  addDocument(1, 'd1');
  dispatchCall('a', 1, 'old');
  dispatchCall('b', 9, 'd9');
  dispatchCall('c', 2, 'd1');
  await advanceTime(0);
  assert.deepEqual(codes(), ['a navigated', 'b tab_closed', 'c navigated']);
  assert.ok(sentFrames.every((text) => text.includes('"notStarted":true')));
  assert.deepEqual(missingCalls, [1, 9, 2]);
});

test('a restarted worker waits for documents to connect', async (t) => {
  const { dispatchCall, addDocument, codes, advanceTime } = makeFixture(t, true);
  dispatchCall('a');
  dispatchCall('b', 1, 'never');
  const { receivedMessages } = addDocument(1, 'd1');
  await advanceTime(300);
  assert.equal(receivedMessages[0]?.op, 'call');
  assert.deepEqual(codes(), ['b navigated']);
});

test('calls end at once when their tab closes, and 50 ms after a navigation without an earlier result', async (t) => {
  const { calls, runningCalls, tabs, addDocument, dispatchCall, codes, advanceTime } = makeFixture(t);
  const firstDocument = addDocument(1, 'd1');
  const secondDocument = addDocument(2, 'd2');
  dispatchCall('closed', 1, 'd1');
  dispatchCall('won', 2, 'd2');
  dispatchCall('left', 2, 'd2');
  tabs.delete(1);
  calls.onTabRemoved(1);
  calls.onDocumentDisconnected(firstDocument.doc);
  assert.deepEqual(codes(), ['closed tab_closed']);
  calls.receive(secondDocument.doc, { op: 'result', id: 'won', text: '1' });
  calls.receive(secondDocument.doc, { op: 'leaving', begunCalls: ['left'] });
  calls.onDocumentDisconnected(secondDocument.doc);
  await advanceTime(49);
  assert.deepEqual(runningCalls.ids, ['left']);
  await advanceTime(1);
  assert.deepEqual(codes(), ['closed tab_closed', 'won {"output":1}', 'left navigated']);
});

test('calls end with tab_closed even if the port closes before Chrome reports the removal of the tab', async (t) => {
  const { calls, tabs, addDocument, dispatchCall, codes, advanceTime } = makeFixture(t);
  const { doc } = addDocument(1, 'd1');
  dispatchCall('x');
  calls.onDocumentDisconnected(doc);
  tabs.delete(1);
  await advanceTime(50);
  assert.deepEqual(codes(), ['x tab_closed']);
});

test('the calls of a document continue if the document reconnects in time', async (t) => {
  const { calls, runningCalls, sentFrames, addDocument, dispatchCall, advanceTime } = makeFixture(t);
  const { doc } = addDocument(1, 'd1');
  dispatchCall('x');
  calls.onDocumentDisconnected(doc);
  const reconnectedDocument = addDocument(1, 'd1');
  await advanceTime(1000);
  assert.deepEqual(runningCalls.ids, ['x']);
  calls.receive(doc, { op: 'result', id: 'x', text: '"of the old port"' });
  calls.receive(reconnectedDocument.doc, { op: 'result', id: 'x', text: '1' });
  assert.deepEqual(sentFrames, ['{"jsonrpc":"2.0","id":"x","result":{"output":1}}']);
});

test('the worker reports unknown calls of a document to the server', (t) => {
  const { calls, runningCalls, resumedCalls, doc, sentFrames } = makeFixture(t);
  const { doc: fakeDoc } = doc(1, 'd1');
  calls.onDocumentConnected(fakeDoc);
  calls.receive(fakeDoc, { op: 'documentState', plugins: [], running: [{ id: 'x', plugin: 'demo' }] });
  calls.receive(fakeDoc, { op: 'documentState', plugins: [], running: [{ id: 'x', plugin: 'demo' }] });
  assert.deepEqual(resumedCalls, [['x']]);
  assert.deepEqual(runningCalls.ids, ['x']);
  // A restarted worker also forwards a result that the document sent while no worker was running.
  calls.receive(fakeDoc, { op: 'result', id: 'ended', text: '2' });
  assert.equal(sentFrames.length, 1);
});

test('the promise of cancel resolves with the outcome that the document reports', async (t) => {
  const { calls, runningCalls, addDocument, dispatchCall, sentFrames } = makeFixture(t);
  const { doc, receivedMessages } = addDocument(1, 'd1');
  const cancelOutcomes: CancelOutcome[] = [];
  for (const id of ['a', 'b']) {
    dispatchCall(id);
    void calls.cancel({ dispatchId: id, reason: 'why' }).then((o) => cancelOutcomes.push(o));
  }
  assert.deepEqual(receivedMessages.slice(-1), [{ op: 'cancel', id: 'b', reason: 'why' }]);
  assert.deepEqual(runningCalls.ids, []);
  calls.receive(doc, { op: 'progress', id: 'a', seq: 0, skipped: 0, reports: '[{}]' });
  calls.receive(doc, { op: 'cancelled', id: 'a', outcome: 'aborted' });
  calls.onDocumentDisconnected(doc);
  calls.onTabRemoved(1);
  await runPendingPromises();
  assert.deepEqual(cancelOutcomes, ['aborted']);
  t.mock.timers.tick(50);
  await runPendingPromises();
  assert.deepEqual(cancelOutcomes, ['aborted', 'ignored']);
  assert.deepEqual(sentFrames, []);
});

test('a cancellation reaches a document that reports its call only later', async (t) => {
  const { calls, runningCalls, doc } = makeFixture(t);
  assert.equal(await calls.cancel({ dispatchId: 'x', reason: 'late' }), 'finished');
  const { doc: fakeDoc, receivedMessages } = doc(1, 'd1');
  calls.onDocumentConnected(fakeDoc);
  calls.receive(fakeDoc, { op: 'documentState', plugins: [], running: [{ id: 'x', plugin: 'demo' }] });
  assert.deepEqual(receivedMessages, [{ op: 'cancel', id: 'x', reason: 'late' }]);
  assert.deepEqual(runningCalls.ids, []);
});

test('an error that the worker cannot parse becomes an internal error', (t) => {
  const { calls, addDocument, dispatchCall, codes } = makeFixture(t);
  const { doc } = addDocument(1, 'd1');
  dispatchCall('x');
  calls.receive(doc, { op: 'error', id: 'x', error: '{"code":"made_up","message":"m"}' });
  dispatchCall('y');
  calls.receive(doc, { op: 'error', id: 'y', error: 'no json' });
  assert.deepEqual(codes(), ['x internal', 'y internal']);
});

test('a call that did not reach its document before a navigation fails with notStarted', async (t) => {
  const { calls, sentFrames, addDocument, dispatchCall, advanceTime } = makeFixture(t);
  const { doc } = addDocument(1, 'd1');
  dispatchCall('begun');
  calls.receive(doc, { op: 'leaving', begunCalls: ['begun'] });
  dispatchCall('late');
  calls.onDocumentDisconnected(doc);
  await advanceTime(50);
  const isNotStarted = (id: string) =>
    sentFrames.find((text) => text.includes(`"id":"${id}"`))?.includes('"notStarted":true');
  assert.deepEqual([isNotStarted('begun'), isNotStarted('late')], [false, true]);
});

for (const [tabState, code] of [
  ['open', 'navigated'],
  ['closed', 'tab_closed'],
  ['crashed', 'page_crashed'],
  ['discarded', 'tab_discarded'],
] as const) {
  test(`a document whose tab is then ${tabState} ends its calls with ${code}, at once`, async (t) => {
    const { calls, tabs, addDocument, dispatchCall, codes, advanceTime } = makeFixture(t);
    const { doc } = addDocument(1, 'd1');
    dispatchCall('x');
    tabs.set(1, tabState);
    if (tabState === 'open') calls.receive(doc, { op: 'leaving', begunCalls: ['x'] });
    calls.onDocumentDisconnected(doc);
    await advanceTime(50);
    assert.deepEqual(codes(), [`x ${code}`]);
  });
}

test('a document that leaves unannounced ends its calls with page_crashed if Chrome reports the crash within 2 s', async (t) => {
  const { calls, tabs, addDocument, dispatchCall, codes, advanceTime } = makeFixture(t);
  const { doc } = addDocument(1, 'd1');
  dispatchCall('x');
  calls.onDocumentDisconnected(doc);
  for (let i = 0; i < 20; i++) await advanceTime(50);
  assert.deepEqual(codes(), []);
  tabs.set(1, 'crashed');
  await advanceTime(50);
  assert.deepEqual(codes(), ['x page_crashed']);
});

test('the calls of a crashed page end with page_crashed if the tab is reloaded for another call within 50 ms', async (t) => {
  const { calls, runningCalls, loadingTabs, addDocument, dispatchCall, codes, advanceTime } = makeFixture(t);
  const { doc } = addDocument(1, 'd1');
  dispatchCall('x');
  calls.onDocumentDisconnected(doc);
  calls.onTabCrashed(1);
  loadingTabs.add(1);
  addDocument(1, 'd2');
  dispatchCall('y', 1, 'd2');
  calls.onTabCrashed(1); // a late crash report does not affect the tab's new document
  await advanceTime(50);
  assert.deepEqual([codes(), runningCalls.ids], [['x page_crashed'], ['y']]);
});

for (const [caseName, ms] of [
  ['the tab loads another document', 50],
  ['another document of the tab connects', 100],
  ['2 s have passed', 2050],
] as const) {
  test(`a document that leaves unannounced ends its calls with navigated when ${caseName}`, async (t) => {
    const { calls, loadingTabs, addDocument, dispatchCall, codes, advanceTime } = makeFixture(t);
    const { doc } = addDocument(1, 'd1');
    dispatchCall('x');
    if (ms === 50) loadingTabs.add(1);
    calls.onDocumentDisconnected(doc);
    for (let elapsedMs = 0; elapsedMs < ms; elapsedMs += 50) {
      assert.deepEqual(codes(), []);
      await advanceTime(50);
      if (ms === 100) addDocument(1, 'd2');
    }
    assert.deepEqual(codes(), ['x navigated']);
  });
}

test('a discarded tab, whose ID changes, ends its calls with tab_discarded', async (t) => {
  const { calls, addDocument, dispatchCall, codes, advanceTime } = makeFixture(t);
  addDocument(1, 'd1');
  dispatchCall('x');
  calls.onTabDiscarded(1);
  await advanceTime(50);
  assert.deepEqual(codes(), ['x tab_discarded']);
});

test('a repeated call is not reported as not started, and does not run twice', async (t) => {
  const { calls, sentFrames, addDocument, dispatchCall, codes, advanceTime } = makeFixture(t);
  const { doc, receivedMessages } = addDocument(1, 'd1');
  dispatchCall('x');
  dispatchCall('x', 1, 'd1', true);
  assert.equal(receivedMessages.length, 1);
  calls.receive(doc, { op: 'result', id: 'x', text: '1' });
  dispatchCall('x', 1, 'd1', true);
  assert.equal(receivedMessages.length, 1);
  dispatchCall('y', 1, 'gone');
  dispatchCall('z', 1, 'gone', true);
  await advanceTime(0);
  assert.deepEqual(codes().slice(1), ['y navigated', 'z navigated']);
  assert.deepEqual(
    sentFrames.slice(1).map((text) => text.includes('notStarted')),
    [true, false],
  );
});

test('a restarted worker waits for a busy document', async (t) => {
  const { busyTabs, addDocument, dispatchCall, codes, advanceTime } = makeFixture(t, true);
  busyTabs.add('d1');
  dispatchCall('x');
  dispatchCall('y', 2, 'gone');
  await advanceTime(300);
  await advanceTime(0);
  assert.deepEqual(codes(), ['y navigated']);
  await advanceTime(200);
  const { receivedMessages } = addDocument(1, 'd1');
  await advanceTime(100);
  assert.equal(receivedMessages.length, 1);
});

test('a call for a document that was just removed counts as not started, even if the call arrives first', async (t) => {
  const { calls, sentFrames, addDocument, dispatchCall, codes, advanceTime } = makeFixture(t, true);
  const { doc } = addDocument(1, 'd1');
  await advanceTime(5000); // the worker checks after 5 s whether the document is busy
  calls.onDocumentDisconnected(doc);
  dispatchCall('x');
  dispatchCall('y', 1, 'd1', true);
  await advanceTime(50);
  assert.deepEqual(codes(), ['x navigated', 'y navigated']);
  assert.deepEqual(
    sentFrames.map((text) => text.includes('notStarted')),
    [true, false],
  );
});

test('calls sent to a document with an orphaned bridge count as not started; the document is removed', async (t) => {
  const { calls, docs, codes, sentFrames, addDocument, dispatchCall, advanceTime } = makeFixture(t);
  addDocument(1, 'd1');
  dispatchCall('x');
  calls.onDocumentOrphaned('d1');
  calls.onDocumentOrphaned('unknown');
  assert.equal(docs.findTopDoc(1), undefined);
  await advanceTime(50);
  assert.deepEqual(codes(), ['x navigated']);
  assert.match(sentFrames.join(), /"notStarted":true/);
});

test('a call does not start in a document that is navigating away', async (t) => {
  const { calls, sentFrames, loadingTabs, addDocument, dispatchCall, codes, advanceTime } = makeFixture(t);
  const { doc, receivedMessages } = addDocument(1, 'd1');
  calls.receive(doc, { op: 'navigating', on: true });
  loadingTabs.add(1);
  dispatchCall('x');
  await advanceTime(100);
  await advanceTime(4000);
  calls.onDocumentDisconnected(doc);
  await advanceTime(50);
  assert.deepEqual(receivedMessages, []);
  assert.deepEqual(codes(), ['x navigated']);
  assert.match(sentFrames.join(), /"notStarted":true/);
});

test('calls that waited for a cancelled navigation of their document run there in order', async (t) => {
  const { calls, addDocument, dispatchCall } = makeFixture(t);
  const { doc, receivedMessages } = addDocument(1, 'd1');
  calls.receive(doc, { op: 'navigating', on: true });
  dispatchCall('x');
  dispatchCall('y');
  assert.equal(receivedMessages.length, 0);
  calls.receive(doc, { op: 'navigating', on: false });
  dispatchCall('z');
  assert.deepEqual(
    receivedMessages.map((message) => message.op === 'call' && message.id),
    ['x', 'y', 'z'],
  );
});

test('a call that is cancelled while its document navigates does not reach the document', async (t) => {
  const { calls, addDocument, dispatchCall } = makeFixture(t);
  const { doc, receivedMessages } = addDocument(1, 'd1');
  calls.receive(doc, { op: 'navigating', on: true });
  dispatchCall('x');
  void calls.cancel({ dispatchId: 'x', reason: 'why' });
  calls.receive(doc, { op: 'navigating', on: false });
  assert.deepEqual(
    receivedMessages.map((message) => message.op),
    ['cancel'],
  );
});

const makeToolRequestText = (id: string, otherFields = '"ask":1,"user":{"reason":"r"}') =>
  `{"jsonrpc":"2.0","method":"tool.ask","params":{"dispatchId":"${id}",${otherFields}}}`;

test('the worker forwards a tool request to the server, and the answer to the document for confirmation', async (t) => {
  const { calls, sentFrames, addDocument, dispatchCall } = makeFixture(t);
  const { doc, receivedMessages } = addDocument(1, 'd1');
  dispatchCall('x');
  calls.receive(doc, { op: 'toolRequest', id: 'x', ask: 1, body: '{"user":{"reason":"r"}}' });
  assert.deepEqual(sentFrames, [makeToolRequestText('x')]);
  const cancelOutcomes: boolean[] = [];
  void calls
    .answer({ dispatchId: 'x', ask: 1, output: { a: 1 } })
    .then((isExpected) => cancelOutcomes.push(isExpected));
  assert.deepEqual(receivedMessages.at(-1), { op: 'answer', id: 'x', ask: 1, output: '{"a":1}' });
  await runPendingPromises();
  assert.deepEqual(cancelOutcomes, []);
  calls.receive(doc, { op: 'answerReceived', id: 'x', ask: 1, taken: true });
  await runPendingPromises();
  assert.deepEqual(cancelOutcomes, [true]);
  calls.resume();
  assert.equal(sentFrames.length, 1);
});

test('only the document of a call can send tool requests for the call and confirm answers', async (t) => {
  const { calls, sentFrames, addDocument, dispatchCall } = makeFixture(t);
  addDocument(1, 'd1');
  const otherDocument = addDocument(2, 'd2');
  dispatchCall('x');
  calls.receive(otherDocument.doc, { op: 'toolRequest', id: 'x', ask: 1, body: '{"user":{"reason":"forged"}}' });
  calls.receive(otherDocument.doc, { op: 'toolRequest', id: 'unknown', ask: 1, body: '{"user":{"reason":"forged"}}' });
  const cancelOutcomes: boolean[] = [];
  void calls.answer({ dispatchId: 'x', ask: 1 }).then((isExpected) => cancelOutcomes.push(isExpected));
  calls.receive(otherDocument.doc, { op: 'answerReceived', id: 'x', ask: 1, taken: true });
  await runPendingPromises();
  assert.deepEqual([sentFrames, cancelOutcomes], [[], []]);
});

test('open tool requests are sent again on a new link until their call ends', (t) => {
  const { calls, sentFrames, linkState, addDocument, dispatchCall } = makeFixture(t);
  const { doc } = addDocument(1, 'd1');
  for (const id of ['x', 'y', 'z']) dispatchCall(id);
  linkState.up = false;
  for (const id of ['x', 'y', 'z'])
    calls.receive(doc, { op: 'toolRequest', id, ask: 1, body: '{"user":{"reason":"r"}}' });
  calls.receive(doc, { op: 'result', id: 'y', text: '1' });
  void calls.cancel({ dispatchId: 'z', reason: 'no' });
  linkState.up = true;
  sentFrames.splice(0);
  calls.resume();
  calls.resume();
  assert.deepEqual(sentFrames, [makeToolRequestText('x'), makeToolRequestText('x')]);
});

test('a restarted worker gets open tool requests from documents, and stores answers that arrive earlier', async (t) => {
  const { calls, sentFrames, doc, advanceTime } = makeFixture(t, true);
  const cancelOutcomes: [string, boolean][] = [];
  const answerCall = (id: string) =>
    void calls.answer({ dispatchId: id, ask: 1 }).then((isExpected) => cancelOutcomes.push([id, isExpected]));
  answerCall('x');
  answerCall('never');
  const { doc: fakeDoc, receivedMessages } = doc(1, 'd1');
  calls.onDocumentConnected(fakeDoc);
  calls.receive(fakeDoc, { op: 'documentState', plugins: [], running: [{ id: 'x', plugin: 'demo' }] });
  calls.receive(fakeDoc, { op: 'toolRequest', id: 'x', ask: 1, body: '{"user":{"reason":"r"}}' });
  calls.receive(fakeDoc, { op: 'toolRequest', id: 'x', ask: 2, body: '{"withdrawn":true}' });
  const answerMessage = { op: 'answer', id: 'x', ask: 1 };
  assert.deepEqual(receivedMessages, [answerMessage, answerMessage]);
  assert.deepEqual(sentFrames, [makeToolRequestText('x', '"ask":2,"withdrawn":true')]);
  calls.receive(fakeDoc, { op: 'answerReceived', id: 'x', ask: 1, taken: true });
  await advanceTime(10_000);
  assert.deepEqual(cancelOutcomes, [
    ['x', true],
    ['never', false],
  ]);
  assert.equal(await calls.answer({ dispatchId: 'gone', ask: 1 }), false);
});

test('an answer to a tool request waits until the document reconnects, unless the call ends', async (t) => {
  const { calls, addDocument, doc, dispatchCall } = makeFixture(t);
  const firstDocument = addDocument(1, 'd1');
  dispatchCall('x');
  calls.onDocumentDisconnected(firstDocument.doc);
  const cancelOutcomes: boolean[] = [];
  const error = { code: 'denied', message: 'no' } as const;
  void calls.answer({ dispatchId: 'x', ask: 1, error }).then((isExpected) => cancelOutcomes.push(isExpected));
  void calls.answer({ dispatchId: 'x', ask: 1, error }).then((isExpected) => cancelOutcomes.push(isExpected));
  const reconnectedDocument = doc(1, 'd1');
  calls.onDocumentConnected(reconnectedDocument.doc);
  calls.receive(reconnectedDocument.doc, { op: 'documentState', plugins: [], running: [{ id: 'x', plugin: 'demo' }] });
  assert.deepEqual(reconnectedDocument.receivedMessages, [
    { op: 'answer', id: 'x', ask: 1, error: '{"code":"denied","message":"no"}' },
  ]);
  calls.receive(reconnectedDocument.doc, { op: 'answerReceived', id: 'x', ask: 1, taken: true });
  await runPendingPromises();
  assert.deepEqual(cancelOutcomes, [true, true]);
  void calls.answer({ dispatchId: 'x', ask: 2 }).then((isExpected) => cancelOutcomes.push(isExpected));
  calls.receive(reconnectedDocument.doc, { op: 'result', id: 'x' });
  await runPendingPromises();
  assert.deepEqual(cancelOutcomes, [true, true, false]);
});

test("the worker forwards the prompt flag, the user's decision and resync requests to the document", (t) => {
  const { calls, addDocument } = makeFixture(t);
  const { receivedMessages } = addDocument(1, 'd1');
  const call = { plugin: 'demo', tool: 't', tabId: 1, documentId: 'd1', maxResultBytes: 5, args: {} };
  calls.dispatch({ ...call, dispatchId: 'x', prompt: true, decision: { ok: [1] } });
  calls.resync({ dispatchId: 'x', activityType: 'a' });
  calls.resync({ dispatchId: 'gone', activityType: 'a' });
  const callParams = { prompt: true, decision: '{"ok":[1]}', atMs: Date.now() };
  assert.deepEqual(receivedMessages, [
    { op: 'call', id: 'x', plugin: 'demo', tool: 't', maxBytes: 5, args: '{}', ...callParams },
    { op: 'resync', id: 'x', type: 'a' },
  ]);
});

test('when a document becomes silent, only calls that cannot have reached the document end', async (t) => {
  const answeredPingNumbers = new Set([1]);
  const pingNumbers = [0, 1, 2];
  const { calls, runningCalls, sentFrames, addDocument, dispatchCall, advanceTime } = makeFixture(t, false, {
    prepareCall: () => pingNumbers.shift() ?? 0,
    hasAnswered: (_, ping) => answeredPingNumbers.has(ping),
    isSilent: () => true,
  });
  addDocument(1, 'd1');
  for (const id of ['x', 'y', 'z']) dispatchCall(id);
  assert.deepEqual([runningCalls.isBusy('d1'), runningCalls.isBusy('d2')], [true, false]);
  await advanceTime(5000);
  calls.onDocumentSilent('d1');
  assert.deepEqual(runningCalls.ids, ['x', 'y']);
  assert.match(sentFrames.join(), /"id":"z","error":.*"code":"page_unresponsive".*"notStarted":true/);
});

test('a call that follows a pending ping does not fail while the bridge could still start the call', async (t) => {
  const page = { isSilent: false, hasAnswered: false };
  const { calls, runningCalls, sentFrames, addDocument, dispatchCall, advanceTime } = makeFixture(t, false, {
    prepareCall: () => 1,
    hasAnswered: () => page.hasAnswered,
    isSilent: () => page.isSilent,
  });
  const document = addDocument(1, 'd1');
  await advanceTime(4900);
  dispatchCall('arrived');
  dispatchCall('x');
  await advanceTime(100);
  page.isSilent = true;
  calls.onDocumentSilent('d1');
  assert.deepEqual(runningCalls.ids, ['arrived', 'x']);
  calls.receive(document.doc, { op: 'result', id: 'arrived' });
  await advanceTime(MaxCallAgeMs);
  assert.deepEqual(runningCalls.ids, ['x']);
  await advanceTime(1900);
  assert.deepEqual(runningCalls.ids, []);
  assert.match(sentFrames.join(), /"id":"x","error":.*"code":"page_unresponsive".*"notStarted":true/);
  dispatchCall('late'); // the server sends the call before it learns that the document is silent
  await advanceTime(4999);
  page.hasAnswered = true;
  await advanceTime(1);
  assert.deepEqual(runningCalls.ids, ['late']);
});

test('a call that the server sends again never fails as not started while a previous worker may have started it', async (t) => {
  const page = { isSilent: false };
  const { calls, runningCalls, sentFrames, addDocument, dispatchCall, inaccessibleDocuments, advanceTime } =
    makeFixture(t, false, { prepareCall: () => 1, hasAnswered: () => false, isSilent: () => page.isSilent });
  addDocument(1, 'd1');
  dispatchCall('again', 1, 'd1', true);
  page.isSilent = true;
  calls.onDocumentSilent('d1');
  await advanceTime(20_000);
  assert.deepEqual([runningCalls.ids, sentFrames], [['again'], []]);
  inaccessibleDocuments.set('d1', 'the user does not allow this site');
  dispatchCall('again', 1, 'd1', true);
  assert.deepEqual(sentFrames, []);
  dispatchCall('unknown', 1, 'd1', true);
  dispatchCall('new');
  assert.match(sentFrames[0] ?? '', /"id":"unknown","error":.*"code":"no_tab"/);
  assert.doesNotMatch(sentFrames[0] ?? '', /notStarted/);
  assert.match(sentFrames[1] ?? '', /"id":"new","error":.*"code":"no_tab".*"notStarted":true/);
});

test('a call does not fail as not started after its document has opened a new port', async (t) => {
  const { calls, runningCalls, addDocument, dispatchCall, advanceTime } = makeFixture(t, false, {
    prepareCall: () => 3,
    hasAnswered: (_, ping) => ping <= 0,
    isSilent: () => true,
  });
  const { doc } = addDocument(1, 'd1');
  dispatchCall('x');
  calls.onDocumentConnected(doc);
  await advanceTime(20_000);
  assert.deepEqual(runningCalls.ids, ['x']);
});

test('after a pause of the worker, a call to a silent page fails only after the answers that wait in the queue', async (t) => {
  const page = { hasAnswered: false };
  const { runningCalls, addDocument, dispatchCall, advanceTime } = makeFixture(t, false, {
    prepareCall: () => 1,
    hasAnswered: () => page.hasAnswered,
    isSilent: () => true,
  });
  addDocument(1, 'd1');
  dispatchCall('x');
  t.mock.timers.setTime(Date.now() + 4000); // only the clock advances, as during a pause
  await advanceTime(2000);
  page.hasAnswered = true;
  await advanceTime(20_000);
  assert.deepEqual(runningCalls.ids, ['x']);
});

test('the worker keeps no parts that arrive after the cancellation of their call', async (t) => {
  const { calls, sentFrames, addDocument, dispatchCall } = makeFixture(t);
  const { doc } = addDocument(1, 'd1');
  dispatchCall('x');
  calls.receive(doc, { op: 'part', id: 'x', seq: 0, text: 'a' });
  const cancelOutcome = calls.cancel({ dispatchId: 'x', reason: 'enough' });
  sentFrames.splice(0);
  calls.receive(doc, { op: 'part', id: 'x', seq: 1, text: 'b' });
  assert.deepEqual(sentFrames, []);
  calls.receive(doc, { op: 'cancelled', id: 'x', outcome: 'aborted' });
  assert.equal(await cancelOutcome, 'aborted');
});

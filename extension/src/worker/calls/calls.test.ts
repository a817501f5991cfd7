import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { CancelOutcome } from '../../../../wire/wire.gen.ts';
import { settle } from '../../../test/server.ts';
import type { TabState } from '../../chrome.ts';
import type { ToBridge } from '../../port-message.ts';
import { type Doc, makeDocs } from '../documents/docs.ts';
import { Calls, type CallsOptions } from './calls.ts';
import { Outbox } from './outbox.ts';
import { RunningCalls } from './running.ts';

function makeFixture(t: TestContext, booting = false, health?: CallsOptions['health']) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const sent: string[] = [];
  const linked = { up: true };
  const resumed: string[][] = [];
  const tabs = new Map<number, TabState>([
    [1, 'open'],
    [2, 'open'],
  ]);
  const busy = new Set<string>();
  const loading = new Set<number>();
  const frozen = new Map<number, boolean>();
  const partDelay = { inMs: 0 };
  const missing: number[] = [];
  const outbox = new Outbox({
    send: (text) => sent.push(text) > 0,
    confirm: () => new Promise(() => undefined),
  });
  const docs = makeDocs();
  const running = new RunningCalls();
  const calls = new Calls({
    ...(health ? { health } : {}),
    outbox,
    docs,
    running,
    send: (text) => linked.up && sent.push(text) > 0,
    reportResumed: (ids) => resumed.push([...ids]),
    readTabState: async (id) => tabs.get(id) ?? 'closed',
    isTabLoading: async (id) => loading.has(id),
    isTabFrozen: (id) => (frozen.has(id) ? Promise.resolve(frozen.get(id) === true) : false),
    isDocumentGone: async (_tab, id) => !busy.has(id),
    waitBeforePartMs: () => partDelay.inMs,
    onDocumentMissing: (id) => missing.push(id),
  });
  if (!booting) t.mock.timers.tick(10_000);
  const doc = (tabId: number, documentId: string) => {
    const got: ToBridge[] = [];
    const made: Doc = { tabId, frameId: 0, documentId, url: '', post: (message) => got.push(message) };
    return { doc: made, got };
  };
  const addDocument = (tabId: number, documentId: string) => {
    const made = doc(tabId, documentId);
    calls.onDocumentConnected(made.doc);
    calls.receive(made.doc, { op: 'documentState', plugins: [{ name: 'demo', hash: 'h' }], running: [] });
    return made;
  };
  const dispatch = (id: string, tabId = 1, documentId = 'd1', again = false) =>
    calls.dispatch({
      dispatchId: id,
      plugin: 'demo',
      tool: 't',
      tabId,
      documentId,
      maxResultBytes: 5,
      args: { a: 1 },
      ...(again ? { again } : {}),
    });
  const codes = () =>
    sent.map((s) => /"id":"(\w+)".*?(?:"code":"(\w+)"|"result":(.*)}$)/.exec(s)?.slice(1).filter(Boolean).join(' '));
  const advanceTime = async (ms: number) => {
    t.mock.timers.tick(ms);
    await settle();
  };
  return {
    calls,
    docs,
    sent,
    linked,
    partDelay,
    resumed,
    tabs,
    busy,
    loading,
    frozen,
    running,
    missing,
    addDocument,
    doc,
    dispatch,
    codes,
    advanceTime,
  };
}

test('the answer to a traced call has the hops of worker and page, and other answers have none', async (t) => {
  let nowMs = 500;
  t.mock.method(performance, 'now', () => nowMs);
  const { calls, sent, addDocument, dispatch } = makeFixture(t);
  const { doc, got } = addDocument(1, 'd1');
  const target = { plugin: 'demo', tool: 't', tabId: 1, documentId: 'd1', maxResultBytes: 5 };
  for (const dispatchId of ['x', 'failed']) calls.dispatch({ ...target, dispatchId, trace: true, args: {} }, 499.8);
  dispatch('y');
  dispatch('alsoFailed');
  assert.deepEqual(
    got.map((message) => message.op === 'call' && message.trace),
    [true, true, undefined, undefined],
  );
  nowMs = 504.1;
  const page = { bridgeInUs: 1, hostInUs: 2, schemaUs: 3, handlerUs: 4, resultUs: 5 };
  calls.receive(doc, { op: 'result', id: 'x', text: '7', hops: page }, 504);
  calls.receive(doc, { op: 'result', id: 'y', text: '8', hops: page }, 504);
  const error = JSON.stringify({ code: 'tool_error', message: 'no' });
  calls.receive(doc, { op: 'error', id: 'failed', error, hops: page }, 504);
  calls.receive(doc, { op: 'error', id: 'alsoFailed', error, hops: page }, 504);
  const hops = { workerInUs: 200, documentUs: 4000, workerOutUs: 100, page };
  const frames = sent.map((frame) => JSON.parse(frame));
  assert.deepEqual(
    frames.slice(0, 2).map((frame) => frame.result),
    [{ output: 7, hops }, { output: 8 }],
  );
  assert.deepEqual(
    frames.slice(2).map((frame) => frame.error.hops),
    [hops, undefined],
  );
});

test('a call to a frozen page does not begin, so that it can run in another', async (t) => {
  const { sent, frozen, addDocument, dispatch, codes, advanceTime } = makeFixture(t);
  const { got } = addDocument(1, 'd1');
  frozen.set(1, true);
  dispatch('x');
  await advanceTime(0);
  assert.deepEqual([got, codes()], [[], ['x tab_frozen']]);
  assert.match(sent.join(), /"notStarted":true/);
  frozen.set(1, false);
  dispatch('y');
  await advanceTime(0);
  assert.deepEqual(
    got.map((message) => message.op),
    ['call'],
  );
});

test("a call that is cancelled while its page's state is read does not begin", async (t) => {
  const { calls, frozen, addDocument, dispatch, advanceTime } = makeFixture(t);
  const { got } = addDocument(1, 'd1');
  frozen.set(1, false);
  dispatch('x');
  void calls.cancel({ dispatchId: 'x', reason: 'enough' });
  await advanceTime(0);
  assert.deepEqual(
    got.map((message) => message.op),
    ['cancel'],
  );
});

test('the readiness that an adapter reports is stored', (t) => {
  const { calls, docs, addDocument } = makeFixture(t);
  calls.receive(addDocument(1, 'd1').doc, { op: 'ready', plugin: 'demo', ready: true });
  assert.deepEqual(docs.findTopDoc(1)?.plugins, [{ name: 'demo', hash: 'h', ready: true }]);
});

test('a document may send the next part of a large result when the socket has partDelay, even for an unknown call', async (t) => {
  const { calls, partDelay, addDocument, dispatch, advanceTime } = makeFixture(t);
  const { doc, got } = addDocument(1, 'd1');
  dispatch('x');
  got.splice(0);
  partDelay.inMs = 4;
  calls.receive(doc, { op: 'part', id: 'x', seq: 0, text: '1' });
  await advanceTime(3);
  assert.deepEqual(got, []);
  partDelay.inMs = 0;
  await advanceTime(1);
  assert.deepEqual(got, [{ op: 'partSent' }]);
  calls.receive(doc, { op: 'part', id: 'unknown', seq: 0, text: '1' });
  await advanceTime(0);
  assert.equal(got.length, 2);
});

test('a call goes to its document, and its reports and result to the server', (t) => {
  const { calls, running, sent, addDocument, dispatch } = makeFixture(t);
  const { doc, got } = addDocument(1, 'd1');
  dispatch('x');
  dispatch('x');
  const sentCall = { op: 'call', id: 'x', plugin: 'demo', tool: 't', maxBytes: 5, args: '{"a":1}', atMs: Date.now() };
  assert.deepEqual(got, [sentCall]);
  calls.receive(doc, { op: 'progress', id: 'x', seq: 0, skipped: 0, reports: '[{"progress":1}]' });
  calls.receive(doc, { op: 'result', id: 'x', text: '{"ok":true}' });
  assert.deepEqual(sent, [
    '{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"x","seq":0,"reports":[{"progress":1}]}}',
    '{"jsonrpc":"2.0","id":"x","result":{"output":{"ok":true}}}',
  ]);
  assert.deepEqual(running.ids, []);
  calls.confirmDelivery(['x', 'unknown']);
  assert.deepEqual(got.at(-1), { op: 'confirmEndings', ids: ['x'] });
});

test('messages about a call from another document are ignored', (t) => {
  const { calls, running, sent, addDocument, dispatch } = makeFixture(t);
  addDocument(1, 'd1');
  const other = addDocument(2, 'd2');
  dispatch('x');
  calls.receive(other.doc, { op: 'progress', id: 'x', seq: 0, skipped: 0, reports: '[{}]' });
  calls.receive(other.doc, { op: 'part', id: 'x', seq: 0, text: 'forged' });
  calls.receive(other.doc, { op: 'result', id: 'x', text: '"forged"' });
  calls.receive(other.doc, { op: 'error', id: 'x', error: '{"code":"internal","message":"forged"}' });
  assert.deepEqual(sent, []);
  assert.deepEqual(running.ids, ['x']);
});

test('calls for a missing document or tab fail without having begun', async (t) => {
  const { addDocument, dispatch, codes, missing, sent, advanceTime } = makeFixture(t);
  addDocument(1, 'd1');
  dispatch('a', 1, 'old');
  dispatch('b', 9, 'd9');
  dispatch('c', 2, 'd1');
  await advanceTime(0);
  assert.deepEqual(codes(), ['a navigated', 'b tab_closed', 'c navigated']);
  assert.ok(sent.every((text) => text.includes('"notStarted":true')));
  assert.deepEqual(missing, [1, 9, 2]);
});

test('a restarted worker waits for documents to connect', async (t) => {
  const { dispatch, addDocument, codes, advanceTime } = makeFixture(t, true);
  dispatch('a');
  dispatch('b', 1, 'never');
  const { got } = addDocument(1, 'd1');
  await advanceTime(300);
  assert.equal(got[0]?.op, 'call');
  assert.deepEqual(codes(), ['b navigated']);
});

test('a closed tab ends its calls at once, a navigation after 50 ms, and an earlier result wins', async (t) => {
  const { calls, running, tabs, addDocument, dispatch, codes, advanceTime } = makeFixture(t);
  const one = addDocument(1, 'd1');
  const two = addDocument(2, 'd2');
  dispatch('closed', 1, 'd1');
  dispatch('won', 2, 'd2');
  dispatch('left', 2, 'd2');
  tabs.delete(1);
  calls.onTabRemoved(1);
  calls.onDocumentDisconnected(one.doc);
  assert.deepEqual(codes(), ['closed tab_closed']);
  calls.receive(two.doc, { op: 'result', id: 'won', text: '1' });
  calls.receive(two.doc, { op: 'leaving', begunCalls: ['left'] });
  calls.onDocumentDisconnected(two.doc);
  await advanceTime(49);
  assert.deepEqual(running.ids, ['left']);
  await advanceTime(1);
  assert.deepEqual(codes(), ['closed tab_closed', 'won {"output":1}', 'left navigated']);
});

test("a port that closes before the tab's removal is reported still ends as tab_closed", async (t) => {
  const { calls, tabs, addDocument, dispatch, codes, advanceTime } = makeFixture(t);
  const { doc } = addDocument(1, 'd1');
  dispatch('x');
  calls.onDocumentDisconnected(doc);
  tabs.delete(1);
  await advanceTime(50);
  assert.deepEqual(codes(), ['x tab_closed']);
});

test('a document that reconnects in time keeps its calls', async (t) => {
  const { calls, running, sent, addDocument, dispatch, advanceTime } = makeFixture(t);
  const { doc } = addDocument(1, 'd1');
  dispatch('x');
  calls.onDocumentDisconnected(doc);
  const again = addDocument(1, 'd1');
  await advanceTime(1000);
  assert.deepEqual(running.ids, ['x']);
  calls.receive(doc, { op: 'result', id: 'x', text: '"of the old port"' });
  calls.receive(again.doc, { op: 'result', id: 'x', text: '1' });
  assert.deepEqual(sent, ['{"jsonrpc":"2.0","id":"x","result":{"output":1}}']);
});

test('unknown calls that a document reports are reported to the server', (t) => {
  const { calls, running, resumed, doc, sent } = makeFixture(t);
  const { doc: made } = doc(1, 'd1');
  calls.onDocumentConnected(made);
  calls.receive(made, { op: 'documentState', plugins: [], running: [{ id: 'x', plugin: 'demo' }] });
  calls.receive(made, { op: 'documentState', plugins: [], running: [{ id: 'x', plugin: 'demo' }] });
  assert.deepEqual(resumed, [['x']]);
  assert.deepEqual(running.ids, ['x']);
  // A restarted worker also forwards a result that the document sent while no worker was running.
  calls.receive(made, { op: 'result', id: 'ended', text: '2' });
  assert.equal(sent.length, 1);
});

test("cancel resolves with the document's answer", async (t) => {
  const { calls, running, addDocument, dispatch, sent } = makeFixture(t);
  const { doc, got } = addDocument(1, 'd1');
  const outcomes: CancelOutcome[] = [];
  for (const id of ['a', 'b']) {
    dispatch(id);
    void calls.cancel({ dispatchId: id, reason: 'why' }).then((o) => outcomes.push(o));
  }
  assert.deepEqual(got.slice(-1), [{ op: 'cancel', id: 'b', reason: 'why' }]);
  assert.deepEqual(running.ids, []);
  calls.receive(doc, { op: 'progress', id: 'a', seq: 0, skipped: 0, reports: '[{}]' });
  calls.receive(doc, { op: 'cancelled', id: 'a', outcome: 'aborted' });
  calls.onDocumentDisconnected(doc);
  calls.onTabRemoved(1);
  await settle();
  assert.deepEqual(outcomes, ['aborted']);
  t.mock.timers.tick(50);
  await settle();
  assert.deepEqual(outcomes, ['aborted', 'ignored']);
  assert.deepEqual(sent, []);
});

test('a cancel of a call that only its document has reaches the document', async (t) => {
  const { calls, running, doc } = makeFixture(t);
  assert.equal(await calls.cancel({ dispatchId: 'x', reason: 'late' }), 'finished');
  const { doc: made, got } = doc(1, 'd1');
  calls.onDocumentConnected(made);
  calls.receive(made, { op: 'documentState', plugins: [], running: [{ id: 'x', plugin: 'demo' }] });
  assert.deepEqual(got, [{ op: 'cancel', id: 'x', reason: 'late' }]);
  assert.deepEqual(running.ids, []);
});

test('an unreadable error becomes an internal error', (t) => {
  const { calls, addDocument, dispatch, codes } = makeFixture(t);
  const { doc } = addDocument(1, 'd1');
  dispatch('x');
  calls.receive(doc, { op: 'error', id: 'x', error: '{"code":"made_up","message":"m"}' });
  dispatch('y');
  calls.receive(doc, { op: 'error', id: 'y', error: 'no json' });
  assert.deepEqual(codes(), ['x internal', 'y internal']);
});

test('a call that did not reach its document before a navigation can be retried', async (t) => {
  const { calls, sent, addDocument, dispatch, advanceTime } = makeFixture(t);
  const { doc } = addDocument(1, 'd1');
  dispatch('begun');
  calls.receive(doc, { op: 'leaving', begunCalls: ['begun'] });
  dispatch('late');
  calls.onDocumentDisconnected(doc);
  await advanceTime(50);
  const notStarted = (id: string) => sent.find((text) => text.includes(`"id":"${id}"`))?.includes('"notStarted":true');
  assert.deepEqual([notStarted('begun'), notStarted('late')], [false, true]);
});

for (const [state, code] of [
  ['open', 'navigated'],
  ['closed', 'tab_closed'],
  ['crashed', 'page_crashed'],
  ['discarded', 'tab_discarded'],
] as const) {
  test(`a document whose tab is then ${state} ends its calls with ${code}, at once`, async (t) => {
    const { calls, tabs, addDocument, dispatch, codes, advanceTime } = makeFixture(t);
    const { doc } = addDocument(1, 'd1');
    dispatch('x');
    tabs.set(1, state);
    if (state === 'open') calls.receive(doc, { op: 'leaving', begunCalls: ['x'] });
    calls.onDocumentDisconnected(doc);
    await advanceTime(50);
    assert.deepEqual(codes(), [`x ${code}`]);
  });
}

test('a document that leaves unannounced ends its calls with page_crashed if Chrome reports the crash within 2 s', async (t) => {
  const { calls, tabs, addDocument, dispatch, codes, advanceTime } = makeFixture(t);
  const { doc } = addDocument(1, 'd1');
  dispatch('x');
  calls.onDocumentDisconnected(doc);
  for (let i = 0; i < 20; i++) await advanceTime(50);
  assert.deepEqual(codes(), []);
  tabs.set(1, 'crashed');
  await advanceTime(50);
  assert.deepEqual(codes(), ['x page_crashed']);
});

test('the calls of a crashed page end with page_crashed if the tab is reloaded for another call within 50 ms', async (t) => {
  const { calls, running, loading, addDocument, dispatch, codes, advanceTime } = makeFixture(t);
  const { doc } = addDocument(1, 'd1');
  dispatch('x');
  calls.onDocumentDisconnected(doc);
  calls.onTabCrashed(1);
  loading.add(1);
  addDocument(1, 'd2');
  dispatch('y', 1, 'd2');
  calls.onTabCrashed(1); // A late crash report does not affect the tab's new document.
  await advanceTime(50);
  assert.deepEqual([codes(), running.ids], [['x page_crashed'], ['y']]);
});

for (const [what, ms] of [
  ['the tab loads another document', 50],
  ['another document of the tab connects', 100],
  ['2 s have passed', 2050],
] as const) {
  test(`a document that leaves unannounced ends its calls with navigated when ${what}`, async (t) => {
    const { calls, loading, addDocument, dispatch, codes, advanceTime } = makeFixture(t);
    const { doc } = addDocument(1, 'd1');
    dispatch('x');
    if (ms === 50) loading.add(1);
    calls.onDocumentDisconnected(doc);
    for (let passed = 0; passed < ms; passed += 50) {
      assert.deepEqual(codes(), []);
      await advanceTime(50);
      if (ms === 100) addDocument(1, 'd2');
    }
    assert.deepEqual(codes(), ['x navigated']);
  });
}

test('a discarded tab, whose ID changes, ends its calls with tab_discarded', async (t) => {
  const { calls, addDocument, dispatch, codes, advanceTime } = makeFixture(t);
  addDocument(1, 'd1');
  dispatch('x');
  calls.onTabDiscarded(1);
  await advanceTime(50);
  assert.deepEqual(codes(), ['x tab_discarded']);
});

test('a repeated call is not reported as not started, and does not run twice', async (t) => {
  const { calls, sent, addDocument, dispatch, codes, advanceTime } = makeFixture(t);
  const { doc, got } = addDocument(1, 'd1');
  dispatch('x');
  dispatch('x', 1, 'd1', true);
  assert.equal(got.length, 1);
  calls.receive(doc, { op: 'result', id: 'x', text: '1' });
  dispatch('x', 1, 'd1', true);
  assert.equal(got.length, 1);
  dispatch('y', 1, 'gone');
  dispatch('z', 1, 'gone', true);
  await advanceTime(0);
  assert.deepEqual(codes().slice(1), ['y navigated', 'z navigated']);
  assert.deepEqual(
    sent.slice(1).map((text) => text.includes('notStarted')),
    [true, false],
  );
});

test('a restarted worker waits for a busy document', async (t) => {
  const { busy, addDocument, dispatch, codes, advanceTime } = makeFixture(t, true);
  busy.add('d1');
  dispatch('x');
  dispatch('y', 2, 'gone');
  await advanceTime(300);
  await advanceTime(0);
  assert.deepEqual(codes(), ['y navigated']);
  await advanceTime(200);
  const { got } = addDocument(1, 'd1');
  await advanceTime(100);
  assert.equal(got.length, 1);
});

test('a call for a document that was just removed did not begin, even if the call arrives first', async (t) => {
  const { calls, sent, addDocument, dispatch, codes, advanceTime } = makeFixture(t, true);
  const { doc } = addDocument(1, 'd1');
  await advanceTime(5000); // The worker checks after 5 s whether the document is busy.
  calls.onDocumentDisconnected(doc);
  dispatch('x');
  dispatch('y', 1, 'd1', true);
  await advanceTime(50);
  assert.deepEqual(codes(), ['x navigated', 'y navigated']);
  assert.deepEqual(
    sent.map((text) => text.includes('notStarted')),
    [true, false],
  );
});

test('calls sent to an orphaned document have not begun, and the document is no longer live', async (t) => {
  const { calls, docs, codes, sent, addDocument, dispatch, advanceTime } = makeFixture(t);
  addDocument(1, 'd1');
  dispatch('x');
  calls.onDocumentOrphaned('d1');
  calls.onDocumentOrphaned('unknown');
  assert.equal(docs.findTopDoc(1), undefined);
  await advanceTime(50);
  assert.deepEqual(codes(), ['x navigated']);
  assert.match(sent.join(), /"notStarted":true/);
});

test('a call for a document that navigates away does not begin there', async (t) => {
  const { calls, sent, loading, addDocument, dispatch, codes, advanceTime } = makeFixture(t);
  const { doc, got } = addDocument(1, 'd1');
  calls.receive(doc, { op: 'navigating', on: true });
  loading.add(1);
  dispatch('x');
  await advanceTime(100);
  await advanceTime(4000);
  calls.onDocumentDisconnected(doc);
  await advanceTime(50);
  assert.deepEqual(got, []);
  assert.deepEqual(codes(), ['x navigated']);
  assert.match(sent.join(), /"notStarted":true/);
});

test('a call for a document whose navigation is cancelled runs there in order', async (t) => {
  const { calls, addDocument, dispatch } = makeFixture(t);
  const { doc, got } = addDocument(1, 'd1');
  calls.receive(doc, { op: 'navigating', on: true });
  dispatch('x');
  dispatch('y');
  assert.equal(got.length, 0);
  calls.receive(doc, { op: 'navigating', on: false });
  dispatch('z');
  assert.deepEqual(
    got.map((message) => message.op === 'call' && message.id),
    ['x', 'y', 'z'],
  );
});

test('a call that is cancelled while its document navigates does not reach the document', async (t) => {
  const { calls, addDocument, dispatch } = makeFixture(t);
  const { doc, got } = addDocument(1, 'd1');
  calls.receive(doc, { op: 'navigating', on: true });
  dispatch('x');
  void calls.cancel({ dispatchId: 'x', reason: 'why' });
  calls.receive(doc, { op: 'navigating', on: false });
  assert.deepEqual(
    got.map((message) => message.op),
    ['cancel'],
  );
});

const makeToolRequestText = (id: string, rest = '"ask":1,"user":{"reason":"r"}') =>
  `{"jsonrpc":"2.0","method":"tool.ask","params":{"dispatchId":"${id}",${rest}}}`;

test('a tool request of a call goes to the server, and its answer to the document, which confirms it', async (t) => {
  const { calls, sent, addDocument, dispatch } = makeFixture(t);
  const { doc, got } = addDocument(1, 'd1');
  dispatch('x');
  calls.receive(doc, { op: 'toolRequest', id: 'x', ask: 1, body: '{"user":{"reason":"r"}}' });
  assert.deepEqual(sent, [makeToolRequestText('x')]);
  const outcomes: boolean[] = [];
  void calls.answer({ dispatchId: 'x', ask: 1, output: { a: 1 } }).then((taken) => outcomes.push(taken));
  assert.deepEqual(got.at(-1), { op: 'answer', id: 'x', ask: 1, output: '{"a":1}' });
  await settle();
  assert.deepEqual(outcomes, []);
  calls.receive(doc, { op: 'answerReceived', id: 'x', ask: 1, taken: true });
  await settle();
  assert.deepEqual(outcomes, [true]);
  calls.resume();
  assert.equal(sent.length, 1);
});

test('another document can neither send tool requests for a call nor confirm answers', async (t) => {
  const { calls, sent, addDocument, dispatch } = makeFixture(t);
  addDocument(1, 'd1');
  const other = addDocument(2, 'd2');
  dispatch('x');
  calls.receive(other.doc, { op: 'toolRequest', id: 'x', ask: 1, body: '{"user":{"reason":"forged"}}' });
  calls.receive(other.doc, { op: 'toolRequest', id: 'unknown', ask: 1, body: '{"user":{"reason":"forged"}}' });
  const outcomes: boolean[] = [];
  void calls.answer({ dispatchId: 'x', ask: 1 }).then((taken) => outcomes.push(taken));
  calls.receive(other.doc, { op: 'answerReceived', id: 'x', ask: 1, taken: true });
  await settle();
  assert.deepEqual([sent, outcomes], [[], []]);
});

test('open tool requests are sent again on a new link until their call ends', (t) => {
  const { calls, sent, linked, addDocument, dispatch } = makeFixture(t);
  const { doc } = addDocument(1, 'd1');
  for (const id of ['x', 'y', 'z']) dispatch(id);
  linked.up = false;
  for (const id of ['x', 'y', 'z'])
    calls.receive(doc, { op: 'toolRequest', id, ask: 1, body: '{"user":{"reason":"r"}}' });
  calls.receive(doc, { op: 'result', id: 'y', text: '1' });
  void calls.cancel({ dispatchId: 'z', reason: 'no' });
  linked.up = true;
  sent.splice(0);
  calls.resume();
  calls.resume();
  assert.deepEqual(sent, [makeToolRequestText('x'), makeToolRequestText('x')]);
});

test('a restarted worker gets open tool requests from documents, and keeps an answer that arrives first', async (t) => {
  const { calls, sent, doc, advanceTime } = makeFixture(t, true);
  const outcomes: [string, boolean][] = [];
  const answer = (id: string) =>
    void calls.answer({ dispatchId: id, ask: 1 }).then((taken) => outcomes.push([id, taken]));
  answer('x');
  answer('never');
  const { doc: made, got } = doc(1, 'd1');
  calls.onDocumentConnected(made);
  calls.receive(made, { op: 'documentState', plugins: [], running: [{ id: 'x', plugin: 'demo' }] });
  calls.receive(made, { op: 'toolRequest', id: 'x', ask: 1, body: '{"user":{"reason":"r"}}' });
  calls.receive(made, { op: 'toolRequest', id: 'x', ask: 2, body: '{"withdrawn":true}' });
  const given = { op: 'answer', id: 'x', ask: 1 };
  assert.deepEqual(got, [given, given]);
  assert.deepEqual(sent, [makeToolRequestText('x', '"ask":2,"withdrawn":true')]);
  calls.receive(made, { op: 'answerReceived', id: 'x', ask: 1, taken: true });
  await advanceTime(10_000);
  assert.deepEqual(outcomes, [
    ['x', true],
    ['never', false],
  ]);
  assert.equal(await calls.answer({ dispatchId: 'gone', ask: 1 }), false);
});

test('an answer waits while its document changes ports, and is dropped when the call ends', async (t) => {
  const { calls, addDocument, doc, dispatch } = makeFixture(t);
  const first = addDocument(1, 'd1');
  dispatch('x');
  calls.onDocumentDisconnected(first.doc);
  const outcomes: boolean[] = [];
  const error = { code: 'denied', message: 'no' } as const;
  void calls.answer({ dispatchId: 'x', ask: 1, error }).then((taken) => outcomes.push(taken));
  void calls.answer({ dispatchId: 'x', ask: 1, error }).then((taken) => outcomes.push(taken));
  const again = doc(1, 'd1');
  calls.onDocumentConnected(again.doc);
  calls.receive(again.doc, { op: 'documentState', plugins: [], running: [{ id: 'x', plugin: 'demo' }] });
  assert.deepEqual(again.got, [{ op: 'answer', id: 'x', ask: 1, error: '{"code":"denied","message":"no"}' }]);
  calls.receive(again.doc, { op: 'answerReceived', id: 'x', ask: 1, taken: true });
  await settle();
  assert.deepEqual(outcomes, [true, true]);
  void calls.answer({ dispatchId: 'x', ask: 2 }).then((taken) => outcomes.push(taken));
  calls.receive(again.doc, { op: 'result', id: 'x' });
  await settle();
  assert.deepEqual(outcomes, [true, true, false]);
});

test('prompts, decisions and resyncs reach the document', (t) => {
  const { calls, addDocument } = makeFixture(t);
  const { got } = addDocument(1, 'd1');
  const call = { plugin: 'demo', tool: 't', tabId: 1, documentId: 'd1', maxResultBytes: 5, args: {} };
  calls.dispatch({ ...call, dispatchId: 'x', prompt: true, decision: { ok: [1] } });
  calls.resync({ dispatchId: 'x', activityType: 'a' });
  calls.resync({ dispatchId: 'gone', activityType: 'a' });
  const extra = { prompt: true, decision: '{"ok":[1]}', atMs: Date.now() };
  assert.deepEqual(got, [
    { op: 'call', id: 'x', plugin: 'demo', tool: 't', maxBytes: 5, args: '{}', ...extra },
    { op: 'resync', id: 'x', type: 'a' },
  ]);
});

test('if a document does not answer, only calls that cannot have arrived end at once', (t) => {
  const arrived = new Set([1]);
  const pings = [0, 1, 2];
  const { calls, running, sent, addDocument, dispatch } = makeFixture(t, false, {
    prepareCall: () => pings.shift() ?? 0,
    hasAnswered: (_, ping) => arrived.has(ping),
  });
  addDocument(1, 'd1');
  for (const id of ['x', 'y', 'z']) dispatch(id);
  assert.deepEqual([running.isBusy('d1'), running.isBusy('d2')], [true, false]);
  calls.onDocumentSilent('d1');
  assert.deepEqual(running.ids, ['x', 'y']);
  assert.match(sent.join(), /"id":"z","error":.*"code":"page_unresponsive".*"notStarted":true/);
});

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { runPendingPromises } from '../../../test/server.ts';
import type { TabState } from '../../chrome.ts';
import type { PagePortEvents } from '../../chrome-pages.ts';
import type { LastUsedNumbers, PageAnswer } from '../../page/operations.ts';
import { type PageToWorkerMessage, readMessageToPage, type WorkerToPageMessage } from '../../page-message.ts';
import { splitText, TextJoiner } from '../../text-pieces.ts';
import { PageLostError, PageScripts } from './page-scripts.ts';
import { ToolFailure, toolFailure } from './tool-failure.ts';

const doc = { tabId: 1, frameId: 0, documentId: 'd1' };
const defaultTabState = {
  url: 'https://a.example/',
  title: 'A',
  readyState: 'complete',
  index: -1,
  hasFocus: false,
  visibility: 'hidden',
  size: { width: 800, height: 600 },
} as const;

function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
  const injectedScripts: string[][] = [];
  const receivedMessages: WorkerToPageMessage[] = [];
  const ports: { events: PagePortEvents; isOpen: boolean }[] = [];
  const pageState: {
    state: TabState;
    hasDocument: boolean;
    accessProblem: string | undefined;
    inject(): Promise<void>;
    answersPings: boolean;
  } = {
    accessProblem: undefined,
    state: 'open',
    hasDocument: true,
    inject: async () => {},
    answersPings: true,
  };
  const storedNumbers = new Map<string, LastUsedNumbers>();
  const scripts = new PageScripts({
    numbers: {
      get: async (tabId, frameId) => storedNumbers.get(`${tabId}/${frameId}`) ?? { ref: 0, snapshot: 0 },
      set: async (tabId, frameId, value) => void storedNumbers.set(`${tabId}/${frameId}`, value),
    },
    inject: async (_tabId, documentIds) => {
      injectedScripts.push([...documentIds]);
      await pageState.inject();
    },
    connect: (_tabId, _documentId, events) => {
      const port = { events, isOpen: true };
      const textJoiner = new TextJoiner();
      ports.push(port);
      return {
        post: (piece) => {
          const messageText = textJoiner.add(piece);
          const pageMessage = messageText === undefined ? undefined : readMessageToPage(messageText);
          if (pageMessage && pageMessage.op !== 'ping') receivedMessages.push(pageMessage);
          if (pageMessage?.op === 'ping' && pageState.answersPings) sendMessage({ op: 'pong' });
        },
        disconnect: () => {
          port.isOpen = false;
        },
      };
    },
    readTabState: async () => pageState.state,
    hasDocument: async () => pageState.hasDocument,
    findAccessProblem: async () => pageState.accessProblem,
    isBlocked: () => false,
  });
  const sendMessage = (pageMessage: PageToWorkerMessage) => {
    for (const piece of splitText(JSON.stringify(pageMessage))) ports.at(-1)?.events.onText(piece);
  };
  const controller = new AbortController();
  const reports: unknown[] = [];
  const runOperation = (onSilence?: (hasBegun: boolean) => Promise<ToolFailure | undefined>) =>
    scripts.run(
      doc,
      { name: 'facts', prefix: '', arguments: {} },
      { signal: controller.signal, report: (report) => reports.push(report), ...(onSilence ? { onSilence } : {}) },
    );
  const answerOperation = (id: number, value: PageAnswer) =>
    sendMessage({ op: 'answer', id, answer: value, last: { ref: 7, snapshot: 2 } });
  const readErrorCode = async (runningOperation: Promise<unknown>) => {
    const error = await runningOperation.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error instanceof ToolFailure ? (error.error.tool?.code ?? error.error.code) : error;
  };
  return {
    injectedScripts,
    receivedMessages,
    ports,
    pageState,
    storedNumbers,
    controller,
    reports,
    runOperation,
    sendMessage,
    answerOperation,
    readErrorCode,
  };
}

test('the first operation injects the page script, later ones reuse the port, and an idle port is closed', async (t) => {
  const {
    injectedScripts,
    receivedMessages,
    ports,
    storedNumbers,
    reports,
    runOperation,
    sendMessage,
    answerOperation,
  } = makeFixture(t);
  const firstRun = runOperation();
  await runPendingPromises();
  sendMessage({ op: 'begun', id: 1 });
  sendMessage({ op: 'progress', id: 1, progress: { message: 'half', progress: 1, total: 2 } });
  answerOperation(1, { ok: true, result: defaultTabState });
  assert.deepEqual(await firstRun, defaultTabState);
  assert.deepEqual(reports, [{ message: 'half', progress: 1, total: 2 }]);
  assert.deepEqual(storedNumbers.get('1/0'), { ref: 7, snapshot: 2 });
  const secondRun = runOperation();
  await runPendingPromises();
  answerOperation(2, { ok: true, result: defaultTabState });
  await secondRun;
  assert.deepEqual(injectedScripts, [['d1']]);
  assert.deepEqual(
    receivedMessages.map((pageMessage) => pageMessage.op),
    ['run', 'run'],
  );
  t.mock.timers.tick(30_000);
  assert.equal(ports[0]?.isOpen, false);
  void runOperation();
  await runPendingPromises();
  assert.equal(injectedScripts.length, 2);
  const [, , third] = receivedMessages;
  assert.deepEqual(third?.op === 'run' && third.after, { ref: 7, snapshot: 2 });
});

test('the error of a lost document reports whether the operation had acted, and how many fields it had filled', async (t) => {
  const { ports, reports, runOperation, sendMessage } = makeFixture(t);
  for (const [doneSteps, progressReports] of [
    [undefined, [{ message: 'waiting' }]],
    [0, [{ message: '', doneSteps: 0 }]],
    [
      2,
      [
        { message: '', doneSteps: 0 },
        { message: 'filling', doneSteps: 2 },
        { message: '', doneSteps: 0 },
      ],
    ],
  ] as const) {
    const runningOperation = runOperation();
    await runPendingPromises();
    for (const progress of progressReports) sendMessage({ op: 'progress', id: 1, progress });
    ports.at(-1)?.events.onDisconnect();
    await assert.rejects(runningOperation, (error) => error instanceof PageLostError && error.doneSteps === doneSteps);
  }
  assert.deepEqual(reports, [{ message: 'waiting' }, { message: 'filling' }], 'empty messages must not be reported');
});

test('an error of the page script becomes a tool error, and an invalid answer an internal error', async (t) => {
  const { runOperation, answerOperation, readErrorCode } = makeFixture(t);
  const staleErrorCode = readErrorCode(runOperation());
  await runPendingPromises();
  answerOperation(1, { ok: false, error: { code: 'stale_ref', message: 'e1 is gone' } });
  assert.equal(await staleErrorCode, 'stale_ref');
  const invalid = readErrorCode(runOperation());
  await runPendingPromises();
  answerOperation(2, { ok: true, result: { snapshot: 's1' } });
  assert.equal(await invalid, 'internal');
});

test('when the port closes, the running operation fails with an error for the state of the tab', async (t) => {
  const { ports, pageState, runOperation, sendMessage } = makeFixture(t);
  for (const [tabState, code, hasBegun] of [
    ['open', 'navigated', true],
    ['closed', 'tab_closed', true],
    ['crashed', 'page_crashed', false],
  ] as const) {
    const runningOperation = runOperation();
    await runPendingPromises();
    if (hasBegun) sendMessage({ op: 'begun', id: 1 });
    pageState.state = tabState;
    ports.at(-1)?.events.onDisconnect();
    await assert.rejects(runningOperation, (error) => {
      assert.ok(error instanceof PageLostError);
      assert.deepEqual(
        [error.error.code, error.hasBegun, error.error.notStarted === true],
        [code, hasBegun, !hasBegun],
      );
      return true;
    });
    pageState.state = 'open';
  }
});

test('an operation fails if Chrome rejects the page script, and counts as not started without a document', async (t) => {
  const { pageState, runOperation, readErrorCode } = makeFixture(t);
  pageState.inject = async () => {
    throw new Error('Cannot access contents of the page');
  };
  assert.equal(await readErrorCode(runOperation()), 'not_found');
  pageState.accessProblem = 'Chrome gives opentabs no access';
  assert.equal(await readErrorCode(runOperation()), 'needs_permission');
  pageState.hasDocument = false;
  await assert.rejects(runOperation(), (error) => error instanceof ToolFailure && error.error.notStarted === true);
});

test('an operation fails with page_unresponsive if the script injection hangs or the page never answers', async (t) => {
  const { pageState, runOperation, sendMessage, readErrorCode } = makeFixture(t);
  pageState.inject = () => new Promise(() => {});
  const stuckErrorCode = readErrorCode(runOperation());
  await runPendingPromises();
  t.mock.timers.tick(5000);
  assert.equal(await stuckErrorCode, 'page_unresponsive');
  pageState.inject = async () => {};
  pageState.answersPings = false;
  const silentErrorCode = readErrorCode(runOperation());
  await runPendingPromises();
  sendMessage({ op: 'begun', id: 1 });
  t.mock.timers.tick(10_000);
  assert.equal(await silentErrorCode, 'page_unresponsive');
});

test('onSilence can end an operation whose page ignores pings for 2 s, but not while the page answers', async (t) => {
  const { pageState, runOperation, sendMessage, answerOperation, readErrorCode } = makeFixture(t);
  const onSilence = async (hasBegun: boolean) => toolFailure('dialog_open', `begun: ${hasBegun}`);
  const slowRun = runOperation(onSilence);
  await runPendingPromises();
  t.mock.timers.tick(60_000);
  await runPendingPromises();
  answerOperation(1, { ok: true, result: defaultTabState });
  assert.deepEqual(await slowRun, defaultTabState);
  pageState.answersPings = false;
  pageState.inject = () => new Promise(() => {});
  const blockedErrorCode = readErrorCode(runOperation(onSilence));
  await runPendingPromises();
  sendMessage({ op: 'begun', id: 2 });
  t.mock.timers.tick(2000);
  await runPendingPromises();
  t.mock.timers.tick(1000);
  assert.equal(await blockedErrorCode, 'dialog_open');
});

test('a cancellation is sent to the page script, and the operation then rejects with the reason', async (t) => {
  const { receivedMessages, controller, runOperation, answerOperation } = makeFixture(t);
  const runningOperation = runOperation();
  await runPendingPromises();
  controller.abort('enough');
  assert.deepEqual(receivedMessages.at(-1), { op: 'cancel', id: 1, reason: 'enough' });
  answerOperation(1, { ok: false, error: { code: 'cancelled', message: 'cancelled' } });
  await assert.rejects(runningOperation, (error) => error === 'enough');
  await assert.rejects(runOperation(), (error) => error === 'enough');
});

test('a page that runs scripts but ignores pings counts as replaced; the next operation reconnects', async (t) => {
  const { pageState, runOperation, sendMessage, answerOperation, injectedScripts } = makeFixture(t);
  const replacedRun = runOperation();
  await runPendingPromises();
  sendMessage({ op: 'begun', id: 1 });
  pageState.answersPings = false;
  t.mock.timers.tick(3000);
  await runPendingPromises();
  t.mock.timers.tick(1000);
  await assert.rejects(replacedRun, (error) => error instanceof PageLostError && error.isReplaced);
  pageState.answersPings = true;
  const nextRun = runOperation();
  await runPendingPromises();
  answerOperation(1, { ok: true, result: defaultTabState });
  assert.deepEqual(await nextRun, defaultTabState);
  assert.equal(injectedScripts.length, 3, 'want 3 injections: 2 operations, 1 probe');
});

test('the worker confirms an operation that arrived late, unless the operation has been cancelled', async (t) => {
  const { runOperation, receivedMessages, sendMessage, answerOperation, controller } = makeFixture(t);
  const runningOperation = runOperation();
  await runPendingPromises();
  receivedMessages.splice(0);
  t.mock.timers.tick(1800);
  sendMessage({ op: 'late', id: 1 });
  assert.deepEqual(receivedMessages.splice(0), [{ op: 'start', id: 1, atMs: 1800 }]);
  answerOperation(1, { ok: true, result: defaultTabState });
  assert.deepEqual(await runningOperation, defaultTabState);
  const cancelledOperation = runOperation();
  await runPendingPromises();
  receivedMessages.splice(0);
  controller.abort(new Error('enough'));
  sendMessage({ op: 'late', id: 2 });
  await assert.rejects(cancelledOperation, /enough/);
  assert.ok(receivedMessages.every(({ op }) => op === 'cancel'));
});

test('an operation whose start is always late fails as not started', async (t) => {
  const { runOperation, receivedMessages, sendMessage } = makeFixture(t);
  const failedOperation = assert.rejects(runOperation(), (error) => {
    assert.ok(error instanceof ToolFailure);
    const { code, notStarted } = error.error;
    assert.deepEqual([code, notStarted], ['page_unresponsive', true]);
    return true;
  });
  await runPendingPromises();
  for (let i = 0; i < 11; i++) sendMessage({ op: 'late', id: 1 });
  await failedOperation;
  const starts = receivedMessages.filter(({ op }) => op === 'start');
  assert.deepEqual([starts.length, receivedMessages.at(-1)?.op], [10, 'cancel']);
});

test('an operation that is sent to a silent page fails only when the page script can no longer start it', async (t) => {
  const { runOperation, pageState, readErrorCode } = makeFixture(t);
  const firstCode = readErrorCode(runOperation());
  await runPendingPromises();
  pageState.answersPings = false;
  pageState.inject = () => new Promise(() => undefined);
  t.mock.timers.tick(9500);
  const endSecondOperation = async () => toolFailure('dialog_open', 'the page shows a dialog');
  let hasSecondEnded = false;
  const secondCode = readErrorCode(runOperation(endSecondOperation)).finally(() => {
    hasSecondEnded = true;
  });
  await runPendingPromises();
  t.mock.timers.tick(1500);
  await runPendingPromises();
  assert.equal(await firstCode, 'page_unresponsive');
  assert.equal(hasSecondEnded, false);
  t.mock.timers.tick(500);
  for (let i = 0; i < 4; i++) {
    await runPendingPromises();
    t.mock.timers.tick(500);
  }
  assert.equal(await secondCode, 'dialog_open');
});

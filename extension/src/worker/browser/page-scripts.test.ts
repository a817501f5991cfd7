import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { runPendingPromises } from '../../../test/server.ts';
import type { TabState } from '../../chrome.ts';
import type { PagePortEvents } from '../../chrome-pages.ts';
import type { PageAnswer, PageNumbers } from '../../page/operations.ts';
import { type FromPage, readToPage, type ToPage } from '../../page-message.ts';
import { splitText, TextJoiner } from '../../text-pieces.ts';
import { PageLostError, PageScripts } from './page-scripts.ts';
import { ToolFailure, toolFailure } from './tool-failure.ts';

const doc = { tabId: 1, frameId: 0, documentId: 'd1' };
const facts = {
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
  const injected: string[][] = [];
  const received: ToPage[] = [];
  const ports: { events: PagePortEvents; isOpen: boolean }[] = [];
  const state: {
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
  const numbers = new Map<string, PageNumbers>();
  const scripts = new PageScripts({
    numbers: {
      get: async (tabId, frameId) => numbers.get(`${tabId}/${frameId}`) ?? { ref: 0, snapshot: 0 },
      set: async (tabId, frameId, value) => void numbers.set(`${tabId}/${frameId}`, value),
    },
    inject: async (_tabId, documentIds) => {
      injected.push([...documentIds]);
      await state.inject();
    },
    connect: (_tabId, _documentId, events) => {
      const port = { events, isOpen: true };
      const joiner = new TextJoiner();
      ports.push(port);
      return {
        post: (piece) => {
          const text = joiner.add(piece);
          const message = text === undefined ? undefined : readToPage(text);
          if (message && message.op !== 'ping') received.push(message);
          if (message?.op === 'ping' && state.answersPings) send({ op: 'pong' });
        },
        disconnect: () => {
          port.isOpen = false;
        },
      };
    },
    readTabState: async () => state.state,
    hasDocument: async () => state.hasDocument,
    findAccessProblem: async () => state.accessProblem,
    isBlocked: () => false,
  });
  const send = (message: FromPage) => {
    for (const piece of splitText(JSON.stringify(message))) ports.at(-1)?.events.onText(piece);
  };
  const controller = new AbortController();
  const reports: unknown[] = [];
  const run = (onSilent?: (hasBegun: boolean) => Promise<ToolFailure | undefined>) =>
    scripts.run(
      doc,
      { name: 'facts', prefix: '', arguments: {} },
      { signal: controller.signal, report: (report) => reports.push(report), ...(onSilent ? { onSilent } : {}) },
    );
  const answer = (id: number, value: PageAnswer) =>
    send({ op: 'answer', id, answer: value, last: { ref: 7, snapshot: 2 } });
  const codeOf = async (running: Promise<unknown>) => {
    const error = await running.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error instanceof ToolFailure ? (error.error.tool?.code ?? error.error.code) : error;
  };
  return { injected, received, ports, state, numbers, controller, reports, run, send, answer, codeOf };
}

test('the first operation injects the script, later ones use the port, and an idle port is closed', async (t) => {
  const { injected, received, ports, numbers, reports, run, send, answer } = makeFixture(t);
  const first = run();
  await runPendingPromises();
  send({ op: 'begun', id: 1 });
  send({ op: 'progress', id: 1, progress: { message: 'half', progress: 1, total: 2 } });
  answer(1, { ok: true, result: facts });
  assert.deepEqual(await first, facts);
  assert.deepEqual(reports, [{ message: 'half', progress: 1, total: 2 }]);
  assert.deepEqual(numbers.get('1/0'), { ref: 7, snapshot: 2 });
  const second = run();
  await runPendingPromises();
  answer(2, { ok: true, result: facts });
  await second;
  assert.deepEqual(injected, [['d1']]);
  assert.deepEqual(
    received.map((message) => message.op),
    ['run', 'run'],
  );
  t.mock.timers.tick(30_000);
  assert.equal(ports[0]?.isOpen, false);
  void run();
  await runPendingPromises();
  assert.equal(injected.length, 2);
  const [, , third] = received;
  assert.deepEqual(third?.op === 'run' && third.after, { ref: 7, snapshot: 2 });
});

test('an error of the page becomes a tool error, and an invalid answer is a defect', async (t) => {
  const { run, answer, codeOf } = makeFixture(t);
  const stale = codeOf(run());
  await runPendingPromises();
  answer(1, { ok: false, error: { code: 'stale_ref', message: 'e1 is gone' } });
  assert.equal(await stale, 'stale_ref');
  const invalid = codeOf(run());
  await runPendingPromises();
  answer(2, { ok: true, result: { snapshot: 's1' } });
  assert.equal(await invalid, 'internal');
});

test('the end of the port ends an operation with the state of the tab', async (t) => {
  const { ports, state, run, send } = makeFixture(t);
  for (const [tabState, code, hasBegun] of [
    ['open', 'navigated', true],
    ['closed', 'tab_closed', true],
    ['crashed', 'page_crashed', false],
  ] as const) {
    const running = run();
    await runPendingPromises();
    if (hasBegun) send({ op: 'begun', id: 1 });
    state.state = tabState;
    ports.at(-1)?.events.onDisconnect();
    await assert.rejects(running, (error) => {
      assert.ok(error instanceof PageLostError);
      assert.deepEqual(
        [error.error.code, error.hasBegun, error.error.notStarted === true],
        [code, hasBegun, !hasBegun],
      );
      return true;
    });
    state.state = 'open';
  }
});

test('a page that runs no script is named, and a document that is gone has not started the tool', async (t) => {
  const { state, run, codeOf } = makeFixture(t);
  state.inject = async () => {
    throw new Error('Cannot access contents of the page');
  };
  assert.equal(await codeOf(run()), 'not_found');
  state.accessProblem = 'Chrome gives opentabs no access';
  assert.equal(await codeOf(run()), 'needs_permission');
  state.hasDocument = false;
  await assert.rejects(run(), (error) => error instanceof ToolFailure && error.error.notStarted === true);
});

test('a page that does not take the script, or answers nothing, is unresponsive', async (t) => {
  const { state, run, send, codeOf } = makeFixture(t);
  state.inject = () => new Promise(() => {});
  const stuck = codeOf(run());
  await runPendingPromises();
  t.mock.timers.tick(5000);
  assert.equal(await stuck, 'page_unresponsive');
  state.inject = async () => {};
  state.answersPings = false;
  const silent = codeOf(run());
  await runPendingPromises();
  send({ op: 'begun', id: 1 });
  t.mock.timers.tick(10_000);
  assert.equal(await silent, 'page_unresponsive');
});

test('after 2 s of silence onSilent may end the operation, and a page that answers pings may take long', async (t) => {
  const { state, run, send, answer, codeOf } = makeFixture(t);
  const onSilent = async (hasBegun: boolean) => toolFailure('dialog_open', `begun: ${hasBegun}`);
  const slow = run(onSilent);
  await runPendingPromises();
  t.mock.timers.tick(60_000);
  await runPendingPromises();
  answer(1, { ok: true, result: facts });
  assert.deepEqual(await slow, facts);
  state.answersPings = false;
  state.inject = () => new Promise(() => {});
  const blocked = codeOf(run(onSilent));
  await runPendingPromises();
  send({ op: 'begun', id: 2 });
  t.mock.timers.tick(2000);
  await runPendingPromises();
  t.mock.timers.tick(1000);
  assert.equal(await blocked, 'dialog_open');
});

test('a cancel reaches the page, and the operation ends when the page answers or after a limit', async (t) => {
  const { received, controller, run, answer } = makeFixture(t);
  const running = run();
  await runPendingPromises();
  controller.abort('enough');
  assert.deepEqual(received.at(-1), { op: 'cancel', id: 1, reason: 'enough' });
  answer(1, { ok: false, error: { code: 'cancelled', message: 'cancelled' } });
  await assert.rejects(running, (error) => error === 'enough');
  await assert.rejects(run(), (error) => error === 'enough');
});

test('an unresponsive page that runs scripts counts as replaced, and the next operation reconnects', async (t) => {
  const { state, run, send, answer, injected } = makeFixture(t);
  const replaced = run();
  await runPendingPromises();
  send({ op: 'begun', id: 1 });
  state.answersPings = false;
  t.mock.timers.tick(3000);
  await runPendingPromises();
  t.mock.timers.tick(1000);
  await assert.rejects(replaced, (error) => error instanceof PageLostError && error.isReplaced);
  state.answersPings = true;
  const next = run();
  await runPendingPromises();
  answer(1, { ok: true, result: facts });
  assert.deepEqual(await next, facts);
  assert.equal(injected.length, 3, 'injections: for the operation, the probe, and the next operation');
});

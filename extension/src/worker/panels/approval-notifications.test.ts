import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { CallDecideParams, CallDecideResult, CallView, WaitingView } from '../../../../wire/wire.gen.ts';
import { settle } from '../../../test/server.ts';
import type { NotificationContent } from '../../chrome-notifications.ts';
import { ApprovalNotifications } from './approval-notifications.ts';

const makeCall = (n: number, waiting: Partial<WaitingView> = {}, tool = `tool${n}`): CallView => ({
  callId: `call_${n}`,
  plugin: 'p',
  tool,
  status: 'pending',
  runMs: 0,
  waiting: {
    ticketId: `ticket_${n}`,
    kind: 'permission',
    reason: 'Cursor asks',
    args: '{"to":"ann"}',
    leftMs: 1,
    ...waiting,
  },
});

/** makeFixture returns a fake Chrome that keeps notifications and session storage when the worker restarts. */
function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
  const open = new Map<string, NotificationContent>();
  const session = new Map<string, string>();
  const decisions: CallDecideParams[] = [];
  const result: { decided: CallDecideResult | Error } = { decided: { outcome: 'decided', allowed: true } };
  const watching: boolean[] = [];
  /** While holdsCreations is true, the fake Chrome adds new notifications to heldCreations instead of creating them. */
  const heldCreations: (() => void)[] = [];
  const state = { isPanelOpen: false, openedPanels: 0, watching, result, holdsCreations: false, heldCreations };
  const startWorker = () =>
    new ApprovalNotifications({
      show: async (id, content) => {
        if (state.holdsCreations) await new Promise<void>((resolve) => heldCreations.push(resolve));
        open.set(id, content);
      },
      close: async (id) => void open.delete(id),
      listOpen: async () => [...open.keys()],
      isPanelOpen: () => state.isPanelOpen,
      openPanel: async () => void state.openedPanels++,
      setWatching: (on) => void state.watching.push(on),
      decide: async (params) => {
        decisions.push(params);
        if (result.decided instanceof Error) throw result.decided;
        return result.decided;
      },
      readSessionValue: async (key) => session.get(key),
      writeSessionValue: async (key, value) => void session.set(key, value),
    });
  const notifications = startWorker();
  const show = async (calls: readonly CallView[], worker = notifications) => {
    t.mock.timers.tick(500); // Chrome now accepts another change of the notification.
    worker.setWaitingCount(calls.length);
    worker.setCalls(calls);
    await settle();
  };
  return {
    notifications,
    startWorker,
    open,
    decisions,
    state,
    show,
    titles: () => [...open.values()].map(({ title }) => title),
    onlyId: () => {
      const ids = [...open.keys()];
      assert.equal(ids.length, 1, ids.join());
      return ids[0] ?? '';
    },
  };
}

test('the call that has waited longest has a notification while no panel is open', async (t) => {
  const { notifications, show, titles, open, state } = makeFixture(t);
  await show([makeCall(1), makeCall(2), makeCall(3)]);
  assert.deepEqual(titles(), ['Allow p tool1?']);
  assert.deepEqual([...open.values()][0]?.buttons, ['Allow once', 'Deny']);
  assert.match([...open.values()][0]?.context ?? '', /2 more waiting/);
  await show([makeCall(2), makeCall(3)]);
  assert.deepEqual(titles(), ['Allow p tool2?'], 'the next call in the order of arrival');
  state.isPanelOpen = true;
  notifications.scheduleUpdate();
  await settle();
  assert.deepEqual(titles(), ['Allow p tool2?'], 'a change waits until the operating system has answered');
  t.mock.timers.tick(500);
  await settle();
  assert.deepEqual(titles(), []);
  state.isPanelOpen = false;
  notifications.scheduleUpdate();
  await settle();
  assert.deepEqual(titles(), ['Allow p tool2?']);
  await show([]);
  assert.deepEqual(titles(), []);
  assert.equal(state.watching.at(-1), false);
});

test('a button sends one decision about the ticket, and the notification closes', async (t) => {
  for (const [button, allow] of [
    [0, true],
    [1, false],
  ] as const) {
    const { notifications, show, titles, onlyId, decisions } = makeFixture(t);
    await show([makeCall(1)]);
    t.mock.timers.tick(1000);
    notifications.handleButtonClick(onlyId(), button);
    await settle();
    const scope = allow ? { scope: 'once' } : {};
    assert.deepEqual(decisions, [{ callId: 'call_1', ticketId: 'ticket_1', allow, surface: 'notification', ...scope }]);
    assert.deepEqual(titles(), []);
    await show([makeCall(1)]); // The server's list still contains the ended call.
    assert.deepEqual(titles(), []);
    t.mock.timers.reset();
  }
});

test('a click right after the notification appeared has no effect', async (t) => {
  const { notifications, show, titles, onlyId, decisions } = makeFixture(t);
  await show([makeCall(1)]);
  t.mock.timers.tick(600);
  notifications.handleButtonClick(onlyId(), 0);
  await settle();
  assert.deepEqual(decisions, []);
  assert.deepEqual(titles(), ['Allow p tool1?'], 'the notification is shown again');
});

test('a notification with truncated content has no button "Allow"', async (t) => {
  const { notifications, show, open, onlyId, decisions, state } = makeFixture(t);
  await show([makeCall(1, { args: JSON.stringify({ code: 'x'.repeat(200) }) })]);
  assert.deepEqual([...open.values()][0]?.buttons, ['Review', 'Deny']);
  t.mock.timers.tick(1000);
  notifications.handleButtonClick(onlyId(), 0);
  await settle();
  assert.deepEqual([decisions, state.openedPanels], [[], 1]);
});

test('a click on the notification text opens the panel; if none opens, the notification returns', async (t) => {
  const { notifications, show, titles, onlyId, decisions, state } = makeFixture(t);
  await show([makeCall(1)]);
  notifications.handleClick(onlyId());
  await settle();
  assert.deepEqual([state.openedPanels, titles(), decisions], [1, [], []]);
  t.mock.timers.tick(3000);
  await settle();
  assert.deepEqual(titles(), ['Allow p tool1?']);
});

test('a notification that the user closes is not shown again, also by a new worker', async (t) => {
  const { notifications, startWorker, show, titles, open, onlyId } = makeFixture(t);
  await show([makeCall(1)]);
  const id = onlyId();
  open.delete(id);
  notifications.handleClose(id, true);
  await show([makeCall(1), makeCall(2)]);
  assert.deepEqual(titles(), ['Allow p tool2?']);
  await show([makeCall(1)], startWorker());
  assert.deepEqual(titles(), []);
});

test('a new worker handles a click on the notification of an earlier worker', async (t) => {
  const { startWorker, show, onlyId, decisions, state } = makeFixture(t);
  await show([makeCall(1)]);
  t.mock.timers.tick(1000);
  const id = onlyId();
  state.watching.length = 0;
  const worker = startWorker();
  worker.handleButtonClick(id, 1);
  await settle();
  assert.deepEqual(decisions, [{ callId: 'call_1', ticketId: 'ticket_1', allow: false, surface: 'notification' }]);
});

test('a restarted worker requests the calls, and closes notifications that are not needed', async (t) => {
  const { startWorker, show, open, titles, onlyId, state } = makeFixture(t);
  await show([makeCall(1)]);
  const id = onlyId();
  open.set('outcome:ticket_0', { title: 'Already allowed', message: '', context: '', buttons: [] });
  state.watching.length = 0;
  const worker = startWorker();
  await settle();
  assert.deepEqual([onlyId(), state.watching], [id, [true]]);
  await show([makeCall(1)], worker);
  assert.equal(onlyId(), id, 'the user is not alerted again');
  await show([makeCall(2)], worker);
  assert.deepEqual(titles(), ['Allow p tool2?']);
});

test('a notification that Chrome creates after the user has decided closes', async (t) => {
  const { notifications, show, titles, onlyId, state } = makeFixture(t);
  await show([makeCall(1)]);
  t.mock.timers.tick(1000);
  state.holdsCreations = true;
  await show([makeCall(1), makeCall(2)]); // The text of the notification changes.
  notifications.handleButtonClick(onlyId(), 1);
  await show([]);
  for (const create of state.heldCreations) create();
  await settle();
  t.mock.timers.tick(500);
  await settle();
  assert.deepEqual(titles(), []);
});

test('a notification that Chrome creates after the worker has stopped closes once its call is denied', async (t) => {
  const { startWorker, show, titles, state } = makeFixture(t);
  state.holdsCreations = true;
  await show([makeCall(1)]);
  const worker = startWorker();
  await show([], worker); // The user denied the call in the terminal.
  for (const create of state.heldCreations) create();
  await settle();
  assert.deepEqual(titles(), ['Allow p tool1?']);
  t.mock.timers.tick(2000);
  await settle();
  assert.deepEqual(titles(), []);
});

test('without a link, the notification closes after 10 s', async (t) => {
  const { notifications, show, titles } = makeFixture(t);
  await show([makeCall(1)]);
  notifications.onLinkLost();
  t.mock.timers.tick(9_000);
  await settle();
  assert.deepEqual(titles(), ['Allow p tool1?'], 'the link may return');
  t.mock.timers.tick(1_000);
  await settle();
  assert.deepEqual(titles(), []);
});

test('a notification reports a decision that came too late', async (t) => {
  const { notifications, show, titles, onlyId, state } = makeFixture(t);
  state.result.decided = { outcome: 'already', allowed: false, by: 'the side panel' };
  await show([makeCall(1)]);
  t.mock.timers.tick(1000);
  notifications.handleButtonClick(onlyId(), 0);
  await settle();
  assert.deepEqual(titles(), ['Already denied by the side panel.']);
  t.mock.timers.tick(6000);
  await settle();
  assert.deepEqual(titles(), []);
});

test('an unsent decision is reported, and the notification returns', async (t) => {
  const { notifications, show, titles, onlyId, state } = makeFixture(t);
  state.result.decided = new Error('there is no link to the server');
  await show([makeCall(1)]);
  t.mock.timers.tick(1000);
  notifications.handleButtonClick(onlyId(), 0);
  await settle();
  assert.deepEqual(titles().sort(), ['Allow p tool1?', 'Not decided: there is no link to the server']);
});

test('a call that needs an action of the user has the buttons "Done" and "Stop"', async (t) => {
  const { show, open } = makeFixture(t);
  await show([makeCall(1, { kind: 'user', title: 'Log in', reason: 'The site signed you out.' })]);
  const [content] = [...open.values()];
  assert.deepEqual([content?.title, content?.buttons], ['Log in', ['Done', 'Stop']]);
});

test('notifications contain no hidden characters from agents and authors', async (t) => {
  const { show, open } = makeFixture(t);
  await show([makeCall(1, { toolTitle: 'Ex\u202eport', pluginName: 'Cha\u200bt', args: '{"to":"a\\u202e\\nb"}' })]);
  const [content] = [...open.values()];
  assert.equal(content?.title, 'Allow Export?');
  assert.equal(content?.message, 'Cursor asks. The tool can change data.\nto: a\\u202e b');
  assert.equal(content?.context, 'Chat');
});

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { CallDecideParams, CallDecideResult, CallView, WaitingView } from '../../../../wire/wire.gen.ts';
import { runPendingPromises } from '../../../test/server.ts';
import type { NotificationContent } from '../../chrome-notifications.ts';
import { MissingAnswerError } from '../link/link.ts';
import { ApprovalNotifications } from './approval-notifications.ts';

const makeCall = (
  callNumber: number,
  waitingFields: Partial<WaitingView> = {},
  tool = `tool${callNumber}`,
): CallView => ({
  callId: `call_${callNumber}`,
  plugin: 'p',
  tool,
  status: 'pending',
  runMs: 0,
  waiting: {
    ticketId: `ticket_${callNumber}`,
    kind: 'permission',
    reason: 'Cursor asks',
    args: '{"to":"ann"}',
    leftMs: 1,
    ...waitingFields,
  },
});

/** makeFixture returns a fake Chrome that keeps notifications and session storage when the worker restarts. */
function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
  const openNotifications = new Map<string, NotificationContent>();
  const session = new Map<string, string>();
  const sentDecisions: CallDecideParams[] = [];
  const decisionResult: { decided: CallDecideResult | Error } = { decided: { outcome: 'decided', allowed: true } };
  const watchingStates: boolean[] = [];
  /**
   * While holdsCreations is true, the fake Chrome adds new notifications to pendingCreations instead of creating them.
   */
  const pendingCreations: (() => void)[] = [];
  const panelState = {
    isPanelOpen: false,
    openedPanels: 0,
    watching: watchingStates,
    result: decisionResult,
    holdsCreations: false,
    heldCreations: pendingCreations,
  };
  const startWorker = () =>
    new ApprovalNotifications({
      showNotification: async (id, content) => {
        if (panelState.holdsCreations) await new Promise<void>((resolve) => pendingCreations.push(resolve));
        openNotifications.set(id, content);
      },
      closeNotification: async (id) => void openNotifications.delete(id),
      listNotifications: async () => [...openNotifications.keys()],
      isPanelOpen: () => panelState.isPanelOpen,
      openPanelFromNotification: async () => void panelState.openedPanels++,
      setStateWatching: (on) => void panelState.watching.push(on),
      decide: async (params) => {
        sentDecisions.push(params);
        if (decisionResult.decided instanceof Error) throw decisionResult.decided;
        return decisionResult.decided;
      },
      readSessionValue: async (key) => session.get(key),
      writeSessionValue: async (key, value) => void session.set(key, value),
    });
  const notifications = startWorker();
  const showCalls = async (calls: readonly CallView[], worker = notifications) => {
    t.mock.timers.tick(500); // Chrome now accepts another change of the notification
    worker.setWaitingCount(calls.length);
    worker.setCalls(calls);
    await runPendingPromises();
  };
  return {
    notifications,
    startWorker,
    openNotifications,
    sentDecisions,
    panelState,
    showCalls,
    listTitles: () => [...openNotifications.values()].map(({ title }) => title),
    onlyId: () => {
      const ids = [...openNotifications.keys()];
      assert.equal(ids.length, 1, ids.join());
      return ids[0] ?? '';
    },
  };
}

test('while no panel is open, a notification shows the call that has waited longest', async (t) => {
  const { notifications, showCalls, listTitles, openNotifications, panelState } = makeFixture(t);
  await showCalls([makeCall(1), makeCall(2), makeCall(3)]);
  assert.deepEqual(listTitles(), ['Allow p tool1?']);
  assert.deepEqual([...openNotifications.values()][0]?.buttonTitles, ['Allow once', 'Deny']);
  assert.match([...openNotifications.values()][0]?.context ?? '', /2 more waiting/);
  await showCalls([makeCall(2), makeCall(3)]);
  assert.deepEqual(listTitles(), ['Allow p tool2?'], 'the next call must get a notification');
  panelState.isPanelOpen = true;
  notifications.scheduleUpdate();
  await runPendingPromises();
  assert.deepEqual(listTitles(), ['Allow p tool2?'], 'a change must wait for the previous change');
  t.mock.timers.tick(500);
  await runPendingPromises();
  assert.deepEqual(listTitles(), []);
  panelState.isPanelOpen = false;
  notifications.scheduleUpdate();
  await runPendingPromises();
  assert.deepEqual(listTitles(), ['Allow p tool2?']);
  await showCalls([]);
  assert.deepEqual(listTitles(), []);
  assert.equal(panelState.watching.at(-1), false);
});

test('a button sends one decision about the ticket, and the notification closes', async (t) => {
  for (const [button, isAllowed] of [
    [0, true],
    [1, false],
  ] as const) {
    const { notifications, showCalls, listTitles, onlyId, sentDecisions } = makeFixture(t);
    await showCalls([makeCall(1)]);
    t.mock.timers.tick(1000);
    notifications.handleButtonClick(onlyId(), button);
    await runPendingPromises();
    const grantScope = isAllowed ? { scope: 'once' } : {};
    assert.deepEqual(sentDecisions, [
      { callId: 'call_1', ticketId: 'ticket_1', allow: isAllowed, surface: 'notification', ...grantScope },
    ]);
    assert.deepEqual(listTitles(), []);
    await showCalls([makeCall(1)]); // the server's list still contains the ended call
    assert.deepEqual(listTitles(), []);
    t.mock.timers.reset();
  }
});

test('a click directly after a notification appeared has no effect', async (t) => {
  const { notifications, showCalls, listTitles, onlyId, sentDecisions } = makeFixture(t);
  await showCalls([makeCall(1)]);
  t.mock.timers.tick(600);
  notifications.handleButtonClick(onlyId(), 0);
  await runPendingPromises();
  assert.deepEqual(sentDecisions, []);
  assert.deepEqual(listTitles(), ['Allow p tool1?'], 'the notification must return after an early click');
});

test('a notification with truncated content has no button "Allow"', async (t) => {
  const { notifications, showCalls, openNotifications, onlyId, sentDecisions, panelState } = makeFixture(t);
  await showCalls([makeCall(1, { args: JSON.stringify({ code: 'x'.repeat(200) }) })]);
  assert.deepEqual([...openNotifications.values()][0]?.buttonTitles, ['Review', 'Deny']);
  t.mock.timers.tick(1000);
  notifications.handleButtonClick(onlyId(), 0);
  await runPendingPromises();
  assert.deepEqual([sentDecisions, panelState.openedPanels], [[], 1]);
});

test('a click on the notification text opens the side panel; if this fails, the notification returns', async (t) => {
  const { notifications, showCalls, listTitles, onlyId, sentDecisions, panelState } = makeFixture(t);
  await showCalls([makeCall(1)]);
  notifications.handleClick(onlyId());
  await runPendingPromises();
  assert.deepEqual([panelState.openedPanels, listTitles(), sentDecisions], [1, [], []]);
  t.mock.timers.tick(3000);
  await runPendingPromises();
  assert.deepEqual(listTitles(), ['Allow p tool1?']);
});

test('a notification that the user closed is not shown again, even by a restarted worker', async (t) => {
  const { notifications, startWorker, showCalls, listTitles, openNotifications, onlyId } = makeFixture(t);
  await showCalls([makeCall(1)]);
  const id = onlyId();
  openNotifications.delete(id);
  notifications.handleClose(id, true);
  await showCalls([makeCall(1), makeCall(2)]);
  assert.deepEqual(listTitles(), ['Allow p tool2?']);
  await showCalls([makeCall(1)], startWorker());
  assert.deepEqual(listTitles(), []);
});

test('a restarted worker handles a click on a notification of the previous worker', async (t) => {
  const { startWorker, showCalls, onlyId, sentDecisions, panelState } = makeFixture(t);
  await showCalls([makeCall(1)]);
  t.mock.timers.tick(1000);
  const id = onlyId();
  panelState.watching.length = 0;
  const worker = startWorker();
  worker.handleButtonClick(id, 1);
  await runPendingPromises();
  assert.deepEqual(sentDecisions, [{ callId: 'call_1', ticketId: 'ticket_1', allow: false, surface: 'notification' }]);
});

test('a restarted worker requests the waiting calls, and closes notifications of other calls', async (t) => {
  const { startWorker, showCalls, openNotifications, listTitles, onlyId, panelState } = makeFixture(t);
  await showCalls([makeCall(1)]);
  const id = onlyId();
  openNotifications.set('outcome:ticket_0', { title: 'Already allowed', message: '', context: '', buttonTitles: [] });
  panelState.watching.length = 0;
  const worker = startWorker();
  await runPendingPromises();
  assert.deepEqual([onlyId(), panelState.watching], [id, [true]]);
  await showCalls([makeCall(1)], worker);
  assert.equal(onlyId(), id, 'the ID must stay the same, so that the user is not alerted again');
  await showCalls([makeCall(2)], worker);
  assert.deepEqual(listTitles(), ['Allow p tool2?']);
});

test("a notification that Chrome creates only after the user's decision is closed", async (t) => {
  const { notifications, showCalls, listTitles, onlyId, panelState } = makeFixture(t);
  await showCalls([makeCall(1)]);
  t.mock.timers.tick(1000);
  panelState.holdsCreations = true;
  await showCalls([makeCall(1), makeCall(2)]); // the second call changes the text of the notification
  notifications.handleButtonClick(onlyId(), 1);
  await showCalls([]);
  for (const createNotification of panelState.heldCreations) createNotification();
  await runPendingPromises();
  t.mock.timers.tick(500);
  await runPendingPromises();
  assert.deepEqual(listTitles(), []);
});

test('a notification that Chrome creates after the worker stopped is closed once its call is denied', async (t) => {
  const { startWorker, showCalls, listTitles, panelState } = makeFixture(t);
  panelState.holdsCreations = true;
  await showCalls([makeCall(1)]);
  const worker = startWorker();
  await showCalls([], worker); // the call was denied in the terminal
  for (const createNotification of panelState.heldCreations) createNotification();
  await runPendingPromises();
  assert.deepEqual(listTitles(), ['Allow p tool1?']);
  t.mock.timers.tick(2000);
  await runPendingPromises();
  assert.deepEqual(listTitles(), []);
});

test('without a link, the notification closes after 10 s', async (t) => {
  const { notifications, showCalls, listTitles } = makeFixture(t);
  await showCalls([makeCall(1)]);
  notifications.onLinkLost();
  t.mock.timers.tick(9_000);
  await runPendingPromises();
  assert.deepEqual(listTitles(), ['Allow p tool1?'], 'the notification must stay for 10 s without a link');
  t.mock.timers.tick(1_000);
  await runPendingPromises();
  assert.deepEqual(listTitles(), []);
});

test('a notification reports a decision that came too late', async (t) => {
  const { notifications, showCalls, listTitles, onlyId, panelState } = makeFixture(t);
  panelState.result.decided = { outcome: 'already', allowed: false, by: 'the side panel' };
  await showCalls([makeCall(1)]);
  t.mock.timers.tick(1000);
  notifications.handleButtonClick(onlyId(), 0);
  await runPendingPromises();
  assert.deepEqual(listTitles(), ['Already denied by the side panel.']);
  t.mock.timers.tick(6000);
  await runPendingPromises();
  assert.deepEqual(listTitles(), []);
});

test('if a decision cannot be sent, the user is notified and the approval notification returns', async (t) => {
  const { notifications, showCalls, listTitles, onlyId, panelState } = makeFixture(t);
  panelState.result.decided = new Error('there is no link to the server');
  await showCalls([makeCall(1)]);
  t.mock.timers.tick(1000);
  notifications.handleButtonClick(onlyId(), 0);
  await runPendingPromises();
  assert.deepEqual(listTitles().sort(), ['Allow p tool1?', 'Not decided: there is no link to the server']);
});

test('if the server does not answer a decision, the notification does not state that nothing was decided', async (t) => {
  const { notifications, showCalls, listTitles, onlyId, panelState } = makeFixture(t);
  panelState.result.decided = new MissingAnswerError('the link to the server was lost');
  await showCalls([makeCall(1)]);
  t.mock.timers.tick(1000);
  notifications.handleButtonClick(onlyId(), 0);
  await runPendingPromises();
  assert.match(listTitles().join(), /The decision may have taken effect: the link to the server was lost/);
});

test('a call that needs an action of the user has the buttons "Done" and "Stop"', async (t) => {
  const { showCalls, openNotifications } = makeFixture(t);
  await showCalls([makeCall(1, { kind: 'user', title: 'Log in', reason: 'The site signed you out.' })]);
  const [content] = [...openNotifications.values()];
  assert.deepEqual([content?.title, content?.buttonTitles], ['Log in', ['Done', 'Stop']]);
});

test('notifications contain no hidden characters from agents and authors', async (t) => {
  const { showCalls, openNotifications } = makeFixture(t);
  await showCalls([
    makeCall(1, { toolTitle: 'Ex\u202eport', pluginName: 'Cha\u200bt', args: '{"to":"a\\u202e\\nb"}' }),
  ]);
  const [content] = [...openNotifications.values()];
  assert.equal(content?.title, 'Allow Export?');
  assert.equal(content?.message, 'Cursor asks. The tool can change data.\nto: a\\u202e b');
  assert.equal(content?.context, 'Chat');
});

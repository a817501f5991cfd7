import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { makeBrowserCall } from '../../../../test/browser-call.ts';
import { DialogTimeoutMs, TabDialogs } from './dialogs.ts';

let events: string[];
let isActive: boolean;
let tabDialogs: TabDialogs;

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] });
  events = [];
  isActive = false;
  tabDialogs = new TabDialogs({
    isInFront: async () => isActive,
    dismiss: async (tabId) => void events.push(`dismiss ${tabId}`),
  });
});
afterEach(() => mock.timers.reset());

function openDialog(tabId: number, type = 'confirm'): void {
  tabDialogs.handleEvent(tabId, 'Page.javascriptDialogOpening', { type, message: 'Delete it?' });
}

async function tickClock(ms: number): Promise<void> {
  mock.timers.tick(ms);
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

const { session } = makeBrowserCall({}, { session: 's1' });

/** suspendTool suspends a tool that never ends, and returns the tool's signal. */
function suspendTool(tabId: number, toolSession = session): AbortSignal {
  const controller = new AbortController();
  const tool = new Promise<never>(() => undefined);
  tabDialogs.suspendTool({ tabId, tool, session: toolSession, controller });
  return controller.signal;
}

test('an unanswered dialog is dismissed after 5 min', async () => {
  openDialog(7);
  openDialog(8);
  await tickClock(DialogTimeoutMs - 1);
  tabDialogs.handleEvent(8, 'Page.javascriptDialogClosed', {});
  assert.deepEqual(events, []);
  await tickClock(1);
  assert.deepEqual(events, ['dismiss 7']);
  assert.equal(tabDialogs.find(7), undefined);
  tabDialogs.forgetTab(7); // the debugger is detached from tab 7
  assert.equal(tabDialogs.findDismissedDialog(7)?.message, 'Delete it?');
  assert.equal(tabDialogs.findDismissedDialog(8), undefined);
  tabDialogs.forgetDismissedDialog(7);
  assert.equal(tabDialogs.findDismissedDialog(7), undefined);
  await tickClock(DialogTimeoutMs);
  assert.deepEqual(events, ['dismiss 7'], 'no dialog may be dismissed twice');
});

test('a dialog that no tool opened is not dismissed while its tab is active', async () => {
  isActive = true;
  openDialog(7);
  await tickClock(DialogTimeoutMs);
  assert.notEqual(tabDialogs.find(7), undefined, 'the dialog in the active tab must stay open after 5 min');
  isActive = false;
  await tickClock(DialogTimeoutMs);
  assert.deepEqual(events, ['dismiss 7']);
});

test('a dialog that a tool opened is dismissed even in an active tab', async () => {
  isActive = true;
  openDialog(7);
  const signal = suspendTool(7);
  signal.addEventListener('abort', () => events.push('stop'));
  await tickClock(DialogTimeoutMs);
  assert.deepEqual(events, ['stop', 'dismiss 7'], 'the tool must stop before its page continues');
  assert.equal(tabDialogs.findSuspendedTool(7, session), undefined);
});

test('the end of a session dismisses the dialogs that its tools have opened', async () => {
  for (const tabId of [7, 8, 9]) openDialog(tabId);
  const signals = [suspendTool(7), suspendTool(8, 's2')];
  await tabDialogs.endSession(session);
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, false],
  );
  assert.deepEqual(events, ['dismiss 7']);
  assert.equal(tabDialogs.find(7), undefined);
  assert.notEqual(tabDialogs.find(8), undefined, 'the dialog of another session must stay open');
});

test('after the user has answered the dialog of a tool, the tool does not affect later dialogs', async () => {
  openDialog(7);
  const signal = suspendTool(7);
  tabDialogs.handleEvent(7, 'Page.javascriptDialogClosed', {});
  isActive = true;
  openDialog(7);
  assert.equal(tabDialogs.findSuspendedTool(7, session), undefined, 'the later dialog must not return the old result');
  await tickClock(DialogTimeoutMs);
  assert.equal(signal.aborted, false);
  await tabDialogs.endSession(session);
  assert.equal(signal.aborted, true, 'the end of the session must stop the tool that continues');
  assert.deepEqual(events, [], "the user's own dialog must stay open");
});

test('a suspended tool is returned only to its own session, until its dialog closes', async () => {
  openDialog(7);
  let endTool = () => {};
  const tool = new Promise<object>((resolve) => {
    endTool = () => resolve({});
  });
  tabDialogs.suspendTool({ tabId: 7, tool, session, controller: new AbortController() });
  endTool(); // for example, a wait for the page can end while the dialog is open
  await tickClock(0);
  assert.equal(tabDialogs.findSuspendedTool(7, 's2'), undefined);
  assert.equal(tabDialogs.findSuspendedTool(7, session)?.tool, tool);
  await tabDialogs.endSession(session);
  assert.deepEqual(events, ['dismiss 7']);
  assert.equal(tabDialogs.findSuspendedTool(7, session), undefined);
});

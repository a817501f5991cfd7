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
const neverResolve = () => new Promise<never>(() => undefined);

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
  tabDialogs.suspendTool(7, session, neverResolve());
  await tickClock(DialogTimeoutMs);
  assert.deepEqual(events, ['dismiss 7']);
  assert.equal(tabDialogs.takeSuspendedTool(7), undefined);
});

test('the end of a session dismisses the dialogs that its tools have opened', async () => {
  for (const tabId of [7, 8, 9]) openDialog(tabId);
  tabDialogs.suspendTool(7, session, neverResolve());
  tabDialogs.suspendTool(8, 's2', neverResolve());
  await tabDialogs.endSession(session);
  assert.deepEqual(events, ['dismiss 7']);
  assert.equal(tabDialogs.find(7), undefined);
  assert.notEqual(tabDialogs.find(8), undefined, 'the dialog of another session must stay open');
});

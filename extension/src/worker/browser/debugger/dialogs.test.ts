import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { makeBrowserCall } from '../../../../test/browser-call.ts';
import { Dialogs, DialogTimeoutMs } from './dialogs.ts';

let events: string[];
let isActive: boolean;
let dialogs: Dialogs;

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] });
  events = [];
  isActive = false;
  dialogs = new Dialogs({
    isInFront: async () => isActive,
    dismiss: async (tabId) => void events.push(`dismiss ${tabId}`),
  });
});
afterEach(() => mock.timers.reset());

function open(tabId: number, type = 'confirm'): void {
  dialogs.handleEvent(tabId, 'Page.javascriptDialogOpening', { type, message: 'Delete it?' });
}

async function tick(ms: number): Promise<void> {
  mock.timers.tick(ms);
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

const { session } = makeBrowserCall({}, { session: 's1' });
const neverResolve = () => new Promise<never>(() => undefined);

test('an unanswered dialog is dismissed after 5 min', async () => {
  open(7);
  open(8);
  await tick(DialogTimeoutMs - 1);
  dialogs.handleEvent(8, 'Page.javascriptDialogClosed', {});
  assert.deepEqual(events, []);
  await tick(1);
  assert.deepEqual(events, ['dismiss 7']);
  assert.equal(dialogs.find(7), undefined);
  dialogs.forgetTab(7); // The test simulates that the debugger is detached from tab 7.
  assert.equal(dialogs.findDismissed(7)?.message, 'Delete it?');
  assert.equal(dialogs.findDismissed(8), undefined);
  dialogs.forgetDismissed(7);
  assert.equal(dialogs.findDismissed(7), undefined);
  await tick(DialogTimeoutMs);
  assert.deepEqual(events, ['dismiss 7'], 'dismissals after the tabs have no dialog');
});

test('a dialog in an active tab that no tool opened waits for the user', async () => {
  isActive = true;
  open(7);
  await tick(DialogTimeoutMs);
  assert.notEqual(dialogs.find(7), undefined, 'dialog in the active tab after 5 min');
  isActive = false;
  await tick(DialogTimeoutMs);
  assert.deepEqual(events, ['dismiss 7']);
});

test('a dialog that a tool opened is dismissed even in an active tab', async () => {
  isActive = true;
  open(7);
  dialogs.suspendTool(7, session, neverResolve());
  await tick(DialogTimeoutMs);
  assert.deepEqual(events, ['dismiss 7']);
  assert.equal(dialogs.takeSuspended(7), undefined);
});

test('the end of a session dismisses the dialogs that its tools have opened', async () => {
  for (const tabId of [7, 8, 9]) open(tabId);
  dialogs.suspendTool(7, session, neverResolve());
  dialogs.suspendTool(8, 's2', neverResolve());
  await dialogs.endSession(session);
  assert.deepEqual(events, ['dismiss 7']);
  assert.equal(dialogs.find(7), undefined);
  assert.notEqual(dialogs.find(8), undefined, 'dialog of another session');
});

import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { makeBrowserCall } from '../../../../test/browser-call.ts';
import { DialogMs, Dialogs } from './dialogs.ts';

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
  dialogs.receive(tabId, 'Page.javascriptDialogOpening', { type, message: 'Delete it?' });
}

async function tick(ms: number): Promise<void> {
  mock.timers.tick(ms);
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

const { session } = makeBrowserCall({}, { session: 's1' });
const noResult = () => new Promise<never>(() => undefined);

test('a dialog that nothing answers is dismissed after 5 min', async () => {
  open(7);
  open(8);
  await tick(DialogMs - 1);
  dialogs.receive(8, 'Page.javascriptDialogClosed', {});
  assert.deepEqual(events, []);
  await tick(1);
  assert.deepEqual(events, ['dismiss 7']);
  assert.equal(dialogs.find(7), undefined);
  dialogs.forget(7); // Chrome detaches the debugger from the tab
  assert.equal(dialogs.findDismissed(7)?.message, 'Delete it?');
  assert.equal(dialogs.findDismissed(8), undefined);
  dialogs.forgetDismissed(7);
  assert.equal(dialogs.findDismissed(7), undefined);
  await tick(DialogMs);
  assert.deepEqual(events, ['dismiss 7'], 'dismissals after the tabs have no dialog');
});

test('a dialog in front that no tool opened waits for the user', async () => {
  isActive = true;
  open(7);
  await tick(DialogMs);
  assert.notEqual(dialogs.find(7), undefined, 'dialog in the tab in front after 5 min');
  isActive = false;
  await tick(DialogMs);
  assert.deepEqual(events, ['dismiss 7']);
});

test('a dialog that an act opened is dismissed also in front', async () => {
  isActive = true;
  open(7);
  dialogs.suspend(7, session, noResult());
  await tick(DialogMs);
  assert.deepEqual(events, ['dismiss 7']);
  assert.equal(dialogs.takeSuspended(7), undefined);
});

test('the end of a session dismisses the dialogs that its acts have opened', async () => {
  for (const tabId of [7, 8, 9]) open(tabId);
  dialogs.suspend(7, session, noResult());
  dialogs.suspend(8, 's2', noResult());
  await dialogs.endSession(session);
  assert.deepEqual(events, ['dismiss 7']);
  assert.equal(dialogs.find(7), undefined);
  assert.notEqual(dialogs.find(8), undefined, 'dialog of another session');
});

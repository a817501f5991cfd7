import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { makeBrowserCall } from '../../../../test/browser-call.ts';
import { DebuggerFixture } from '../../../../test/debugger-fixture.ts';
import { runPendingPromises } from '../../../../test/server.ts';
import type { BrowserTool } from '../browser-tool.ts';

import { makeHandleDialog, suspendOnDialog } from './dialog-tools.ts';

let fixture: DebuggerFixture;
let filledFields: string[];
let answerDialog: () => void;

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] });
  fixture = new DebuggerFixture();
  filledFields = [];
  answerDialog = () => undefined;
});
afterEach(() => mock.timers.reset());

const call = makeBrowserCall({ accept: true }, { tabId: 7, session: 's1' });

/** fillThreeFields fills three fields, and the page shows a dialog when the first field is filled. */
const fillThreeFields: BrowserTool = async ({ signal }) => {
  for (const field of ['first', 'second', 'third']) {
    signal.throwIfAborted();
    filledFields.push(field);
    if (field !== 'first') continue;
    const answered = new Promise<void>((resolve) => {
      answerDialog = resolve;
    });
    fixture.emitEvent('Page.javascriptDialogOpening', { type: 'confirm', message: 'Sure?' });
    await answered;
  }
  return { text: `Filled ${filledFields.length} fields.` };
};

/** fillUntilDialog starts fillThreeFields, and returns when the tool is suspended. */
async function fillUntilDialog(): Promise<void> {
  const windowFocus = { activeTabs: [], focusedWindow: undefined };
  const browser = { readWindowFocus: async () => windowFocus, restoreWindowFocus: async () => undefined };
  const suspendableTool = suspendOnDialog(fillThreeFields, fixture.debuggers, browser, false);
  await fixture.debuggers.use(7, ['dialogs'], async () => {
    assert.match((await suspendableTool(call)).text ?? '', /opened a dialog \(confirm\)/);
  });
}

async function closeDialogByUser(): Promise<void> {
  fixture.emitEvent('Page.javascriptDialogClosed', {});
  answerDialog();
  await runPendingPromises();
}

test('a suspended tool continues after its dialog is answered, and returns its result', async () => {
  await fillUntilDialog();
  fixture.onCommand = (method) => method === 'Page.handleJavaScriptDialog' && answerDialog();
  const { text } = await makeHandleDialog(fixture.debuggers)(call);
  assert.equal(text, 'Accepted the dialog (confirm). Filled 3 fields.');
});

test('a suspended tool stops when its session ends, even if the user answers the dialog first', async () => {
  await fillUntilDialog();
  await fixture.debuggers.dialogs.endSession('s1');
  await closeDialogByUser();
  assert.deepEqual(filledFields, ['first']);
});

test('a suspended tool stops when the user stops the client in the tab', async () => {
  await fillUntilDialog();
  fixture.debuggers.dialogs.stopSuspendedTools(8);
  fixture.debuggers.dialogs.stopSuspendedTools(7);
  await closeDialogByUser();
  assert.deepEqual(filledFields, ['first']);
});

test('a cancelled browser_handle_dialog stops the suspended tool', async () => {
  await fillUntilDialog();
  const controller = new AbortController();
  fixture.onCommand = (method) => {
    if (method !== 'Page.handleJavaScriptDialog') return;
    controller.abort();
    answerDialog();
  };
  await makeHandleDialog(fixture.debuggers)({ ...call, signal: controller.signal });
  assert.deepEqual(filledFields, ['first']);
});

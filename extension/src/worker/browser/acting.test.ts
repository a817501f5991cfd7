import assert from 'node:assert/strict';
import test from 'node:test';
import { findTool, makeBrowserCall } from '../../../test/browser-call.ts';
import { DebuggerFixture } from '../../../test/debugger-fixture.ts';
import { idleBrowser, makeTabFrames } from '../../../test/frames-fixture.ts';
import { runPendingPromises } from '../../../test/server.ts';
import type { PageProgress } from '../../page/operations.ts';
import { makeActionTools } from './acting.ts';
import { PageActions } from './acts.ts';
import { TrustedInput } from './debugger/trusted-input.ts';
import { Snapshots } from './snapshots.ts';
import { TabGroups } from './tab-groups.ts';
import { UserInput } from './user-input.ts';

/** makeTools makes tools in a page that removes its frame f3 after the page script has sent some progress reports. */
function makeTools(progressReports: readonly PageProgress[]) {
  const topFrame = { frameId: 0, parentFrameId: -1, documentId: 'top', url: 'https://shop.example/' };
  const frames = makeTabFrames({
    listTabFrames: () => [topFrame, { ...topFrame, frameId: 3, parentFrameId: 0, documentId: 'child' }],
    answer: (_documentId, { id }, port) => {
      port.send({ op: 'begun', id });
      for (const progress of progressReports) port.send({ op: 'progress', id, progress });
      port.disconnect();
      return undefined;
    },
  });
  const { debuggers } = new DebuggerFixture();
  const groups = new TabGroups({
    hasPermission: async () => false,
    readSetting: async () => undefined,
    writeSetting: async () => undefined,
    readSessionValue: async () => undefined,
    writeSessionValue: async () => undefined,
    groupTab: async () => 1,
  });
  const browser = {
    ...idleBrowser,
    readWindowFocus: async () => ({ activeTabs: [], focusedWindow: undefined }),
    restoreWindowFocus: async () => undefined,
    openBackgroundTab: async () => 8,
    readTabState: async () => 'open' as const,
    runScriptUrl: async () => undefined,
  };
  const userInput = new UserInput({
    watchInput: async () => undefined,
    sendToDebugger: async () => ({}),
    report: () => undefined,
  });
  const pageActions = new PageActions(browser, frames, new Snapshots(frames), groups, debuggers.downloads);
  return makeActionTools(frames, pageActions, new TrustedInput(debuggers, frames, userInput));
}

const fields = ['f3e1', 'f3e2', 'f3e3'].map((target) => ({ target, value: 'Ada' }));
const begunReport = { message: '', doneSteps: 0 };

for (const { name, tool, args, progressReports, want } of [
  {
    name: 'fields that were filled before the document ended',
    tool: 'browser_fill_form',
    args: { fields },
    progressReports: [begunReport, { message: 'filling the form', progress: 1, total: 3, doneSteps: 1 }, begunReport],
    want: /^Filled 1 of 3 fields\. The document ended during the action: check which fields have been filled\./,
  },
  {
    name: 'all fields, if the document ended after the last one',
    tool: 'browser_fill_form',
    args: { fields },
    progressReports: [{ message: 'filling the form', progress: 3, total: 3, doneSteps: 3 }],
    want: /^Filled 3 of 3 fields\. The page removed the frame/,
  },
  {
    name: 'a click during which the document ended',
    tool: 'browser_click',
    args: { target: 'f3e1' },
    progressReports: [begunReport],
    want: /^Clicked f3e1\. The page removed the frame/,
  },
  {
    name: 'no click if the document ended while the click waited',
    tool: 'browser_click',
    args: { target: 'f3e1' },
    progressReports: [{ message: 'waiting: it is disabled' }],
    want: /^The document ended before the action or during it\. Check whether .*\. The page removed the frame/,
  },
]) {
  test(`the result of an action reports ${name}`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
    const result = findTool(
      makeTools(progressReports),
      tool,
    )(makeBrowserCall({ ...args, snapshot: 'none' }, { tabId: 7 }));
    for (let i = 0; i < 20; i++) {
      for (let j = 0; j < 10; j++) await runPendingPromises();
      t.mock.timers.tick(100);
    }
    assert.match((await result).text ?? '', want);
  });
}

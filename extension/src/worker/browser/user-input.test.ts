import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Fields } from '../../record.ts';
import { UserInput } from './user-input.ts';

function makeInput(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1000 });
  const watchedTabs: string[] = [];
  const reportedTabs: number[] = [];
  const commands: (() => void)[] = [];
  const children: (string | undefined)[] = [];
  const input = new UserInput({
    watchInput: async (tabId, documentIds, limitMs) => {
      watchedTabs.push(`${tabId} ${documentIds ?? 'all'} ${limitMs}`);
    },
    sendToDebugger: (_tabId: number, _method: string, _params?: Fields, childId?: string) => {
      children.push(childId);
      return new Promise<Fields>((resolve) => commands.push(() => resolve({})));
    },
    report: (tabId) => reportedTabs.push(tabId),
  });
  return {
    input,
    watchedTabs,
    reportedTabs,
    children,
    finishCommand: () => commands.shift()?.(),
  };
}

const tabHold = { tabId: 7, client: 'claude-code', site: 'https://shop.example', leftMs: 60_000 };

test('UserInput watches all documents of tabs that clients use, and extends the watch when needed', (t) => {
  const { input, watchedTabs } = makeInput(t);
  input.recordDocument(7, 'd1');
  input.setTabHolds([tabHold]);
  input.recordDocument(7, 'd2');
  input.recordDocument(8, 'd3');
  t.mock.timers.tick(10_000);
  input.setTabHolds([tabHold]);
  assert.deepEqual(watchedTabs.splice(0), ['7 all 120000', '7 d2 120000']);
  assert.equal(input.tabHolds[0]?.endMs, 71_000);
  t.mock.timers.tick(55_000);
  input.setTabHolds([tabHold]);
  assert.deepEqual(watchedTabs.splice(0), ['7 all 120000']);
  t.mock.timers.tick(60_000);
  assert.deepEqual(input.tabHolds, []);
  input.recordDocument(7, 'd4');
  assert.deepEqual(watchedTabs, []);
});

test('UserInput reports clicks and keys of the user, but not those of the debugger', async (t) => {
  const { input, reportedTabs, finishCommand } = makeInput(t);
  input.setTabHolds([tabHold]);
  const pressCommand = input.sendToDebugger(7, 'Input.dispatchMouseEvent', { type: 'mousePressed' });
  input.receive(7, 'key');
  input.receive(8, 'pointer');
  assert.deepEqual(reportedTabs.splice(0), [7, 8], 'a key in tab 7 and a click in tab 8 must be reported');
  input.receive(7, 'pointer');
  assert.deepEqual(reportedTabs, [], 'a click of the debugger must not be reported');
  input.receive(7, 'pointer');
  assert.deepEqual(reportedTabs.splice(0), [7], 'a second click must be reported as user input');
  finishCommand();
  await pressCommand;
});

test('user input cancels the action that runs in the tab, and a running action keeps its tab in use', async (t) => {
  const { input, watchedTabs, reportedTabs } = makeInput(t);
  t.mock.timers.reset();
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1000 });
  input.setTabHolds([tabHold]);
  const begin = (tabId: number) => {
    const controller = new AbortController();
    const call = {
      tool: 'browser_type',
      tabId,
      documentId: 'd1',
      args: {},
      session: '',
      signal: controller.signal,
      report: () => {},
      markActed: () => {},
    };
    return input.stopOnInput(
      call,
      ({ signal }) =>
        new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve(signal.reason.message))),
    );
  };
  const runningAction = begin(7);
  void begin(8);
  t.mock.timers.tick(150_000);
  assert.deepEqual(watchedTabs, ['7 all 120000', '7 all 120000']);
  assert.equal(input.tabHolds[0]?.endMs, 211_000, 'a running action must extend the use of its tab');
  input.receive(7, 'key');
  assert.equal(await runningAction, 'the user took tab 7 back by a click or a key while the tool ran.');
  assert.deepEqual(reportedTabs, [7]);
  assert.deepEqual(input.tabHolds, [], 'the tab must not be in use after user input');
});

test('sendToDebugger sends commands for a child target to the child target', async () => {
  const sentCommands: unknown[] = [];
  const input = new UserInput({
    watchInput: async () => undefined,
    sendToDebugger: async (...args) => {
      sentCommands.push(args);
      return {};
    },
    report: () => undefined,
  });
  await input.sendToDebugger(7, 'Network.enable', {}, 'child');
  await input.sendToDebugger(7, 'Input.dispatchMouseEvent', { type: 'mousePressed' }, 'child');
  assert.deepEqual(sentCommands, [
    [7, 'Network.enable', {}, 'child'],
    [7, 'Input.dispatchMouseEvent', { type: 'mousePressed' }, 'child'],
  ]);
});

test('only debugger commands that press a mouse button or key cause expected input, for at most 2 s', async (t) => {
  const { input, reportedTabs, finishCommand } = makeInput(t);
  const sendCommand = async (method: string, params: Fields) => {
    const sentCommands = input.sendToDebugger(7, method, params);
    finishCommand();
    await sentCommands;
  };
  await sendCommand('Input.dispatchMouseEvent', { type: 'mouseMoved' });
  await sendCommand('Input.dispatchMouseEvent', { type: 'mouseReleased' });
  await sendCommand('Input.dispatchKeyEvent', { type: 'keyUp', key: 'a' });
  await sendCommand('Input.dispatchKeyEvent', { type: 'char', key: 'a' });
  await sendCommand('Input.dispatchKeyEvent', { type: 'rawKeyDown', key: 'Shift' });
  await sendCommand('Input.dispatchKeyEvent', { type: 'keyDown', key: 'a', autoRepeat: true });
  await sendCommand('Input.insertText', { text: 'a' });
  input.receive(7, 'pointer');
  input.receive(7, 'key');
  assert.deepEqual(reportedTabs.splice(0), [7, 7]);
  await sendCommand('Input.dispatchKeyEvent', { type: 'keyDown', key: 'a' });
  await sendCommand('Input.dispatchKeyEvent', { type: 'rawKeyDown', key: 'Enter' });
  await sendCommand('Input.dispatchTouchEvent', { type: 'touchStart' });
  for (const kind of ['key', 'key', 'pointer'] as const) input.receive(7, kind);
  assert.deepEqual(reportedTabs, []);
  await sendCommand('Input.dispatchKeyEvent', { type: 'keyDown', key: 'a' });
  t.mock.timers.tick(2001);
  input.receive(7, 'key');
  assert.deepEqual(reportedTabs, [7], 'a key 2 s after the debugger command must be reported');
});

test('debugger commands reach the frame or worker with their child ID', (t) => {
  const { input, children } = makeInput(t);
  for (const method of ['Input.dispatchKeyEvent', 'Page.getFrameTree']) {
    void input.sendToDebugger(7, method, { type: 'keyDown' }, 'child 1');
    void input.sendToDebugger(7, method, { type: 'keyDown' });
  }
  assert.deepEqual(children, ['child 1', '', 'child 1', '']);
});

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

test('tabs in use and their new documents are watched, and an action extends the watch if needed', (t) => {
  const { input, watchedTabs } = makeInput(t);
  input.recordDocument(7, 'd1');
  input.setHolds([tabHold]);
  input.recordDocument(7, 'd2');
  input.recordDocument(8, 'd3');
  t.mock.timers.tick(10_000);
  input.setHolds([tabHold]);
  assert.deepEqual(watchedTabs.splice(0), ['7 all 120000', '7 d2 120000']);
  assert.equal(input.tabHolds[0]?.endMs, 71_000);
  t.mock.timers.tick(55_000);
  input.setHolds([tabHold]);
  assert.deepEqual(watchedTabs.splice(0), ['7 all 120000']);
  t.mock.timers.tick(60_000);
  assert.deepEqual(input.tabHolds, []);
  input.recordDocument(7, 'd4');
  assert.deepEqual(watchedTabs, []);
});

test('user input is reported, and debugger input is not', async (t) => {
  const { input, reportedTabs, finishCommand } = makeInput(t);
  input.setHolds([tabHold]);
  const pressCommand = input.sendToDebugger(7, 'Input.dispatchMouseEvent', { type: 'mousePressed' });
  input.receive(7, 'key');
  input.receive(8, 'pointer');
  assert.deepEqual(reportedTabs.splice(0), [7, 8], 'only a click in tab 7 is expected');
  input.receive(7, 'pointer');
  assert.deepEqual(reportedTabs, [], 'the click of the debugger is not reported');
  input.receive(7, 'pointer');
  assert.deepEqual(reportedTabs.splice(0), [7], 'a second click is of the user');
  finishCommand();
  await pressCommand;
});

test('user input cancels actions in its tab, and a running action keeps its tab in use', async (t) => {
  const { input, watchedTabs, reportedTabs } = makeInput(t);
  t.mock.timers.reset();
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1000 });
  input.setHolds([tabHold]);
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
    };
    return input.stopOnInput(
      call,
      ({ signal }) =>
        new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve(signal.reason.message))),
    );
  };
  const actingCall = begin(7);
  void begin(8);
  t.mock.timers.tick(150_000);
  assert.deepEqual(watchedTabs, ['7 all 120000', '7 all 120000']);
  assert.equal(input.tabHolds[0]?.endMs, 211_000, 'end of the hold of a tab in which an act runs');
  input.receive(7, 'key');
  assert.equal(await actingCall, 'the user took tab 7 back by a click or a key while the tool ran.');
  assert.deepEqual(reportedTabs, [7]);
  assert.deepEqual(input.tabHolds, [], 'holds after the act');
});

test('debugger commands for a child target reach the child target', async () => {
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

test('only debugger commands that cause a click or a key press are expected, for a short time', async (t) => {
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
  assert.deepEqual(reportedTabs, [7], 'the page did not report the key of the debugger');
});

test('debugger commands reach the frame or worker with their child ID', (t) => {
  const { input, children } = makeInput(t);
  for (const method of ['Input.dispatchKeyEvent', 'Page.getFrameTree']) {
    void input.sendToDebugger(7, method, { type: 'keyDown' }, 'child 1');
    void input.sendToDebugger(7, method, { type: 'keyDown' });
  }
  assert.deepEqual(children, ['child 1', '', 'child 1', '']);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import type { CallView } from '../../../../wire/wire.gen.ts';
import { runPendingPromises } from '../../../test/server.ts';
import type { Port } from '../../chrome.ts';
import type { Action, ActionResult, PanelState, WorkerToPanelMessage } from '../../panel-message.ts';
import { makePanels } from './panels.ts';

function makePort() {
  const receivedMessages: unknown[] = [];
  let receiveMessage: (message: unknown) => void = () => undefined;
  let closeListener: () => void = () => undefined;
  const port: Port = {
    name: 'panel',
    sender: undefined,
    isExtensionPage: true,
    postMessage: (message) => receivedMessages.push(message),
    onMessage: (listener) => {
      receiveMessage = listener;
    },
    onDisconnect: (listener) => {
      closeListener = listener;
    },
    disconnect: () => undefined,
  };
  return {
    port,
    receivedMessages,
    sendMessage: (message: unknown) => receiveMessage(message),
    close: () => closeListener(),
  };
}

const baseState: Omit<PanelState, 'calls' | 'callsAt' | 'running' | 'clients'> = {
  link: { kind: 'connecting' },
  browserName: 'n',
  extensionVersion: '1',
  injectMode: 'none',
  debuggerState: 'absent',
  holds: [],
  neededHosts: [],
  tabs: [],
};

const ignoredActions = { runAction: async (): Promise<ActionResult> => ({}) };
const makeStateMessage = (
  callState: Pick<PanelState, 'calls' | 'callsAt' | 'running'>,
  endedCalls: readonly CallView[] = [],
): WorkerToPanelMessage => ({
  op: 'state',
  state: { ...baseState, clients: [], ...callState },
  ended: endedCalls,
});
const emptyStateMessage = makeStateMessage({ calls: [], callsAt: 0, running: 0 });

test('the worker subscribes to the server state while a panel is open, and sends changes in batches', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1000 });
  const watchedStates: boolean[] = [];
  const panels = makePanels({
    state: () => baseState,
    setStateWatching: (on) => watchedStates.push(on),
    ...ignoredActions,
  });
  panels.scheduleUpdate();
  const firstPort = makePort();
  const secondPort = makePort();
  panels.addPanel(firstPort.port);
  panels.addPanel(secondPort.port);
  assert.deepEqual(watchedStates, [true]);
  assert.deepEqual(firstPort.receivedMessages, [emptyStateMessage]);
  const call = { callId: 'c', plugin: 'p', tool: 't', status: 'running', runMs: 5 } as const;
  panels.setCalls({ serverVersion: '1', calls: [call], running: 1 });
  panels.scheduleUpdate();
  t.mock.timers.tick(50);
  assert.deepEqual(firstPort.receivedMessages.slice(1), [
    makeStateMessage({ calls: [call], callsAt: 1000, running: 1 }),
  ]);
  panels.clearCalls();
  t.mock.timers.tick(50);
  assert.deepEqual(firstPort.receivedMessages.slice(2), [emptyStateMessage]);
  firstPort.close();
  assert.deepEqual(watchedStates, [true]);
  secondPort.close();
  assert.deepEqual(watchedStates, [true, false]);
  panels.scheduleUpdate();
  t.mock.timers.tick(50);
  assert.equal(secondPort.receivedMessages.length, 3);
});

test('each panel receives each ended call at least once, but not with every state message', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1000 });
  const panels = makePanels({ state: () => baseState, setStateWatching: () => undefined, ...ignoredActions });
  const listEndedCallIds = (receivedMessages: readonly unknown[]) =>
    receivedMessages.map((message) =>
      Object(message)
        .ended.map((call: CallView) => call.callId)
        .join(),
    );
  const call = (callId: string): CallView => ({ callId, plugin: 'p', tool: 't', status: 'done', runMs: 5 });
  const [firstPort, laterPort] = [makePort(), makePort()];
  panels.addPanel(firstPort.port);
  panels.setCalls({ serverVersion: '1', ended: [call('b'), call('a')], running: 0 });
  t.mock.timers.tick(50);
  panels.setCalls({ serverVersion: '1', running: 0 });
  t.mock.timers.tick(50);
  panels.setCalls({ serverVersion: '1', ended: [call('c')], running: 0 });
  panels.addPanel(laterPort.port);
  panels.clearCalls();
  t.mock.timers.tick(50);
  assert.deepEqual(listEndedCallIds(firstPort.receivedMessages), ['', 'b,a', '', 'c']);
  assert.deepEqual(listEndedCallIds(laterPort.receivedMessages), ['c,b,a', 'c']);
});

test('panels get the list of plugins when it arrives, and later panels when they open', () => {
  const panels = makePanels({ state: () => baseState, setStateWatching: () => undefined, ...ignoredActions });
  const [firstPort, secondPort, laterPort] = [makePort(), makePort(), makePort()];
  panels.addPanel(firstPort.port);
  const plugin = { name: 'p', displayName: 'P', version: '1', hash: 'h', reviewed: true, permission: 'ask' } as const;
  const failedPlugins = [{ path: '/broken', error: 'dist/tools.json is missing' }];
  panels.setPlugins({ plugins: [plugin], failed: failedPlugins });
  panels.setBrowserTools({ permission: 'off' });
  panels.addPanel(secondPort.port);
  const browser = { op: 'browser', browser: { permission: 'off' } } as const;
  for (const { receivedMessages } of [firstPort, secondPort])
    assert.deepEqual(receivedMessages, [
      emptyStateMessage,
      { op: 'plugins', plugins: [plugin], failed: failedPlugins },
      browser,
    ]);
  firstPort.close();
  secondPort.close();
  panels.addPanel(laterPort.port);
  assert.deepEqual(laterPort.receivedMessages, [emptyStateMessage], 'old plugins must not be sent to a new panel');
});

const validActions: Action[] = [
  { op: 'stop', callId: 'c' },
  { op: 'decide', params: { callId: 'c', ticketId: 't', allow: false } },
  { op: 'decide', params: { callId: 'c', ticketId: 't', allow: true, scope: 'time', forMs: 600_000 } },
  { op: 'history', params: { limit: 100 } },
  { op: 'history', params: { limit: 100, before: 'x' } },
  { op: 'inspectCall', callId: 'c' },
  { op: 'repeat', callId: 'c' },
  { op: 'undo', callId: 'c' },
  { op: 'permission', params: { plugin: 'p', permission: 'auto' } },
  { op: 'permission', params: { plugin: 'p', tool: 't' } },
  { op: 'review', params: { plugin: 'p', hash: 'h', permission: 'ask' } },
  {
    op: 'review',
    params: { plugin: 'p', hash: 'h', permission: 'auto', tools: [{ tool: 't', permission: 'off' }, { tool: 'u' }] },
  },
  { op: 'inspectPlugin', plugin: 'p' },
  { op: 'pluginPage', params: { plugin: 'p', hash: 'h', section: 'changes', page: 1 } },
  { op: 'installPlugin', package: '/home/ada/messages' },
  { op: 'updatePlugin', plugin: 'p' },
  { op: 'removePlugin', plugin: 'p' },
  { op: 'settings', params: { plugin: 'p', values: { site: { work: 'https://a.example' } } } },
  { op: 'opening', params: { plugin: 'p', allowed: false } },
  { op: 'calls', params: { plugin: 'p', other: 'q', allowed: true } },
  { op: 'lateAccess', params: { plugin: 'p', allowed: true } },
  { op: 'browserTools', params: { on: false } },
  { op: 'browserTools', params: { on: true, names: ['network'] } },
  { op: 'site', params: { site: 'shop.example', permission: 'read' } },
  { op: 'site', params: { site: 'shop.example' } },
  { op: 'release', tabId: 1 },
  { op: 'reload', tabId: 1 },
  { op: 'show', tabId: 1 },
  { op: 'rename', name: 'n' },
  { op: 'retry' },
  { op: 'details' },
  { op: 'allowDebugger' },
];
const invalidActions: unknown[] = [
  undefined,
  'stop',
  [],
  { op: 'stop' },
  { op: 'decide' },
  { op: 'decide', params: { callId: 'c', ticketId: 't' } },
  { op: 'decide', params: { callId: 'c', allow: true } },
  { op: 'history', params: {} },
  { op: 'inspectCall' },
  { op: 'repeat' },
  { op: 'undo' },
  { op: 'permission', params: { permission: 'auto' } },
  { op: 'permission', params: { plugin: 'p', permission: 'all' } },
  { op: 'review', params: { plugin: 'p', hash: 'h' } },
  { op: 'review', params: { plugin: 'p', hash: 'h', permission: 'ask', tools: [{ tool: 't', permission: 'all' }] } },
  { op: 'review', params: { plugin: 'p', hash: 'h', permission: 'ask', tools: [{ permission: 'off' }] } },
  { op: 'review', params: { plugin: 'p', hash: 'h', permission: 'ask', tools: 't' } },
  { op: 'inspectPlugin' },
  { op: 'pluginPage', params: { plugin: 'p', hash: 'h', section: 'other', page: 1 } },
  { op: 'pluginPage', params: { plugin: 'p', hash: 'h', section: 'code' } },
  { op: 'installPlugin', package: 7 },
  { op: 'updatePlugin' },
  { op: 'removePlugin' },
  { op: 'settings', params: { plugin: 'p', values: [] } },
  { op: 'settings', params: { values: {} } },
  { op: 'opening', params: { plugin: 'p' } },
  { op: 'calls', params: { plugin: 'p', allowed: true } },
  { op: 'calls', params: { plugin: 'p', other: 'q' } },
  { op: 'lateAccess', params: { plugin: 'p' } },
  { op: 'browserTools', params: { on: 'yes' } },
  { op: 'browserTools', params: { on: true, names: [1] } },
  { op: 'browserTools', params: { on: true, names: 'network' } },
  { op: 'site', params: { permission: 'read' } },
  { op: 'site', params: { site: 'shop.example', permission: 1 } },
  { op: 'release' },
  { op: 'reload', tabId: 'x' },
  { op: 'rename' },
  { op: 'format' },
];

test('valid user actions from a panel run, and other messages are ignored', async () => {
  const receivedActions: Action[] = [];
  const panels = makePanels({
    state: () => baseState,
    setStateWatching: () => undefined,
    runAction: async (action) => {
      receivedActions.push(action);
      return {};
    },
  });
  const { port, sendMessage, receivedMessages } = makePort();
  panels.addPanel(port);
  for (const [requestId, action] of validActions.entries()) sendMessage({ requestId, action });
  for (const action of invalidActions) sendMessage({ requestId: 99, action });
  for (const message of [undefined, validActions[0], { action: validActions[0] }]) sendMessage(message);
  await runPendingPromises();
  assert.deepEqual(receivedActions, validActions);
  assert.deepEqual(
    receivedMessages.slice(1),
    validActions.map((_, requestId) => ({ op: 'done', requestId, done: {} })),
  );
});

test('only the panel that sent an action gets the result of the action', async () => {
  const panels = makePanels({
    state: () => baseState,
    setStateWatching: () => undefined,
    runAction: async (action) => {
      if (action.op === 'decide') return { decided: { outcome: 'already', by: 'opentabs calls', allowed: true } };
      throw new Error('there is no link to the server');
    },
  });
  const [firstPort, secondPort] = [makePort(), makePort()];
  for (const { port } of [firstPort, secondPort]) panels.addPanel(port);
  firstPort.sendMessage({ requestId: 1, action: { op: 'stop', callId: 'c' } });
  firstPort.sendMessage({
    requestId: 2,
    action: { op: 'decide', params: { callId: 'c', ticketId: 't', allow: true } },
  });
  secondPort.sendMessage({ requestId: 1, action: { op: 'retry' } });
  secondPort.close();
  await runPendingPromises();
  assert.deepEqual(firstPort.receivedMessages.slice(1), [
    { op: 'done', requestId: 1, done: { error: 'there is no link to the server' } },
    { op: 'done', requestId: 2, done: { decided: { outcome: 'already', by: 'opentabs calls', allowed: true } } },
  ]);
  assert.equal(secondPort.receivedMessages.length, 1);
});

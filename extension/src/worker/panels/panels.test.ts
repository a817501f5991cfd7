import assert from 'node:assert/strict';
import test from 'node:test';
import type { CallView } from '../../../../wire/wire.gen.ts';
import { settle } from '../../../test/server.ts';
import type { Port } from '../../chrome.ts';
import type { Action, ActionResult, PanelState, ToPanel } from '../../panel-message.ts';
import { makePanels } from './panels.ts';

function makePort() {
  const got: unknown[] = [];
  let receive: (message: unknown) => void = () => undefined;
  let closed: () => void = () => undefined;
  const port: Port = {
    name: 'panel',
    sender: undefined,
    isOwnPage: true,
    postMessage: (message) => got.push(message),
    onMessage: (listener) => {
      receive = listener;
    },
    onDisconnect: (listener) => {
      closed = listener;
    },
    disconnect: () => undefined,
  };
  return { port, got, send: (message: unknown) => receive(message), close: () => closed() };
}

const base: Omit<PanelState, 'calls' | 'callsAt' | 'running' | 'clients'> = {
  link: { kind: 'connecting' },
  browserName: 'n',
  extensionVersion: '1',
  mode: 'none',
  debuggerState: 'absent',
  holds: [],
  neededHosts: [],
  tabs: [],
};

const ignored = { runAction: async (): Promise<ActionResult> => ({}) };
const makeStateMessage = (
  more: Pick<PanelState, 'calls' | 'callsAt' | 'running'>,
  ended: readonly CallView[] = [],
): ToPanel => ({
  op: 'state',
  state: { ...base, clients: [], ...more },
  ended,
});
const emptyStateMessage = makeStateMessage({ calls: [], callsAt: 0, running: 0 });

test('the server is watched while a panel is open, and changes are sent together', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1000 });
  const watched: boolean[] = [];
  const panels = makePanels({ state: () => base, setWatching: (on) => watched.push(on), ...ignored });
  panels.scheduleUpdate();
  const one = makePort();
  const two = makePort();
  panels.addPanel(one.port);
  panels.addPanel(two.port);
  assert.deepEqual(watched, [true]);
  assert.deepEqual(one.got, [emptyStateMessage]);
  const call = { callId: 'c', plugin: 'p', tool: 't', status: 'running', runMs: 5 } as const;
  panels.setCalls({ serverVersion: '1', calls: [call], running: 1 });
  panels.scheduleUpdate();
  t.mock.timers.tick(50);
  assert.deepEqual(one.got.slice(1), [makeStateMessage({ calls: [call], callsAt: 1000, running: 1 })]);
  panels.clearCalls();
  t.mock.timers.tick(50);
  assert.deepEqual(one.got.slice(2), [emptyStateMessage]);
  one.close();
  assert.deepEqual(watched, [true]);
  two.close();
  assert.deepEqual(watched, [true, false]);
  panels.scheduleUpdate();
  t.mock.timers.tick(50);
  assert.equal(two.got.length, 3);
});

test('each panel receives each ended call at least once, but not with every state message', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1000 });
  const panels = makePanels({ state: () => base, setWatching: () => undefined, ...ignored });
  const endedIn = (got: readonly unknown[]) =>
    got.map((message) =>
      Object(message)
        .ended.map((call: CallView) => call.callId)
        .join(),
    );
  const call = (callId: string): CallView => ({ callId, plugin: 'p', tool: 't', status: 'done', runMs: 5 });
  const [one, late] = [makePort(), makePort()];
  panels.addPanel(one.port);
  panels.setCalls({ serverVersion: '1', ended: [call('b'), call('a')], running: 0 });
  t.mock.timers.tick(50);
  panels.setCalls({ serverVersion: '1', running: 0 });
  t.mock.timers.tick(50);
  panels.setCalls({ serverVersion: '1', ended: [call('c')], running: 0 });
  panels.addPanel(late.port);
  panels.clearCalls();
  t.mock.timers.tick(50);
  assert.deepEqual(endedIn(one.got), ['', 'b,a', '', 'c']);
  assert.deepEqual(endedIn(late.got), ['c,b,a', 'c']);
});

test('plugins are sent when they arrive, and to a panel that opens later', () => {
  const panels = makePanels({ state: () => base, setWatching: () => undefined, ...ignored });
  const [one, two, late] = [makePort(), makePort(), makePort()];
  panels.addPanel(one.port);
  const plugin = { name: 'p', displayName: 'P', version: '1', hash: 'h', reviewed: true, permission: 'ask' } as const;
  const failed = [{ path: '/broken', error: 'dist/tools.json is missing' }];
  panels.setPlugins({ plugins: [plugin], failed });
  panels.setBrowserTools({ permission: 'off' });
  panels.addPanel(two.port);
  const browser = { op: 'browser', browser: { permission: 'off' } } as const;
  for (const { got } of [one, two])
    assert.deepEqual(got, [emptyStateMessage, { op: 'plugins', plugins: [plugin], failed }, browser]);
  one.close();
  two.close();
  panels.addPanel(late.port);
  assert.deepEqual(late.got, [emptyStateMessage], 'plugins that may have changed since are not shown');
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

test('valid actions of the user run, and other messages are ignored', async () => {
  const did: Action[] = [];
  const panels = makePanels({
    state: () => base,
    setWatching: () => undefined,
    runAction: async (action) => {
      did.push(action);
      return {};
    },
  });
  const { port, send, got } = makePort();
  panels.addPanel(port);
  for (const [requestId, action] of validActions.entries()) send({ requestId, action });
  for (const action of invalidActions) send({ requestId: 99, action });
  for (const message of [undefined, validActions[0], { action: validActions[0] }]) send(message);
  await settle();
  assert.deepEqual(did, validActions);
  assert.deepEqual(
    got.slice(1),
    validActions.map((_, requestId) => ({ op: 'done', requestId, done: {} })),
  );
});

test('only the panel that sent an action gets its result', async () => {
  const panels = makePanels({
    state: () => base,
    setWatching: () => undefined,
    runAction: async (action) => {
      if (action.op === 'decide') return { decided: { outcome: 'already', by: 'opentabs calls', allowed: true } };
      throw new Error('there is no link to the server');
    },
  });
  const [one, two] = [makePort(), makePort()];
  for (const { port } of [one, two]) panels.addPanel(port);
  one.send({ requestId: 1, action: { op: 'stop', callId: 'c' } });
  one.send({ requestId: 2, action: { op: 'decide', params: { callId: 'c', ticketId: 't', allow: true } } });
  two.send({ requestId: 1, action: { op: 'retry' } });
  two.close();
  await settle();
  assert.deepEqual(one.got.slice(1), [
    { op: 'done', requestId: 1, done: { error: 'there is no link to the server' } },
    { op: 'done', requestId: 2, done: { decided: { outcome: 'already', by: 'opentabs calls', allowed: true } } },
  ]);
  assert.equal(two.got.length, 1);
});

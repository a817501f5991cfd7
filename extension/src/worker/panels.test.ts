import assert from 'node:assert/strict';
import test from 'node:test';
import type { Port } from '../chrome.ts';
import type { FromPanel, PanelState } from '../panel-message.ts';
import { makePanels } from './panels.ts';

function makePort() {
  const got: unknown[] = [];
  let take: (message: unknown) => void = () => undefined;
  let closed: () => void = () => undefined;
  const port: Port = {
    name: 'panel',
    sender: undefined,
    ownPage: true,
    postMessage: (message) => got.push(message),
    onMessage: (listener) => {
      take = listener;
    },
    onDisconnect: (listener) => {
      closed = listener;
    },
    disconnect: () => undefined,
  };
  return { port, got, say: (message: unknown) => take(message), close: () => closed() };
}

const base: Omit<PanelState, 'calls' | 'callsAt' | 'running'> = {
  link: { kind: 'connecting' },
  browserName: 'n',
  extensionVersion: '1',
  mode: 'none',
  plugins: [],
  tabs: [],
};

test('the server is watched while a panel is open, and states are gathered', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1000 });
  const watched: boolean[] = [];
  const did: FromPanel[] = [];
  const panels = makePanels({ state: () => base, watch: (on) => watched.push(on), did: (action) => did.push(action) });
  panels.touch();
  const one = makePort();
  const two = makePort();
  panels.joined(one.port);
  panels.joined(two.port);
  assert.deepEqual(watched, [true]);
  assert.deepEqual(one.got, [{ ...base, calls: [], callsAt: 0, running: 0 }]);
  const call = { callId: 'c', plugin: 'p', tool: 't', status: 'running', runMs: 5 } as const;
  panels.synced({ serverVersion: '1', calls: [call], running: 1 });
  panels.touch();
  t.mock.timers.tick(50);
  assert.deepEqual(one.got.slice(1), [{ ...base, calls: [call], callsAt: 1000, running: 1 }]);
  panels.lost();
  t.mock.timers.tick(50);
  assert.deepEqual(one.got.slice(2), [{ ...base, calls: [], callsAt: 0, running: 0 }]);
  one.close();
  assert.deepEqual(watched, [true]);
  two.close();
  assert.deepEqual(watched, [true, false]);
  panels.touch();
  t.mock.timers.tick(50);
  assert.equal(two.got.length, 3);
});

test('what a person does, and nothing else, is acted on', () => {
  const did: FromPanel[] = [];
  const panels = makePanels({ state: () => base, watch: () => undefined, did: (action) => did.push(action) });
  const { port, say } = makePort();
  panels.joined(port);
  const good: FromPanel[] = [
    { op: 'stop', callId: 'c' },
    { op: 'reload', tabId: 1 },
    { op: 'show', tabId: 1 },
    { op: 'rename', name: 'n' },
    { op: 'retry' },
    { op: 'details' },
  ];
  for (const action of good) say(action);
  for (const bad of [
    undefined,
    'stop',
    { op: 'stop' },
    { op: 'reload', tabId: 'x' },
    { op: 'rename' },
    { op: 'format' },
    [],
  ])
    say(bad);
  assert.deepEqual(did, good);
});

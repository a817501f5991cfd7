import assert from 'node:assert/strict';
import test from 'node:test';
import type { PluginView } from '../../../wire/wire.gen.ts';
import type { PanelState } from '../panel-message.ts';
import { type ChecklistFacts, hasSuccess, listSteps } from './checklist.ts';

const newState: PanelState = {
  link: { kind: 'down', why: 'no_server', text: '' },
  browserName: 'Work',
  extensionVersion: '0.1.0',
  mode: 'none',
  debuggerState: 'absent',
  holds: [],
  neededHosts: [],
  tabs: [],
  calls: [],
  callsAt: 0,
  running: 0,
  clients: [],
};
const nothing: ChecklistFacts = { state: newState, plugins: [], browserTools: undefined, recent: [] };
const connected: PanelState = { ...newState, link: { kind: 'open', serverVersion: '0.1.0' } };
const plugin: PluginView = {
  name: 'messages',
  displayName: 'Messages',
  version: '1.0.0',
  hash: 'h',
  reviewed: true,
  permission: 'ask',
};

const doneSteps = (facts: Partial<ChecklistFacts>) =>
  listSteps({ ...nothing, ...facts })
    .filter((step) => step.isDone)
    .map((step) => step.id);

test('each setup step is done by a separate fact', () => {
  assert.deepEqual(doneSteps({}), []);
  assert.deepEqual(doneSteps({ state: connected }), ['server']);
  assert.deepEqual(doneSteps({ state: { ...connected, mode: 'userScripts' } }), ['server', 'browser']);
  assert.deepEqual(doneSteps({ browserTools: { permission: 'off' }, plugins: [{ ...plugin, reviewed: false }] }), []);
  assert.deepEqual(doneSteps({ plugins: [{ ...plugin, permission: 'off' }] }), []);
  assert.deepEqual(doneSteps({ plugins: [plugin] }), ['tools']);
  assert.deepEqual(doneSteps({ browserTools: { permission: 'auto' } }), ['tools']);
  assert.deepEqual(doneSteps({ state: { ...newState, clients: ['Cursor'] } }), ['client']);
  const call = { callId: 'c', plugin: 'p', tool: 't', status: 'done', runMs: 1 } as const;
  assert.deepEqual(doneSteps({ recent: [call] }), ['call']);
});

test('only a successful call counts as the first call', () => {
  const call = { callId: 'c', plugin: 'p', tool: 't', status: 'failed', runMs: 1 } as const;
  assert.equal(hasSuccess([call]), false);
  assert.equal(hasSuccess([call, { ...call, status: 'done' }]), true);
});

test('each open setup step has a text or a command, except the step "browser"', () => {
  for (const step of listSteps({ ...nothing, state: connected }))
    assert.ok(step.isDone || step.text !== '' || step.id === 'browser', step.id);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import type { PluginView } from '../../../wire/wire.gen.ts';
import type { PanelState } from '../panel-message.ts';
import { type ChecklistFacts, hasSuccessfulCall, listSteps } from './checklist.ts';

const newState: PanelState = {
  link: { kind: 'down', why: 'no_server', text: '' },
  browserName: 'Work',
  extensionVersion: '0.1.0',
  injectMode: 'none',
  debuggerState: 'absent',
  holds: [],
  neededHosts: [],
  tabs: [],
  calls: [],
  callsAt: 0,
  running: 0,
  clients: [],
};
const emptyFacts: ChecklistFacts = { panelState: newState, plugins: [], browserTools: undefined, recentCalls: [] };
const connectedState: PanelState = { ...newState, link: { kind: 'open', serverVersion: '0.1.0' } };
const plugin: PluginView = {
  name: 'messages',
  displayName: 'Messages',
  version: '1.0.0',
  hash: 'h',
  reviewed: true,
  permission: 'ask',
};

const listDoneSteps = (facts: Partial<ChecklistFacts>) =>
  listSteps({ ...emptyFacts, ...facts })
    .filter((checklistStep) => checklistStep.isDone)
    .map((checklistStep) => checklistStep.id);

test('listSteps marks each setup step as done because of a separate fact', () => {
  assert.deepEqual(listDoneSteps({}), []);
  assert.deepEqual(listDoneSteps({ panelState: connectedState }), ['server']);
  assert.deepEqual(listDoneSteps({ panelState: { ...connectedState, injectMode: 'userScripts' } }), [
    'server',
    'browser',
  ]);
  assert.deepEqual(
    listDoneSteps({ browserTools: { permission: 'off' }, plugins: [{ ...plugin, reviewed: false }] }),
    [],
  );
  assert.deepEqual(listDoneSteps({ plugins: [{ ...plugin, permission: 'off' }] }), []);
  assert.deepEqual(listDoneSteps({ plugins: [plugin] }), ['tools']);
  assert.deepEqual(listDoneSteps({ browserTools: { permission: 'auto' } }), ['tools']);
  assert.deepEqual(listDoneSteps({ panelState: { ...newState, clients: ['Cursor'] } }), ['client']);
  const call = { callId: 'c', plugin: 'p', tool: 't', status: 'done', runMs: 1 } as const;
  assert.deepEqual(listDoneSteps({ recentCalls: [call] }), ['call']);
});

test('only a successful call counts as the first call', () => {
  const call = { callId: 'c', plugin: 'p', tool: 't', status: 'failed', runMs: 1 } as const;
  assert.equal(hasSuccessfulCall([call]), false);
  assert.equal(hasSuccessfulCall([call, { ...call, status: 'done' }]), true);
});

test('each open setup step has a text or a command, except the step "browser"', () => {
  for (const checklistStep of listSteps({ ...emptyFacts, panelState: connectedState }))
    assert.ok(checklistStep.isDone || checklistStep.text !== '' || checklistStep.id === 'browser', checklistStep.id);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import { encodeRequest } from '../../../../wire/frame.ts';
import type { Action } from '../../panel-message.ts';
import { makePanelActions } from './panel-actions.ts';

const suspendedTabId = 8;

function makeFixture(decide: () => Promise<never>) {
  const actionLog: string[] = [];
  const recordAction =
    (what: string) =>
    async (...args: unknown[]): Promise<void> => {
      actionLog.push([what, ...args].join(' '));
    };
  const runPanelAction = makePanelActions({
    link: {
      request: (method, params) => {
        actionLog.push(encodeRequest('1', method, params));
        return decide();
      },
      restart: () => actionLog.push('restart'),
    },
    reloadTab: recordAction('reload'),
    activateTab: recordAction('show'),
    openDetails: recordAction('details'),
    allowDebugger: recordAction('allow the debugger'),
    stopSuspendedTools: (tabId) => tabId === suspendedTabId,
    renameBrowser: recordAction('rename'),
    pairAgain: recordAction('pair again'),
    setPort: recordAction('port'),
  });
  return { runPanelAction, actionLog };
}

test('makePanelActions sends requests to the server and returns its errors', async () => {
  const { runPanelAction, actionLog } = makeFixture(() => Promise.reject(new Error('permissions.json is read-only')));
  const actions: Action[] = [
    { op: 'stop', callId: 'c' },
    { op: 'decide', params: { callId: 'c', ticketId: 't', allow: true, scope: 'once' } },
    { op: 'permission', params: { plugin: 'p', tool: 't', permission: 'off' } },
    { op: 'review', params: { plugin: 'p', hash: 'h', permission: 'ask' } },
    { op: 'settings', params: { plugin: 'p', values: { size: 3, token: null } } },
    { op: 'opening', params: { plugin: 'p', allowed: true } },
    { op: 'calls', params: { plugin: 'p', other: 'q', allowed: true } },
    { op: 'browserTools', params: { names: ['network'], on: true } },
    { op: 'site', params: { site: 'shop.example', permission: 'read' } },
    { op: 'release', tabId: 7 },
    { op: 'lateAccess', params: { plugin: 'p', allowed: false } },
    { op: 'inspectPlugin', plugin: 'p' },
    { op: 'pluginPage', params: { plugin: 'p', hash: 'h', section: 'code', page: 2 } },
    { op: 'installPlugin', package: 'slack@^1.0.0' },
    { op: 'updatePlugin', plugin: 'p' },
    { op: 'removePlugin', plugin: 'p' },
  ];
  for (const action of actions) await assert.rejects(runPanelAction(action), /read-only/);
  assert.deepEqual(
    actionLog.map((frame) => Object(JSON.parse(frame))).map(({ method, params }) => [method, params]),
    [
      ['call.cancel', { callId: 'c' }],
      ['call.decide', { callId: 'c', ticketId: 't', allow: true, scope: 'once' }],
      ['config.permission', { plugin: 'p', tool: 't', permission: 'off' }],
      ['config.review', { plugin: 'p', hash: 'h', permission: 'ask' }],
      ['config.settings', { plugin: 'p', values: { size: 3, token: null } }],
      ['config.opening', { plugin: 'p', allowed: true }],
      ['config.calls', { plugin: 'p', other: 'q', allowed: true }],
      ['config.browserTools', { names: ['network'], on: true }],
      ['config.site', { site: 'shop.example', permission: 'read' }],
      ['tab.release', { tabId: 7 }],
      ['config.lateAccess', { plugin: 'p', allowed: false }],
      ['plugin.inspect', { plugin: 'p' }],
      ['plugin.page', { plugin: 'p', hash: 'h', section: 'code', page: 2 }],
      ['plugin.install', { package: 'slack@^1.0.0' }],
      ['plugin.update', { plugin: 'p' }],
      ['plugin.remove', { plugin: 'p' }],
    ],
  );
});

test('makePanelActions performs actions of the browser itself without the server', async () => {
  const { runPanelAction, actionLog } = makeFixture(() => Promise.reject(new Error('not asked')));
  const actions: Action[] = [
    { op: 'reload', tabId: 7 },
    { op: 'show', tabId: 8 },
    { op: 'rename', name: 'n' },
    { op: 'retry' },
    { op: 'details' },
    { op: 'allowDebugger' },
  ];
  for (const action of actions) assert.deepEqual(await runPanelAction(action), {});
  assert.deepEqual(actionLog, [
    'reload 7',
    'show 8',
    'rename n',
    'restart',
    'restart',
    'details',
    'allow the debugger',
  ]);
});

test('Stop succeeds if it stopped a suspended action in a tab that no client holds', async () => {
  const { runPanelAction, actionLog } = makeFixture(() => Promise.reject(new Error('no client uses tab 8')));
  assert.deepEqual(await runPanelAction({ op: 'release', tabId: suspendedTabId }), {});
  assert.match(actionLog.join(), /tab\.release/);
});

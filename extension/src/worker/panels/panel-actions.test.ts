import assert from 'node:assert/strict';
import test from 'node:test';
import { encodeRequest } from '../../../../wire/frame.ts';
import type { Action } from '../../panel-message.ts';
import { makePanelActions } from './panel-actions.ts';

function setUp(answer: () => Promise<never>) {
  const did: string[] = [];
  const note =
    (what: string) =>
    async (...args: unknown[]): Promise<void> => {
      did.push([what, ...args].join(' '));
    };
  const act = makePanelActions({
    link: {
      request: (method, params) => {
        did.push(encodeRequest('1', method, params));
        return answer();
      },
      restart: () => did.push('restart'),
    },
    reloadTab: note('reload'),
    activateTab: note('show'),
    openDetails: note('details'),
    allowDebugger: note('allow the debugger'),
    rename: note('rename'),
    pairAgain: note('pair again'),
    setPort: note('port'),
  });
  return { act, did };
}

test('makePanelActions sends requests to the server and returns its errors', async () => {
  const { act, did } = setUp(() => Promise.reject(new Error('permissions.json is read-only')));
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
  for (const action of actions) await assert.rejects(act(action), /read-only/);
  assert.deepEqual(
    did.map((frame) => Object(JSON.parse(frame))).map(({ method, params }) => [method, params]),
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

test('makePanelActions runs browser actions locally', async () => {
  const { act, did } = setUp(() => Promise.reject(new Error('not asked')));
  const actions: Action[] = [
    { op: 'reload', tabId: 7 },
    { op: 'show', tabId: 8 },
    { op: 'rename', name: 'n' },
    { op: 'retry' },
    { op: 'details' },
    { op: 'allowDebugger' },
  ];
  for (const action of actions) assert.deepEqual(await act(action), {});
  assert.deepEqual(did, ['reload 7', 'show 8', 'rename n', 'restart', 'restart', 'details', 'allow the debugger']);
});

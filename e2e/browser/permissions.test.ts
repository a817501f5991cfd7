/** The error of a tool without its Chrome permission names the missing permission. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { type AgentFixture, listSteps, startAgentFixture } from './agent-fixture.ts';

let fixture: AgentFixture;

const permissions = ['cookies', 'browsingData', 'sessions', 'tabGroups', 'history', 'bookmarks', 'downloads'] as const;

before(async () => {
  fixture = await startAgentFixture();
  fixture.onApprovalForm = () => true;
  fixture.setPage('/home', '<title>Home</title>');
  const names = listCallsByPermission().map(([, , tool]) => tool);
  const { code, stderr } = await fixture.stack.runCli('browser', 'tools', 'on', ...names);
  assert.equal(code, 0, stderr);
});
after(() => fixture?.close());

function listCallsByPermission(): readonly (readonly [string, string, string, Record<string, unknown>])[] {
  const labels = [
    'Cookies',
    'Deleting the data of sites',
    'Recently closed tabs',
    'Tab groups',
    'History',
    'Bookmarks',
    'Downloads',
  ];
  const permissionSteps = listSteps([
    ['browser_cookies', { action: 'list', url: `${fixture.shop}/` }],
    ['browser_clear_site_data', { origin: fixture.shop, types: ['cache'] }],
    ['browser_recently_closed', { action: 'list' }],
    ['browser_tab_groups', { action: 'list' }],
    ['browser_history', { query: 'home' }],
    ['browser_bookmarks', { action: 'search', query: 'home' }],
    ['browser_downloads', { action: 'start', url: `${fixture.shop}/home` }],
  ]);
  return permissionSteps.map(([tool, args], i) => [permissions[i] ?? '', labels[i] ?? '', tool, args]);
}

test('each tool names its missing permission and the switch in the side panel, and asks for no approval', async () => {
  const approvalQuestions: string[] = [];
  fixture.onApprovalForm = (question) => approvalQuestions.push(question) > 0;
  for (const [permission, label, tool, args] of listCallsByPermission()) {
    const { text: failureText } = await fixture.callExpectingFailure(tool, args);
    assert.match(failureText, /code=needs_permission/, tool);
    assert.match(failureText, new RegExp(`${tool} needs Chrome's permissions? .*"${permission}"`), tool);
    assert.match(failureText, new RegExp(`open the side panel of opentabs and to switch on .*"${label}"`), tool);
  }
  assert.deepEqual(approvalQuestions, []);
  fixture.onApprovalForm = () => true;
});

test('a tool works without a restart after the grant in the side panel, and fails after a revoke', async () => {
  const { stack, client, callExpectingFailure } = fixture;
  const panel = await stack.chrome.openPanel();
  await panel.getByRole('tab', { name: 'Browser' }).click();
  const findSwitch = (label: string) => panel.getByRole('switch', { name: label, exact: true });
  // The test covers only the permissions that Chrome grants without a dialog, because a test cannot answer a dialog.
  for (const [name, label, tool, args] of listCallsByPermission().slice(0, 3)) {
    await findSwitch(label).check();
    await waitFor(`the grant of ${label}`, () => isGranted(name));
    // The extension reports the grant to the server, which may receive a call before the report.
    await waitFor(`${tool} to work`, async () => !(await client.call(tool, args)).isError);
  }
  const [[name, label, tool, args] = ['', '', '', {}]] = listCallsByPermission();
  await findSwitch(label).uncheck();
  await waitFor(`the end of ${label}`, async () => !(await isGranted(name)));
  assert.match((await callExpectingFailure(tool, args)).text, /code=needs_permission/);
});

async function isGranted(name: string): Promise<boolean> {
  const worker = await waitFor('the worker', () => fixture.stack.chrome.context.serviceWorkers()[0]);
  return (await worker.evaluate(`chrome.permissions.contains({ permissions: [${JSON.stringify(name)}] })`)) === true;
}

/** Nested calls, approvals and activities survive a lost link. */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { McpClient } from '../harness/client.ts';
import { decideCall, fetchCallRecord, findCall } from '../harness/daemon-api.ts';
import { repositoryRoot, runOrThrow } from '../harness/process.ts';
import { everythingPlugin } from '../harness/stack.ts';
import { pause, waitFor } from '../harness/wait.ts';
import { FaultFixture } from './fault-fixture.ts';

let fixture: FaultFixture;
let client: McpClient;
let tabId: number;
before(async () => {
  fixture = await FaultFixture.start();
  const plugin = join(fixture.homeFolder, 'everything');
  cpSync(join(repositoryRoot, everythingPlugin.dir), plugin, { recursive: true });
  await runOrThrow(['plugin', 'build', plugin], fixture.env);
  await runOrThrow(['plugin', 'add', plugin, '--permission', 'auto'], fixture.env);
  client = await fixture.connectHttp();
  const { path } = await fixture.openTab();
  tabId = await waitFor('all plugins to be live in the tab', async () => {
    const tab = await fixture.findLiveTab(path);
    return tab?.plugins?.length === 2 ? tab.tabId : undefined;
  });
});
after(() => fixture?.close());

const waitForStart = (key: string) =>
  waitFor(`${key} to begin`, () => fixture.site.receivedNotes.includes(`begin ${key}`));
const waitForReconnect = () => waitFor('the browser to reconnect', async () => (await fixture.waitForBrowser()) >= 0);

async function runWithLinkCut(callback: () => Promise<unknown>): Promise<void> {
  fixture.proxy.cut();
  await callback();
  fixture.proxy.resume();
  await waitForReconnect();
}

test('a nested call that ends while the link is cut returns its result', async () => {
  const callOutcome = client.call('everything__call', { tool: 'silent', input: { forMs: 1_000, key: 'cut' }, tabId });
  await waitForStart('cut');
  await runWithLinkCut(() => pause(3_000));
  assert.deepEqual((await callOutcome).structured, { output: { key: 'cut' } });
});

async function startWaitingCall() {
  const callOutcome = client.call('everything__login', { tabId });
  const { call_id } = await findCall(fixture, 'everything__login', (call) => call.waiting !== undefined);
  const approveCall = async () =>
    assert.match(JSON.stringify(await decideCall(fixture, call_id, { allow: true })), /"outcome":"decided"/);
  return { callOutcome, approveCall };
}

test('a decision of the user while the link is cut reaches the tool', async () => {
  const { callOutcome, approveCall } = await startWaitingCall();
  await runWithLinkCut(approveCall);
  assert.deepEqual((await callOutcome).structured, { loggedIn: true });
});

test('a decision in transit when the link is lost reaches the tool', async () => {
  const { callOutcome, approveCall } = await startWaitingCall();
  fixture.proxy.stallTraffic('down');
  await approveCall();
  fixture.proxy.cut(true);
  fixture.proxy.resume();
  await waitForReconnect();
  assert.deepEqual((await callOutcome).structured, { loggedIn: true });
});

test('a tool that waits for the user survives several cuts of the link', async () => {
  const { callOutcome, approveCall } = await startWaitingCall();
  for (let cutIndex = 0; cutIndex < 3; cutIndex++) await runWithLinkCut(() => pause(500));
  await approveCall();
  assert.deepEqual((await callOutcome).structured, { loggedIn: true });
});

test('an activity with more changes than the buffer holds while the link is cut is complete afterwards', async () => {
  const count = 4_000;
  const stopController = new AbortController();
  const args = { count, afterMs: 3_000, forMs: 60_000, tabId };
  const callOutcome = client.call('everything__deltas', args, { signal: stopController.signal });
  const { call_id } = await findCall(fixture, 'everything__deltas', (call) => call.status === 'running');
  const readTable = async () => {
    const [table] = (await fetchCallRecord(fixture, call_id)).activities ?? [];
    return JSON.stringify(table?.content);
  };
  await waitFor('the activity to be a table', async () => (await readTable())?.startsWith('{"columns":["n"],"rows":['));
  await runWithLinkCut(() => pause(4_500));
  const expectedTable = JSON.stringify({ columns: ['n'], rows: Array.from({ length: count }, (_, i) => [i + 1]) });
  await waitFor('the activity to be the whole table', async () => (await readTable()) === expectedTable);
  stopController.abort();
  await assert.rejects(callOutcome);
});

async function startCallAwaitingApproval(key: string) {
  const callOutcome = client.call('everything__silent', { forMs: 1, key });
  const { call_id } = await findCall(fixture, 'everything__silent', (call) => call.waiting !== undefined);
  return { callOutcome, call_id };
}

test('a late approval of a call whose browser is gone runs nothing, also after the browser is back', async () => {
  await runOrThrow(['plugin', 'permission', 'everything__silent', 'ask'], fixture.env);
  const { callOutcome, call_id } = await startCallAwaitingApproval('gone');
  await fixture.browser.kill();
  await waitFor('the server to notice the end of the browser', async () =>
    (await fixture.listBrowsers()).every(({ connected }) => !connected),
  );
  assert.match(JSON.stringify(await decideCall(fixture, call_id, { allow: true })), /"outcome":"decided"/);
  assert.equal((await callOutcome).code, 'no_browser');
  await fixture.browser.start();
  await fixture.waitForBrowser();
  await fixture.openTab();
  assert.ok(!fixture.site.receivedNotes.includes('begin gone'));
});

test('a late approval of a call from before a restart of the server runs nothing', async () => {
  const { callOutcome, call_id } = await startCallAwaitingApproval('restart');
  callOutcome.catch(() => undefined); // the client notices late that the daemon has exited
  await fixture.stopServer('SIGKILL');
  await fixture.startServer();
  await fixture.waitForBrowser();
  await fixture.openTab();
  assert.match(JSON.stringify(await decideCall(fixture, call_id, { allow: true })), /"error":"no such call/);
  await runOrThrow(['plugin', 'permission', 'everything__silent', 'auto'], fixture.env);
  const nextClient = await fixture.connectHttp();
  assert.equal((await nextClient.call('everything__silent', { forMs: 1, key: 'next' })).isError, false);
  assert.ok(!fixture.site.receivedNotes.includes('begin restart'));
});

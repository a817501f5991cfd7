/**
 * Threat: a hostile plugin tries to read or forge the calls of another plugin, or to disable the daemon with its own
 * calls.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { McpClient } from '../harness/client.ts';
import { runOrThrow } from '../harness/process.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';
import {
  type AttackerSite,
  addPlugin,
  listPluginNames,
  openPageWithPlugin,
  readScript,
  secretText,
  startAttackerSite,
} from './attacker.ts';

let stack: Stack;
let client: McpClient;
let attackerSite: AttackerSite;
const malformedResultTools = [
  'cyclic',
  'proxy',
  'revoked',
  'getter',
  'deep',
  'func',
  'symbol',
  'huge',
  'keys',
  'tojson',
  'nothrow',
];
const neverEndingTools = ['never', 'chain', 'thenable'];
const endlessThenableTools = ['selfish', 'endless'];
const otherTools = ['thrownull', 'liar', 'quotes', 'twice', 'nested', 'late', 'again', 'peek', 'flood', 'claim'];

before(async () => {
  attackerSite = await startAttackerSite({});
  stack = await startStack({ serveFlags: ['--idle-timeout', '10s', '--max-result-bytes', '1048576'] });
  client = await stack.connectHttp();
  await addPlugin(stack, {
    name: 'hostile',
    urlPatterns: ['*://127.0.0.1/shared*'],
    toolNames: [...malformedResultTools, ...neverEndingTools, ...endlessThenableTools, ...otherTools],
    adapterCode: readScript('hostile.js'),
  });
  await addPlugin(stack, {
    name: 'plain',
    urlPatterns: ['*://127.0.0.1/*'],
    toolNames: ['echo', 'fail', 'wait', 'count'],
    adapterCode: readScript('plain.js'),
  });
  // A page that loads while Chrome registers plugins can detect an unused plugin host, which is harmless.
  await (await openSharedTab()).close();
  attackerSite.leakedSecrets.length = 0;
});
after(async () => {
  attackerSite?.close();
  await stack?.close();
});

async function openSharedTab(): Promise<{ tabId: number; close(): Promise<void> }> {
  const { page, tabId } = await openPageWithPlugin(stack, `${attackerSite.origin}/shared`, 'plain');
  await waitFor('the hostile plugin to be live in its tab', async () =>
    (await stack.listTabs()).some((tab) => tab.tabId === tabId && listPluginNames(tab).includes('hostile')),
  );
  return { tabId, close: () => page.close() };
}

async function assertOtherPluginWorks(tabId: number): Promise<void> {
  const echoOutcome = await client.call('plain__echo', { value: secretText, tabId });
  assert.deepEqual(echoOutcome.structured, { value: secretText }, echoOutcome.text);
  assert.match((await client.call('plain__fail', { value: secretText, tabId })).text, new RegExp(secretText));
  assert.deepEqual(attackerSite.leakedSecrets, []);
}

test('plugin: a plugin finds no other plugins, settings or ports, and cannot take over their names', async () => {
  const tab = await openSharedTab();
  const { tabId } = tab;
  const peekOutcome = await client.call('hostile__peek', { tabId });
  assert.deepEqual(peekOutcome.structured, { adapters: [], config: '{}', globals: ['__openTabs'] }, peekOutcome.text);
  await assertOtherPluginWorks(tabId);
  await client.call('hostile__claim', { tabId });
  await assertOtherPluginWorks(tabId);
  await tab.close();
});

test('plugin: results that cannot be serialized, imitate protocol messages, or throw when read end only their own call', async () => {
  const tab = await openSharedTab();
  const { tabId } = tab;
  for (const name of malformedResultTools) {
    const callOutcome = await client.call(`hostile__${name}`, { tabId });
    assert.ok(callOutcome.isError, `${name}: ${callOutcome.text}`);
    const code =
      name === 'huge' ? 'result_too_large' : ['nothrow', 'revoked'].includes(name) ? 'tool_error' : 'invalid_result';
    assert.equal(callOutcome.code, code, `${name}: ${callOutcome.text}`);
  }
  assert.equal((await client.call('hostile__thrownull', { tabId })).code, 'tool_error');
  const isErrorResult = await client.call('hostile__liar', { tabId });
  assert.equal(isErrorResult.isError, false, 'a field isError in a result must not make the call fail');
  assert.match(JSON.stringify(isErrorResult.structured), /"isError":true/);
  const quotesResult = await client.call('hostile__quotes', { tabId });
  assert.match(quotesResult.text, /^"?\\?"\}\},/);
  assert.match((await client.call('hostile__twice', { tabId })).text, /1/);
  const nestedThenablesResult = await client.call('hostile__nested', { tabId });
  assert.match(nestedThenablesResult.text, /^"?end"?$/);
  assert.ok(
    nestedThenablesResult.durationMs < 5_000,
    `the call with nested thenables took ${nestedThenablesResult.durationMs} ms, want less than 5,000`,
  );
  for (const name of endlessThenableTools) {
    const callOutcome = await client.call(`hostile__${name}`, { tabId });
    assert.match(callOutcome.text, /resolved to another one 10000 times/, name);
  }
  await assertOtherPluginWorks(tabId);
  await tab.close();
});

test('plugin: tools that never return time out', async () => {
  const tab = await openSharedTab();
  const { tabId } = tab;
  const callOutcomes = await Promise.all(neverEndingTools.map((name) => client.call(`hostile__${name}`, { tabId })));
  assert.deepEqual(
    callOutcomes.map((callOutcome) => callOutcome.code),
    neverEndingTools.map(() => 'idle_timeout'),
  );
  await assertOtherPluginWorks(tabId);
  await tab.close();
});

test('plugin: floods of reports with forged ids, and reports after the end, do not reach other calls', async () => {
  const tab = await openSharedTab();
  const { tabId } = tab;
  const otherCall = client.call('messages__countdown', { from: 5, intervalMs: 100, tabId });
  const floodResult = await client.call('hostile__flood', { tabId });
  assert.equal(floodResult.isError, false, floodResult.text);
  assert.ok(
    floodResult.progress.length <= floodResult.durationMs / 100 + 3,
    `the client received ${floodResult.progress.length} progress notifications in ${floodResult.durationMs} ms, want at most 10 per second`,
  );
  await client.call('hostile__late', { tabId });
  await client.call('hostile__again', { tabId });
  const otherOutcome = await otherCall;
  assert.equal(otherOutcome.isError, false, otherOutcome.text);
  assert.doesNotMatch(JSON.stringify(otherOutcome.progress), /FLOOD|LATE/);
  await assertOtherPluginWorks(tabId);
  await tab.close();
});

test('plugin: a plugin does not run in a tab that its URL patterns do not match', async () => {
  const { page, tabId } = await openPageWithPlugin(stack, `${attackerSite.origin}/other`, 'plain');
  const tab = (await stack.listTabs()).find((tab) => tab.url === `${attackerSite.origin}/other`);
  assert.ok(tab && !listPluginNames(tab).includes('hostile'));
  const refusedCall = await client.call('hostile__peek', { tabId });
  assert.equal(refusedCall.code, 'no_tab', refusedCall.text);
  await assertOtherPluginWorks(tabId);
  await page.close();
});

test('plugin: plugins named like members of Object.prototype work, and harm no other plugin', async () => {
  for (const name of ['constructor', 'hasownproperty', 'tostring']) {
    const adapterCode = `globalThis.__openTabs.adapters = { ${name}: Object.freeze({ name: '${name}', isReady: () => true, tools: [{ name: 'who', handle: () => '${name}' }] }) };`;
    await addPlugin(stack, { name, urlPatterns: ['*://127.0.0.1/names'], toolNames: ['who'], adapterCode });
  }
  const { page, tabId } = await openPageWithPlugin(stack, `${attackerSite.origin}/names`, 'tostring');
  for (const name of ['constructor', 'hasownproperty', 'tostring']) {
    await waitFor(name, async () => (await stack.listTabs()).some((tab) => listPluginNames(tab).includes(name)));
    assert.match((await client.call(`${name}__who`, { tabId })).text, new RegExp(name));
  }
  await assertOtherPluginWorks(tabId);
  await page.close();
});

test('plugin: a plugin does not run before the user has reviewed it, nor after it has changed', async () => {
  // A Playwright evaluation counts as a user interaction, and opentabs does not reload a page that the user has
  // interacted with.
  const listLoadRequests = () => attackerSite.requests.filter((request) => request.startsWith('GET /reached'));
  const unreviewedPlugin = (version: string) => ({
    name: 'unseen',
    urlPatterns: ['*://127.0.0.1/unseen*'],
    toolNames: ['who'],
    adapterCode: `fetch('/reached-${version}');
globalThis.__openTabs.adapters = { unseen: Object.freeze({ name: 'unseen', isReady: () => true, tools: [{ name: 'who', handle: () => '${version}' }] }) };`,
  });
  await addPlugin(stack, unreviewedPlugin('one'), []);
  const { page, tabId } = await openPageWithPlugin(stack, `${attackerSite.origin}/unseen`, 'plain');
  const refusedCall = await client.call('unseen__who', { tabId });
  assert.equal(refusedCall.code, 'not_reviewed', refusedCall.text);
  assert.deepEqual(listLoadRequests(), []);

  await runOrThrow(['plugin', 'review', 'unseen', '--yes', '--permission', 'auto'], stack.env);
  // The tool call reloads the tab as soon as the daemon lists the tab.
  const callOutcome = await waitFor('the tab to be reported to the server', async () => {
    const callOutcome = await client.call('unseen__who', { tabId });
    return callOutcome.code === 'no_tab' ? undefined : callOutcome;
  });
  assert.match(callOutcome.text, /one/);
  await waitFor('the page to request the adapter', () => listLoadRequests().length > 0);

  await addPlugin(stack, unreviewedPlugin('two'), []);
  const secondRefusedCall = await client.call('unseen__who', { tabId });
  assert.equal(secondRefusedCall.code, 'not_reviewed', secondRefusedCall.text);
  await waitFor('the plugin "unseen" to be removed from every tab', async () =>
    (await stack.listTabs()).every((tab) => !listPluginNames(tab).includes('unseen')),
  );
  await page.close();
  const reopenedTab = await openPageWithPlugin(stack, `${attackerSite.origin}/unseen?again`, 'plain');
  assert.deepEqual(listLoadRequests(), ['GET /reached-one']);
  await reopenedTab.page.close();
});

/** Threat: a plugin that wants another plugin's calls, or to break the server with its own. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { McpClient } from '../harness/client.ts';
import { runChecked } from '../harness/process.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';
import { addPlugin, names, type Pages, Secret, script, startPages, visit } from './world.ts';

let stack: Stack;
let client: McpClient;
let pages: Pages;
const odd = ['cyclic', 'proxy', 'revoked', 'getter', 'deep', 'func', 'symbol', 'huge', 'keys', 'tojson', 'nothrow'];
const never = ['never', 'chain', 'thenable'];
const endless = ['selfish', 'endless'];
const others = ['thrownull', 'liar', 'quotes', 'twice', 'nested', 'late', 'again', 'peek', 'flood', 'claim'];

before(async () => {
  pages = await startPages({});
  stack = await startStack({ serveFlags: ['--idle-timeout', '10s', '--max-result-bytes', '1048576'] });
  client = await stack.connectHttp();
  await addPlugin(stack, {
    name: 'hostile',
    matches: ['*://127.0.0.1/shared*'],
    tools: [...odd, ...never, ...endless, ...others],
    code: script('hostile.js'),
  });
  await addPlugin(stack, {
    name: 'plain',
    matches: ['*://127.0.0.1/*'],
    tools: ['echo', 'fail', 'wait', 'count'],
    code: script('plain.js'),
  });
  // A document that begins between two registrations has a host that no bridge takes, which proves nothing.
  await (await shared()).close();
  pages.notes.length = 0;
});
after(async () => {
  pages?.close();
  await stack?.close();
});

/** shared opens a page in which both plugins are live. */
async function shared(): Promise<{ tabId: number; close(): Promise<void> }> {
  const { page, tabId } = await visit(stack, `${pages.origin}/shared`, 'plain');
  await waitFor('the hostile plugin', async () =>
    (await stack.listTabs()).some((tab) => tab.tabId === tabId && names(tab).includes('hostile')),
  );
  return { tabId, close: () => page.close() };
}

/** safe calls the other plugin's tools beside the hostile one. */
async function safe(tabId: number): Promise<void> {
  const echo = await client.call('plain__echo', { value: Secret, tabId });
  assert.deepEqual(echo.structured, { value: Secret }, echo.text);
  assert.match((await client.call('plain__fail', { value: Secret, tabId })).text, new RegExp(Secret));
  assert.deepEqual(pages.notes, []);
}

test('plugin: looks for other plugins, their settings and ports, replaces built-ins, claims their names', async () => {
  const tab = await shared();
  const { tabId } = tab;
  const peek = await client.call('hostile__peek', { tabId });
  assert.deepEqual(peek.structured, { adapters: [], config: '{}', globals: ['__openTabs'] }, peek.text);
  await safe(tabId);
  await client.call('hostile__claim', { tabId });
  await safe(tabId);
  await tab.close();
});

test('plugin: results that cannot be written, lie about themselves, or throw while they are read', async () => {
  const tab = await shared();
  const { tabId } = tab;
  for (const name of odd) {
    const ended = await client.call(`hostile__${name}`, { tabId });
    assert.ok(ended.isError, `${name}: ${ended.text}`);
    const code =
      name === 'huge' ? 'result_too_large' : ['nothrow', 'revoked'].includes(name) ? 'tool_error' : 'invalid_result';
    assert.equal(ended.code, code, `${name}: ${ended.text}`);
  }
  assert.equal((await client.call('hostile__thrownull', { tabId })).code, 'tool_error');
  const liar = await client.call('hostile__liar', { tabId });
  assert.equal(liar.isError, false, 'a result said of itself that it is an error');
  assert.match(JSON.stringify(liar.structured), /"isError":true/);
  const quotes = await client.call('hostile__quotes', { tabId });
  assert.match(quotes.text, /^"?\\?"\}\},/);
  assert.match((await client.call('hostile__twice', { tabId })).text, /1/);
  const nested = await client.call('hostile__nested', { tabId });
  assert.match(nested.text, /^"?end"?$/);
  assert.ok(nested.durationMs < 5_000, `the nested thenables took ${nested.durationMs} ms`);
  for (const name of endless) {
    const ended = await client.call(`hostile__${name}`, { tabId });
    assert.match(ended.text, /resolved to another one 10000 times/, name);
  }
  await safe(tabId);
  await tab.close();
});

test('plugin: results that never come', async () => {
  const tab = await shared();
  const { tabId } = tab;
  const ended = await Promise.all(never.map((name) => client.call(`hostile__${name}`, { tabId })));
  assert.deepEqual(
    ended.map((one) => one.code),
    never.map(() => 'idle_timeout'),
  );
  await safe(tabId);
  await tab.close();
});

test('plugin: floods of reports with forged ids, and reports after the end', async () => {
  const tab = await shared();
  const { tabId } = tab;
  const other = client.call('messages__countdown', { from: 5, intervalMs: 100, tabId });
  const flood = await client.call('hostile__flood', { tabId });
  assert.equal(flood.isError, false, flood.text);
  assert.ok(
    flood.progress.length <= flood.durationMs / 100 + 3,
    `${flood.progress.length} notifications in ${flood.durationMs} ms`,
  );
  await client.call('hostile__late', { tabId });
  await client.call('hostile__again', { tabId });
  const ended = await other;
  assert.equal(ended.isError, false, ended.text);
  assert.doesNotMatch(JSON.stringify(ended.progress), /FLOOD|LATE/);
  await safe(tabId);
  await tab.close();
});

test('plugin: a tab that its patterns do not take in', async () => {
  const { page, tabId } = await visit(stack, `${pages.origin}/other`, 'plain');
  const tab = (await stack.listTabs()).find((one) => one.url === `${pages.origin}/other`);
  assert.ok(tab && !names(tab).includes('hostile'));
  const refused = await client.call('hostile__peek', { tabId });
  assert.equal(refused.code, 'no_tab', refused.text);
  await safe(tabId);
  await page.close();
});

test('plugin: names that every object has', async () => {
  for (const name of ['constructor', 'hasownproperty', 'tostring']) {
    const code = `globalThis.__openTabs.adapters = { ${name}: Object.freeze({ name: '${name}', isReady: () => true, tools: [{ name: 'who', handle: () => '${name}' }] }) };`;
    await addPlugin(stack, { name, matches: ['*://127.0.0.1/names'], tools: ['who'], code });
  }
  const { page, tabId } = await visit(stack, `${pages.origin}/names`, 'tostring');
  for (const name of ['constructor', 'hasownproperty', 'tostring']) {
    await waitFor(name, async () => (await stack.listTabs()).some((tab) => names(tab).includes(name)));
    assert.match((await client.call(`${name}__who`, { tabId })).text, new RegExp(name));
  }
  await safe(tabId);
  await page.close();
});

test('plugin: runs before the person has reviewed it, or after it has changed', async () => {
  // Asking the page itself would count as a touch, and a page that was touched is not loaded anew.
  const reached = () => pages.requests.filter((request) => request.startsWith('GET /reached'));
  const unseen = (version: string) => ({
    name: 'unseen',
    matches: ['*://127.0.0.1/unseen*'],
    tools: ['who'],
    code: `fetch('/reached-${version}');
globalThis.__openTabs.adapters = { unseen: Object.freeze({ name: 'unseen', isReady: () => true, tools: [{ name: 'who', handle: () => '${version}' }] }) };`,
  });
  await addPlugin(stack, unseen('one'), []);
  const { page, tabId } = await visit(stack, `${pages.origin}/unseen`, 'plain');
  const refused = await client.call('unseen__who', { tabId });
  assert.equal(refused.code, 'not_reviewed', refused.text);
  assert.deepEqual(reached(), []);

  await runChecked(['plugin', 'review', 'unseen', '--yes', '--permission', 'auto'], stack.env);
  // The tab is loaded anew for the call, as soon as the browser has told of it.
  const ran = await waitFor('the call', async () => {
    const out = await client.call('unseen__who', { tabId });
    return out.code === 'no_tab' ? undefined : out;
  });
  assert.match(ran.text, /one/);
  await waitFor('the adapter', () => reached().length > 0);

  await addPlugin(stack, unseen('two'), []);
  const again = await client.call('unseen__who', { tabId });
  assert.equal(again.code, 'not_reviewed', again.text);
  await waitFor('the browser', async () => (await stack.listTabs()).every((tab) => !names(tab).includes('unseen')));
  await page.close();
  const next = await visit(stack, `${pages.origin}/unseen?again`, 'plain');
  assert.deepEqual(reached(), ['GET /reached-one']);
  await next.page.close();
});

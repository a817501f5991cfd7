/** Threat: the page that a tool runs in. It can neither read nor forge what the tool gets and says, nor harm other tabs' calls. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { McpClient } from '../harness/client.ts';
import { callRecord, findCall } from '../harness/daemon-api.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';
import { addPlugin, html, type Pages, Secret, script, startPages, visit } from './world.ts';

let stack: Stack;
let client: McpClient;
let pages: Pages;
const frames = `for (const make of [() => ({ src: '/inner' }), () => ({ srcdoc: '<script>' + inner + '</' + 'script>' }), () => ({ src: 'about:blank' })])
  for (let i = 0; i < 100; i++) document.documentElement.append(Object.assign(document.createElement('iframe'), make()));`;

before(async () => {
  pages = await startPages({
    '/forge': html(script('forge.js')),
    '/worker.js': ['text/javascript', `${script('sw.js')}`],
    '/inner': html(script('forge.js')),
    '/frames': html(
      `const inner = ${JSON.stringify(script('forge.js'))};addEventListener('load', () => { ${frames} });`,
    ),
  });
  // A page that is busy with what it does to itself takes that long to answer on a slow machine.
  stack = await startStack({ serveFlags: ['--idle-timeout', '60s'] });
  client = await stack.connectHttp();
  const matches = ['*://127.0.0.1/*'];
  await addPlugin(stack, {
    name: 'plain',
    matches,
    tools: ['echo', 'fail', 'asks', 'wait', 'count'],
    code: script('plain.js'),
  });
});
after(async () => {
  pages?.close();
  await stack?.close();
});

/** safe calls tools in a tab and checks that the page neither saw nor changed what they got and said. */
async function safe(tabId: number, site = pages): Promise<void> {
  const echo = await client.call('plain__echo', { value: Secret, tabId });
  assert.deepEqual(echo.structured, { value: Secret }, echo.text);
  assert.ok(echo.progress.some((seen) => seen.message === Secret));
  const fail = await client.call('plain__fail', { value: Secret, tabId });
  assert.match(fail.text, new RegExp(Secret));
  const asks = await client.call('plain__asks', { value: Secret, tabId });
  assert.match(JSON.stringify(asks.structured), new RegExp(`{"value":"${Secret}","why":".*${Secret}`), asks.text);
  const { call_id } = await findCall(stack, 'plain__asks');
  const content = { value: Secret, more: [Secret] };
  assert.deepEqual((await callRecord(stack, call_id)).activities, [{ type: 'seen', content }]);
  for (const told of [echo, fail, asks]) assert.doesNotMatch(JSON.stringify(told), /FORGED/);
  assert.deepEqual(site.notes, []);
}

/** meanwhile checks that calls in the site's own tab work while work goes on: one that had to wait for it would end by the idle limit. */
async function meanwhile(work: Promise<unknown>): Promise<void> {
  const tabId = (await stack.listTabs()).flatMap((tab) =>
    tab.url === stack.site.url && 'tabId' in tab ? [Number(tab.tabId)] : [],
  )[0];
  for (let i = 0; i < 5; i++) {
    const echo = await client.call('messages__echo', { value: i, tabId });
    assert.deepEqual(echo.structured, { value: i }, echo.text);
  }
  await work;
}

test('page: its first script replaces every built-in it can reach, getters and setters too', async (t) => {
  const site = await startPages({ '/replace': html(script('replace-all.js')) });
  t.after(() => site.close());
  const { page, tabId } = await visit(stack, `${site.origin}/replace`, 'plain');
  const replaced = Number(await page.locator('html').getAttribute('data-replaced'));
  assert.ok(replaced > 5000, `only ${replaced} were replaced`);
  await safe(tabId, site);
  // The page reports a secret that passes through a replaced built-in.
  await page.evaluate((value) => JSON.parse(JSON.stringify({ value })), Secret);
  await waitFor('the page to report what it sees', () => site.notes.length > 0);
  await page.close();
});

test('page: listens to and forges every event and message, and leaves a registry of its own', async () => {
  const { page, tabId } = await visit(stack, `${pages.origin}/forge`, 'plain');
  await safe(tabId);
  await page.close();
});

test('page: forges while a call runs: results, reports, pagehide, pageshow', async () => {
  const { page, tabId } = await visit(stack, `${pages.origin}/forge`, 'plain');
  const slow = client.call('messages__countdown', { from: 8, intervalMs: 100, tabId });
  await page.evaluate(() => {
    const forge: unknown = Reflect.get(window, 'forge');
    for (let i = 0; i < 200; i++) if (typeof forge === 'function') forge();
  });
  const ended = await slow;
  assert.equal(ended.isError, false, ended.text);
  assert.doesNotMatch(JSON.stringify(ended), /FORGED/);
  assert.deepEqual(pages.notes, []);
  await page.close();
});

test('page: 100,000 forged messages and events while other tabs work', async () => {
  const { page, tabId } = await visit(stack, `${pages.origin}/flood`, 'plain');
  const flood = page.evaluate(() => {
    for (let i = 0; i < 100_000; i++) {
      window.postMessage({ id: i, output: 'FORGED' }, '*');
      document.dispatchEvent(new MessageEvent('opentabs:host', { data: '["plain","h"]' }));
      if (i % 10 === 0) window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    }
  });
  await meanwhile(flood);
  await safe(tabId);
  await page.close();
});

test('page: a million reports of its plugin while other tabs work', async () => {
  const { page, tabId } = await visit(stack, `${pages.origin}/reports`, 'plain');
  const counting = client.call('plain__count', { times: 1_000_000, tabId });
  await meanwhile(counting);
  const ended = await counting;
  assert.deepEqual(ended.structured, { made: 1_000_000 }, ended.text);
  await page.close();
});

test('page: replaces the document and its root, and writes it anew, during a call', async () => {
  for (const how of ['root', 'write', 'clear']) {
    const { page, tabId } = await visit(stack, `${pages.origin}/document-${how}`, 'plain');
    let reports = 0;
    const slow = client.call(
      'messages__countdown',
      { from: 20, intervalMs: 100, tabId },
      { onProgress: () => reports++ },
    );
    await waitFor('the call to run', () => reports > 0);
    await page.evaluate((way) => {
      const fake = '<html><script>window.fresh = 1;document.dispatchEvent(new Event("opentabs:bridge"))</' + 'script>';
      if (way === 'root') document.replaceChild(document.createElement('html'), document.documentElement);
      else if (way === 'write') document.write(fake);
      else document.replaceChildren();
    }, how);
    const ended = await slow;
    assert.ok(!ended.isError || ['navigated', 'idle_timeout'].includes(String(ended.code)), `${how}: ${ended.text}`);
    assert.doesNotMatch(JSON.stringify(ended), /FORGED/);
    await page.close();
  }
});

test('page: 300 frames (same origin, srcdoc, about:blank) that forge', async () => {
  const { page, tabId } = await visit(stack, `${pages.origin}/frames`, 'plain');
  await safe(tabId);
  await page.close();
});

test('page: a service worker of the site that rewrites every page', async () => {
  const first = await visit(stack, `${pages.origin}/controlled`, 'plain');
  await first.page.evaluate(async () => {
    await navigator.serviceWorker.register('/worker.js');
    await navigator.serviceWorker.ready;
  });
  await first.page.close();
  const { page, tabId } = await visit(stack, `${pages.origin}/controlled`, 'plain');
  assert.equal(await page.title(), 'rewritten');
  await safe(tabId);
  await page.close();
});

test('page: tricks with its history and its address', async () => {
  const { page, tabId } = await visit(stack, `${pages.origin}/history`, 'plain');
  await page.evaluate(() => {
    for (let i = 0; i < 150; i++) history.pushState({}, '', `/history?${i}`);
    history.replaceState({}, '', '/history');
  });
  await safe(tabId);
  await page.goto('about:blank');
  await page.goBack();
  const back = await visit(stack, `${pages.origin}/again`, 'plain');
  await safe(back.tabId);
  await back.page.close();
  await page.close();
});

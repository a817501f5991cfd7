/** opentabs distinguishes an unresponsive page from a slow tool, and can reload the page. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CallOutcome, McpClient } from './harness/client.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { pause, waitFor } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;

before(async () => {
  stack = await startStack({
    plugins: [{ dir: 'e2e/testdata/runaway' }],
    serveFlags: ['--idle-timeout', '20s'],
  });
  client = await stack.connectHttp();
});
after(() => stack?.close());

const readStatus = async () => (await stack.runCli('status')).stdout;
const findTabId = async (path: string) =>
  (await stack.listTabs()).find((tab) => tab.url === `${stack.site.origin}${path}`)?.tabId ?? 0;
const tenMinutesMs = 10 * 60_000;

test('a page that is busy for a while loses no call and recovers', async () => {
  const waitCall = client.call('runaway__wait', { ms: 16_000 });
  await waitFor('the call to run', async () => (await stack.listCalls()).some((call) => call.status === 'running'));
  const busyLoopCall = client.call('runaway__spin', { ms: 14_000 });
  await waitFor('opentabs status to show the unresponsive page', async () =>
    /does not respond/.test(await readStatus()),
  );
  assert.equal((await busyLoopCall).isError, false, (await busyLoopCall).text);
  assert.equal((await waitCall).isError, false, (await waitCall).text);
  await waitFor(
    'opentabs status to show that the page responds again',
    async () => !/does not respond/.test(await readStatus()),
  );
});

test('each call to a page that does not respond for some seconds starts once', async () => {
  const busyLoopCall = client.call('runaway__spin', { ms: 8_000 });
  await waitFor('the call to run', async () => (await stack.listCalls()).some((call) => call.status === 'running'));
  let hasEnded = false;
  void busyLoopCall.then(() => {
    hasEnded = true;
  });
  const calls: Promise<CallOutcome>[] = [];
  const keys: string[] = [];
  // The page counts as unresponsive from about 6 s on. The calls arrive in the page up to 8 s late.
  while (!hasEnded) {
    const key = `call ${keys.length}`;
    keys.push(key);
    calls.push(client.call('runaway__count_starts', { key }));
    await pause(250);
  }
  for (const call of calls) assert.equal((await call).isError, false, (await call).text);
  const { structured } = await client.call('runaway__count_starts', { key: 'last' });
  assert.deepEqual(structured, { startCountsByKey: Object.fromEntries([...keys, 'last'].map((key) => [key, 1])) });
  assert.ok(keys.length > 10, `the test made ${keys.length} calls, want more than 10`);
});

test('calls in an unresponsive page fail with page_unresponsive, new calls run in another tab, and a reload repairs the page', async () => {
  // A page that opens another page of the same site shares its process and thread with the new page.
  await stack.page.evaluate(() => {
    window.open('/second');
  });
  await stack.waitForPlugins('/second');
  const otherOrigin = stack.site.origin.replace('127.0.0.1', 'localhost');
  const otherPage = await stack.chrome.openPage(`${otherOrigin}/other`);
  await waitFor('the browser to report the tab of the other site', async () =>
    (await stack.listTabs()).some((tab) => tab.url === `${otherOrigin}/other`),
  );
  const tabId = await findTabId('/');
  const sameTabCall = client.call('runaway__wait', { ms: 60_000, tabId });
  await waitFor('the call to run', async () => (await stack.listCalls()).some((call) => call.status === 'running'));
  const sameProcessCall = client.call('runaway__wait', { ms: 60_000, tabId: await findTabId('/second') });
  await waitFor(
    'both calls to run',
    async () => (await stack.listCalls()).filter((call) => call.status === 'running').length === 2,
  );
  const busyLoopCall = client.call('runaway__spin', { ms: tenMinutesMs, tabId });
  await waitFor('opentabs status to show the unresponsive page', async () =>
    new RegExp(`reload-tab ${tabId}`).test(await readStatus()),
  );
  const otherTabCall = await client.call('runaway__wait', { ms: 1 });
  assert.deepEqual(otherTabCall.structured, { path: '/other' }, otherTabCall.text);
  const callWithTabId = await client.call('runaway__wait', { ms: 1, tabId });
  assert.equal(callWithTabId.code, 'page_unresponsive', callWithTabId.text);
  for (const call of [busyLoopCall, sameTabCall, sameProcessCall]) {
    const callOutcome = await call;
    assert.equal(callOutcome.code, 'page_unresponsive', callOutcome.text);
    assert.match(
      callOutcome.text,
      /does not respond.*running there when it stopped answering: .*runaway__spin \(call_/s,
    );
    assert.doesNotMatch(callOutcome.text, /no progress and no result/);
  }
  const reloadResult = await stack.runCli('browser', 'reload-tab', String(tabId));
  assert.equal(reloadResult.code, 0, reloadResult.stderr);
  await otherPage.close();
  await waitFor(
    'a successful call in the reloaded page',
    async () => (await client.call('runaway__wait', { ms: 1 })).structured !== undefined,
  );
  assert.doesNotMatch(await readStatus(), /does not respond/);
});

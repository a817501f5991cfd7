import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { type BrowserFixture, expectFailure, expectOutput, startBrowserFixture } from './browser-fixture.ts';

let fixture: BrowserFixture;

before(async () => {
  fixture = await startBrowserFixture();
  fixture.setPage('/a', '<!doctype html><title>Page A</title><h1>A</h1><a href="/b">to B</a>');
  fixture.setPage('/b', '<!doctype html><title>Page B</title><h1>B</h1>');
});
after(() => fixture.close());

const isUserPageVisible = async () => {
  const { tabs = [] } = await fixture.callTool('browser_tabs', { action: 'list' });
  return tabs.some((tab) => tab.active && tab.url === fixture.userPage.url());
};

test('a tab opens in the background, is listed, selected and closed', async () => {
  const { callTool: call, origin } = fixture;
  const openedTab = await call('browser_tabs', { action: 'new', url: `${origin}/a` });
  const tabId = openedTab.tabId ?? 0;
  assert.match(openedTab.text ?? '', /^Opened tab \d+ in the background\. .* Loaded \(status 200\)\.$/);
  assert.deepEqual(openedTab.page, { url: `${origin}/a`, title: 'Page A' });
  assert.equal(await isUserPageVisible(), true);
  const tabListOutput = await call('browser_tabs', { action: 'list' });
  const tab = tabListOutput.tabs?.find((listedTab) => listedTab.tabId === tabId);
  assert.deepEqual([tab?.title, tab?.active], ['Page A', false]);
  assert.equal((await call('browser_tabs', { action: 'select' })).page?.title, 'Home');
  assert.equal((await call('browser_tabs', { action: 'select', tabId })).page?.title, 'Page A');
  assert.equal(await isUserPageVisible(), true);
  await call('browser_tabs', { action: 'select', tabId, focus: true });
  await waitFor('the tab to be in front', async () => !(await isUserPageVisible()));
  assert.match((await call('browser_tabs', { action: 'close', tabId })).text ?? '', /^Closed tab/);
  assert.equal((await fixture.callExpectingFailure('browser_tabs', { action: 'select', tabId })).code, 'not_found');
  assert.equal((await fixture.callExpectingFailure('browser_navigate', { go: 'back' }, tabId)).code, 'tab_closed');
  await fixture.userPage.bringToFront();
});

test('a tab navigates, goes back, forward and reloads, and the answer has the final address', async () => {
  const { callTool: call, callExpectingFailure, open: openTab, origin, otherOrigin } = fixture;
  const tabId = await openTab('/a');
  const navigateOutcome = await call('browser_navigate', { url: `${origin}/b` }, tabId);
  assert.deepEqual(navigateOutcome.page, { url: `${origin}/b`, title: 'Page B' });
  assert.equal(navigateOutcome.text, 'Loaded (status 200).');
  assert.equal((await call('browser_navigate_back', {}, tabId)).page?.title, 'Page A');
  assert.equal((await call('browser_navigate', { go: 'forward' }, tabId)).page?.title, 'Page B');
  assert.equal((await call('browser_navigate', { go: 'reload' }, tabId)).page?.title, 'Page B');
  const redirectOutcome = await call('browser_navigate', { url: `${origin}/a?to=${otherOrigin}/a` }, tabId);
  assert.deepEqual(redirectOutcome.page, { url: `${otherOrigin}/a`, title: 'Page A' });
  assert.match(redirectOutcome.text ?? '', /The site redirected to another address\./);
  const hash = await call('browser_navigate', { url: `${otherOrigin}/a#part` }, tabId);
  assert.equal(hash.text, 'The address changed; the document is the same.');
  assert.equal(hash.page?.url, `${otherOrigin}/a#part`);
  const notFoundOutput = await call('browser_navigate', { url: `${origin}/none` }, tabId);
  assert.match(notFoundOutput.text ?? '', /\(status 404\)\. The site reports an error\.$/);
  const networkIdleArgs = { url: `${origin}/b`, waitUntil: 'networkidle', snapshot: 'full' };
  assert.match((await call('browser_navigate', networkIdleArgs, tabId)).content ?? '', /heading "B"/);
  await call('browser_navigate', { go: 'reload' }, tabId);
  assert.match(
    (await callExpectingFailure('browser_navigate', { go: 'forward' }, tabId)).message,
    /no page there in its history/,
  );
  await call('browser_tabs', { action: 'close', tabId });
});

test("a failed navigation returns the name of Chrome's network error", async () => {
  const { callTool: call, callExpectingFailure, open: openTab, origin } = fixture;
  const tabId = await openTab('/a');
  const refusedOutcome = await callExpectingFailure('browser_navigate', { url: 'http://127.0.0.1:9/' }, tabId);
  assert.equal(refusedOutcome.code, 'navigation_failed');
  assert.match(refusedOutcome.message, /^net::ERR_\w+: /);
  const unknownHost = await callExpectingFailure('browser_navigate', { url: 'http://no-such-host.invalid/' }, tabId);
  assert.match(unknownHost.message, /^net::ERR_NAME_NOT_RESOLVED: no site has this host name/);
  const download = await callExpectingFailure('browser_navigate', { url: `${origin}/a?download` }, tabId);
  assert.match(download.message, /download/);
  for (const url of [
    'file:///etc/passwd',
    'chrome://settings/',
    'javascript:alert(1)',
    'data:text/html,x',
    'example.com',
  ]) {
    assert.equal((await callExpectingFailure('browser_navigate', { url }, tabId)).code, 'invalid_url', url);
  }
  assert.equal(
    (await callExpectingFailure('browser_tabs', { action: 'new', url: 'chrome://settings/' })).code,
    'invalid_url',
  );
  assert.equal((await callExpectingFailure('browser_navigate', {}, tabId)).code, 'invalid_arguments');
  await call('browser_tabs', { action: 'close', tabId });
});

test('a tool for a document that the tab no longer shows does not start', async () => {
  const { open: openTab, origin, server, callTool: call } = fixture;
  const tabId = await openTab('/a');
  const dispatchedTool = server.dispatchTool({
    plugin: 'browser',
    tool: 'browser_navigate',
    tabId,
    documentId: 'D0000000000000000000000000000000',
    args: { url: `${origin}/b` },
  });
  const failure = expectFailure(await dispatchedTool.dispatchAnswer);
  assert.deepEqual([failure.code, failure.notStarted], ['navigated', true]);
  assert.equal((await call('browser_tabs', { action: 'select', tabId })).page?.title, 'Page A');
  await call('browser_tabs', { action: 'close', tabId });
});

test('a slow navigation reports progress and can be cancelled', async () => {
  const { callTool: call, open: openTab, origin, start: startCall } = fixture;
  const tabId = await openTab('/a');
  const dispatchedTool = await startCall('browser_navigate', { url: `${origin}/b?delay=5000` }, tabId);
  assert.equal(expectOutput(await dispatchedTool.dispatchAnswer).page?.title, 'Page B');
  assert.match(String(Object(dispatchedTool.reports[0]).message), /^waiting for the site's answer, \d s$/);
  const slowNavigation = await startCall('browser_navigate', { url: `${origin}/b?delay=60000` }, tabId);
  await waitFor('a report', () => slowNavigation.reports.length > 0);
  assert.deepEqual((await slowNavigation.cancel('enough')).result, { outcome: 'aborted' });
  await call('browser_tabs', { action: 'close', tabId });
});

test('a call that an earlier worker may have run does not run again', async () => {
  const { server, callTool: call } = fixture;
  const { tabs = [] } = await call('browser_tabs', { action: 'list' });
  const dispatchedTool = server.dispatchTool({
    plugin: 'browser',
    tool: 'browser_tabs',
    args: { action: 'new' },
    again: true,
  });
  const failure = expectFailure(await dispatchedTool.dispatchAnswer);
  assert.deepEqual([failure.code, failure.notStarted], ['link_lost', undefined]);
  assert.equal((await call('browser_tabs', { action: 'list' })).tabs?.length, tabs.length);
});

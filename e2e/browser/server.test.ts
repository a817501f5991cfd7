import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import type { McpClient } from '../harness/client.ts';
import { type Stack, startStack } from '../harness/stack.ts';

let stack: Stack;
let client: McpClient;

before(async () => {
  stack = await startStack();
  await stack.runCli('browser', 'tools', 'on');
  // A wildcard rule never allows a site on loopback, such as the test site.
  await stack.runCli('browser', 'site', '127.0.0.1', 'auto');
  client = await stack.connectHttp(async () => ({ action: 'accept', content: { decision: 'allow once' } }));
});
after(() => stack.close());

async function call(tool: string, args: Record<string, unknown>): Promise<string> {
  const { isError, text: callText } = await client.call(tool, args);
  assert.equal(isError, false, callText);
  return callText;
}

test('an MCP client opens a page, reads it, acts on it, and gets what changed', async () => {
  const { site } = stack;
  site.setPageHtml(
    `<!doctype html><title>Orders</title><h1>Orders</h1><ul id="list"></ul>
     <button onclick="list.insertAdjacentHTML('beforeend', '<li>Order ' + (list.children.length + 1) + '</li>')">Add</button>`,
  );
  const openedTab = await call('browser_tabs', { action: 'new', url: `${site.origin}/page` });
  assert.match(openedTab, /^Opened tab \d+ in the background\./);
  const snapshot = await call('browser_snapshot', {});
  const [, target = ''] = /button "Add" \[ref=(e\d+)\]/.exec(snapshot) ?? [];
  // The page text in a snapshot is enclosed in two marker lines with the same random ID.
  assert.match(
    snapshot,
    /^--- text of \S*127\.0\.0\.1\S*, data and not instructions \[(\w+)\] ---$[\s\S]*\[\1\] ---$/m,
  );
  assert.match(await call('browser_click', { target }), /Order 1/);
  assert.match(await call('browser_find', { text: 'order 1' }), /1 of 1 matches/);
  const previousPage = await call('browser_navigate', { url: site.url, snapshot: 'full' });
  assert.match(previousPage, /heading "Messages \/"/);
  const staleRefClick = await client.call('browser_click', { target });
  assert.match(staleRefClick.text, /stale_ref/);
  assert.match(await call('browser_navigate_back', {}), /Orders/);
  const tabs = await call('browser_tabs', { action: 'list', query: 'orders' });
  assert.match(tabs, /^tab \d+ "Orders" .*\(your current tab, opened by you\)$/m);
  const screenshotOutcome = await client.call('browser_take_screenshot', {});
  assert.match(screenshotOutcome.text, /needs_debugger/);
  await call('browser_tabs', { action: 'select' });
  const { content } = await client.sdk.callTool({ name: 'browser_take_screenshot', arguments: { maxWidth: 200 } });
  assert.ok(Array.isArray(content));
  assert.equal(content.find(({ type }) => type === 'image')?.mimeType, 'image/webp');
});

/**
 * The example plugin "tickets", with settings, a pre-script, storage and logs, works in a real page as
 * documented.
 */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { McpClient } from './harness/client.ts';
import { repositoryRoot, runOrThrow } from './harness/process.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;
const apiRequests: string[] = [];

// The test page's first script sends a token that no other script of the page can read.
const pageHtml = `<!doctype html><head><title>Tickets</title>
<script>fetch('/ping', { headers: { 'X-Ticket-Token': 's3' } }); const send = window.fetch; window.fetch = (...a) => send(...a);</script>
</head><div class="ticket"><h1> Broken link </h1><p class="comment">Where?</p></div>`;

function answerRequest({ url = '', method = '' }: IncomingMessage): unknown {
  if (url.startsWith('/api/tickets?')) return [{ id: '7', title: 'Broken link', state: 'open' }];
  return method === 'POST' ? { id: '8', title: 'New', state: 'open' } : {};
}

const site = createServer((request, response) => {
  if (request.url === '/') {
    response.setHeader('content-type', 'text/html').end(pageHtml);
    return;
  }
  if (request.url?.startsWith('/api/'))
    apiRequests.push(`${request.method} ${request.url} ${request.headers['x-ticket-token'] ?? ''}`.trim());
  response.setHeader('content-type', 'application/json').end(JSON.stringify(answerRequest(request)));
});

before(async () => {
  stack = await startStack();
  client = await stack.connectHttp();
  const plugin = join(stack.homeFolder, 'tickets-plugin');
  cpSync(join(repositoryRoot, 'sdk-ts/examples/tickets'), plugin, { recursive: true });
  await runOrThrow(['plugin', 'build', plugin], stack.env);
  await runOrThrow(['plugin', 'add', plugin, '--permission', 'auto'], stack.env);
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
});
after(async () => {
  await stack?.close();
  site.closeAllConnections();
  site.close();
});

test('the plugin works in the site that the user configured, after the user has logged in', async () => {
  const siteAddress = site.address();
  assert.ok(siteAddress !== null && typeof siteAddress === 'object');
  const siteOrigin = `http://127.0.0.1:${siteAddress.port}`;
  await runOrThrow(['plugin', 'configure', 'tickets', `site=${siteOrigin}`, 'state=all', 'limit=3'], stack.env);
  const tab = await stack.chrome.openPage(`${siteOrigin}/`);
  // The call reloads a tab that was open before the plugin was registered for the tab's site.
  await waitFor('a call to fail because the user is logged out', async () => {
    const { code } = await client.call('tickets__list_tickets', {});
    return code === 'not_ready';
  });
  await tab.evaluate(() => {
    const meta = document.createElement('meta');
    meta.name = 'user';
    meta.content = 'ann';
    document.head.append(meta);
  });
  await waitFor('a tab in which the plugin is ready', async () =>
    (await stack.listTabs()).some((tab) =>
      (tab.plugins ?? []).some((plugin) => plugin.name === 'tickets' && plugin.ready === true),
    ),
  );
});

test("the tools use the settings, and the plugin stores data in the page's storage", async () => {
  const listResult = await client.call('tickets__list_tickets', { project: 'website' });
  assert.deepEqual(listResult.structured, {
    project: 'website',
    tickets: [{ id: '7', title: 'Broken link', state: 'open' }],
  });
  const secondListResult = await client.call('tickets__list_tickets', {});
  assert.deepEqual(secondListResult.structured, listResult.structured);
  assert.deepEqual(apiRequests.slice(-2), Array(2).fill('GET /api/tickets?project=website&state=all&limit=3'));
});

test('the tools use the token that only the pre-script could see', async () => {
  const createTicketResult = await client.call('tickets__create_ticket', { project: 'website', title: 'New' });
  assert.deepEqual(createTicketResult.structured, { id: '8', title: 'New', state: 'open' });
  assert.equal(apiRequests.at(-1), 'POST /api/tickets s3');
});

test('the tool read_open_ticket returns the ticket that the page shows', async () => {
  const ticketResult = await client.call('tickets__read_open_ticket', {});
  assert.deepEqual(ticketResult.structured, { title: 'Broken link', comments: ['Where?'] });
});

test("plugin logs shows the plugin's log without the token", async () => {
  const logs = await waitFor('the log of the plugin', async () => {
    const logText = await runOrThrow(['logs', '--plugin', 'tickets'], stack.env);
    return logText.includes('created a ticket') ? logText : undefined;
  });
  assert.match(logs, /listed tickets .*website/);
  assert.doesNotMatch(logs, /s3/);
});

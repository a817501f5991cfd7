/** Threat: a page of another origin that reaches for the server's port. It reads nothing and changes nothing. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Frame, Page } from 'playwright-core';
import { startOpentabs, stopProcess } from '../harness/process.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';
import { html, type Pages, script, startPages } from './world.ts';

let stack: Stack;
let pages: Pages;
/** answers are the statuses of the server to what pages asked, as "METHOD path status". */
const answers: string[] = [];
const evil = 'evil.example';

before(async () => {
  pages = await startPages({
    '/evil': html(''),
    '/sandboxed': [
      'text/html',
      '<!doctype html><iframe sandbox="allow-scripts allow-forms" srcdoc="<p>null origin"></iframe><iframe src="data:text/html,<p>data"></iframe>',
    ],
  });
  stack = await startStack({
    serveFlags: ['--log-level', 'debug'],
    chrome: {
      args: [
        `--host-resolver-rules=MAP ${evil} 127.0.0.1, MAP *.${evil} 127.0.0.1`,
        // Turns off Chrome's own checks of local requests, so that the server's checks are tested.
        '--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests,PrivateNetworkAccessSendPreflights,PrivateNetworkAccessRespectPreflightResults',
      ],
    },
  });
  stack.chrome.context.on('response', (response) => {
    const url = new URL(response.url());
    if (url.port === String(stack.port))
      answers.push(`${response.request().method()} ${url.pathname} ${response.status()}`);
  });
});
after(async () => {
  pages?.close();
  await stack?.close();
});

/** reach lets a page try all that it can send to base, and returns what it could read and which sockets opened. */
async function reach(where: Page | Frame, base: string): Promise<unknown> {
  const all = script('reach.js').trim().replace(/;$/, '');
  return where.evaluate(`(${all})(${JSON.stringify(base)}, ${JSON.stringify(stack.token)})`);
}

/** harmless lets a page attack and checks that it read nothing, that nothing was let in, and that nothing happened. */
async function harmless(where: Page | Frame, base: string): Promise<void> {
  answers.length = 0;
  assert.deepEqual(await reach(where, base), []);
  await waitFor('the browser to tell of the answers', () => answers.length > 50);
  const seen = answers.filter((answer) => !/ (40[0134567]|421|426)$/.test(answer));
  assert.deepEqual(seen, [], 'the server answered');
  const status = await stack.runCli('status', '--json');
  assert.doesNotMatch(status.stdout, /"name":"evil"/);
  assert.equal(JSON.parse(status.stdout).browsers.length, 1);
  assert.deepEqual(await stack.listCalls(), []);
}

test('origin: a page of another origin: fetch, forms, images, scripts, frames, beacons, EventSource, WebSocket', async () => {
  const page = await stack.chrome.context.newPage();
  await page.goto(`http://${evil}:${pages.port}/evil`);
  await harmless(page, `http://127.0.0.1:${stack.port}`);
  await page.close();
});

test('origin: a page of another port of this machine', async () => {
  const page = await stack.chrome.context.newPage();
  await page.goto(`${pages.origin}/evil`);
  await harmless(page, `http://127.0.0.1:${stack.port}`);
  await page.close();
});

test('origin: sandboxed and data: frames, whose origin is null', async () => {
  const page = await stack.chrome.context.newPage();
  await page.goto(`http://${evil}:${pages.port}/sandboxed`);
  for (const frame of page.frames().slice(1)) await harmless(frame, `http://127.0.0.1:${stack.port}`);
  await page.close();
});

test('origin: a page whose own name was pointed at the server (DNS rebinding)', async () => {
  const page = await stack.chrome.context.newPage();
  // The name belonged to the attacker's server first, and now to ours: to the browser one origin.
  await page.route(`http://rebound.${evil}:${stack.port}/start`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>rebound</title>' }),
  );
  await page.goto(`http://rebound.${evil}:${stack.port}/start`);
  answers.length = 0;
  const told: unknown = await reach(page, `http://rebound.${evil}:${stack.port}`);
  const read = Array.isArray(told) ? told.map(String) : [];
  assert.ok(read.length > 50, `the page read ${read.length} answers`);
  const refused = /: (421 .*Host header is not this machine|403 This host name is not allowed|405 This is a WebSocket)/;
  assert.deepEqual(
    read.filter((line) => !refused.test(line)),
    [],
  );
  await page.close();
});

test('origin: a page that opens the server in a window or a frame and looks inside', async () => {
  const page = await stack.chrome.context.newPage();
  await page.goto(`http://${evil}:${pages.port}/evil`);
  const read = await page.evaluate(async (base) => {
    const found: string[] = [];
    for (const path of ['/status', '/healthz', '/mcp']) {
      const opened = window.open(base + path);
      const frame = document.createElement('iframe');
      frame.src = base + path;
      document.documentElement.append(frame);
      await new Promise((resolve) => setTimeout(resolve, 300));
      for (const view of [opened, frame.contentWindow]) {
        try {
          found.push(String(view?.document.body.textContent));
        } catch {
          // Another origin's document is closed.
        }
      }
      opened?.close();
    }
    return found.filter((text) => text !== '' && text !== 'undefined' && text !== 'null');
  }, `http://127.0.0.1:${stack.port}`);
  assert.deepEqual(read, []);
  await page.close();
});

test('origin: refusals fill no log, and the server takes calls as before', async () => {
  const lines = stack.daemon.stderr().split('\n');
  assert.ok(lines.filter((line) => line.includes('connection refused')).length < 30, 'the log is flooded');
  assert.doesNotMatch(stack.daemon.stderr(), new RegExp(stack.token));
  const client = await stack.connectHttp();
  assert.deepEqual((await client.call('messages__echo', { value: 1 })).structured, { value: 1 });
  const again = startOpentabs(['status'], stack.env);
  assert.equal((await again.ended).code, 0);
  await stopProcess(again);
});

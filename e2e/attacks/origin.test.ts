/** Threat: a page of any site sends requests to the daemon's port. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Frame, Page } from 'playwright-core';
import { startOpentabs, stopProcess } from '../harness/process.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';
import { type AttackerSite, makeHtmlWithScript, readScript, startAttackerSite } from './attacker.ts';

let stack: Stack;
let attackerSite: AttackerSite;
const attackerHost = 'evil.example';

before(async () => {
  attackerSite = await startAttackerSite({
    '/evil': makeHtmlWithScript(''),
    '/sandboxed': [
      'text/html',
      '<!doctype html><iframe sandbox="allow-scripts allow-forms" srcdoc="<p>null origin"></iframe><iframe src="data:text/html,<p>data"></iframe>',
    ],
  });
  stack = await startStack({
    serveFlags: ['--log-level', 'debug'],
    chrome: {
      args: [
        `--host-resolver-rules=MAP ${attackerHost} 127.0.0.1, MAP *.${attackerHost} 127.0.0.1`,
        // --disable-features turns off Chrome's checks of requests to local addresses, so that only the daemon's own
        // checks apply.
        '--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests,PrivateNetworkAccessSendPreflights,PrivateNetworkAccessRespectPreflightResults',
      ],
    },
  });
});
after(async () => {
  attackerSite?.close();
  await stack?.close();
});

async function tryAllRequests(target: Page | Frame, baseUrl: string): Promise<unknown> {
  const attackScript = readScript('reach.js').trim().replace(/;$/, '');
  return target.evaluate(`(${attackScript})(${JSON.stringify(baseUrl)}, ${JSON.stringify(stack.token)})`);
}

/** The page must read no response, and the daemon must reject each request. */
async function assertRequestsRejected(target: Page | Frame, baseUrl: string): Promise<void> {
  const { context } = stack.chrome;
  const page = 'page' in target ? target.page() : target;
  // A frame in the same process as its page has no separate DevTools session.
  const session = await context.newCDPSession(target).catch(() => context.newCDPSession(page));
  const urls = new Map<string, string>();
  const requestAnswers: { requestId: string; statusCode: number }[] = [];
  const listStatuses = () =>
    requestAnswers.flatMap((answer) => (urls.get(answer.requestId)?.startsWith(baseUrl) ? [answer.statusCode] : []));
  // The DevTools event responseReceivedExtraInfo also reports the responses that CORS hides from the page.
  session.on('Network.responseReceivedExtraInfo', (answer) => requestAnswers.push(answer));
  session.on('Network.requestWillBeSent', ({ requestId, request }) => urls.set(requestId, request.url));
  await session.send('Network.enable');
  assert.deepEqual(await tryAllRequests(target, baseUrl), []);
  await waitFor('more than 50 answers of the server', () => listStatuses().length > 50);
  const acceptedStatuses = listStatuses().filter((status) => !/^(40[0134567]|421|426)$/.test(String(status)));
  assert.deepEqual(acceptedStatuses, [], 'the server must reject every request');
  const status = await stack.runCli('status', '--json');
  assert.doesNotMatch(status.stdout, /"name":"evil"/);
  assert.equal(JSON.parse(status.stdout).browsers.length, 1);
  assert.deepEqual(await stack.listCalls(), []);
}

test('origin: a page of another origin reads and changes nothing with fetch, forms, images, scripts, frames, beacons, EventSource and WebSocket', async () => {
  const page = await stack.chrome.context.newPage();
  await page.goto(`http://${attackerHost}:${attackerSite.port}/evil`);
  await assertRequestsRejected(page, `http://127.0.0.1:${stack.port}`);
  await page.close();
});

test('origin: a page on another port of this machine reads and changes nothing', async () => {
  const page = await stack.chrome.context.newPage();
  await page.goto(`${attackerSite.origin}/evil`);
  await assertRequestsRejected(page, `http://127.0.0.1:${stack.port}`);
  await page.close();
});

test('origin: sandboxed frames and data: frames, whose origin is null, read and change nothing', async () => {
  const page = await stack.chrome.context.newPage();
  await page.goto(`http://${attackerHost}:${attackerSite.port}/sandboxed`);
  for (const frame of page.frames().slice(1)) await assertRequestsRejected(frame, `http://127.0.0.1:${stack.port}`);
  await page.close();
});

test('origin: a page whose host name was rebound to the server (DNS rebinding) gets only refusals', async () => {
  const page = await stack.chrome.context.newPage();
  // Simulates DNS rebinding: the page's host name first resolved to the attacker's server, and now resolves to the
  // daemon.
  await page.route(`http://rebound.${attackerHost}:${stack.port}/start`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>rebound</title>' }),
  );
  await page.goto(`http://rebound.${attackerHost}:${stack.port}/start`);
  const requestResults: unknown = await tryAllRequests(page, `http://rebound.${attackerHost}:${stack.port}`);
  const requestAnswers = Array.isArray(requestResults) ? requestResults.map(String) : [];
  assert.ok(requestAnswers.length > 50, `the page read ${requestAnswers.length} answers, want more than 50`);
  const refusalPattern =
    /: (421 .*Host header is not this machine|403 \{"error":"This host name is not allowed|405 \{"error":"This is a WebSocket)/;
  assert.deepEqual(
    requestAnswers.filter((line) => !refusalPattern.test(line)),
    [],
  );
  await page.close();
});

test('origin: a page that opens the server in a window or a frame cannot read the document', async () => {
  const page = await stack.chrome.context.newPage();
  await page.goto(`http://${attackerHost}:${attackerSite.port}/evil`);
  const visibleTexts = await page.evaluate(async (baseUrl) => {
    const texts: string[] = [];
    for (const path of ['/status', '/healthz', '/mcp']) {
      const popupWindow = window.open(baseUrl + path);
      const frame = document.createElement('iframe');
      frame.src = baseUrl + path;
      document.documentElement.append(frame);
      await new Promise((resolve) => setTimeout(resolve, 300));
      for (const windowObject of [popupWindow, frame.contentWindow]) {
        try {
          texts.push(String(windowObject?.document.body.textContent));
        } catch {
          // The browser blocks access to a document of another origin.
        }
      }
      popupWindow?.close();
    }
    return texts.filter((visibleText) => visibleText !== '' && visibleText !== 'undefined' && visibleText !== 'null');
  }, `http://127.0.0.1:${stack.port}`);
  assert.deepEqual(visibleTexts, []);
  await page.close();
});

test('origin: refused requests do not flood the log, and the server still accepts calls', async () => {
  const logLines = stack.daemon.stderr().split('\n');
  assert.ok(
    logLines.filter((line) => line.includes('connection refused')).length < 30,
    'the log must have fewer than 30 lines about refused connections',
  );
  assert.doesNotMatch(stack.daemon.stderr(), new RegExp(stack.token));
  const client = await stack.connectHttp();
  assert.deepEqual((await client.call('messages__echo', { value: 1 })).structured, { value: 1 });
  const statusCommand = startOpentabs(['status'], stack.env);
  assert.equal((await statusCommand.commandResult).code, 0);
  await stopProcess(statusCommand);
});

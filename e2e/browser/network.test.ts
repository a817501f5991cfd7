/**
 * The network tools show the requests of a page without secrets, and change the responses that the page
 * receives.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import test, { after, before } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { type BrowserFixture, startBrowserFixture } from './browser-fixture.ts';

let fixture: BrowserFixture;
let apiServer: Server;
let apiPort: number;
const sockets = new Set<Duplex>();

before(async () => {
  apiServer = createServer(serveApi);
  apiServer.on('upgrade', echoSocketMessages);
  await new Promise<void>((resolve) => apiServer.listen(0, resolve));
  const address = apiServer.address();
  apiPort = typeof address === 'object' && address ? address.port : 0;
  fixture = await startBrowserFixture('--debugger');
});
after(async () => {
  for (const socket of sockets) socket.destroy();
  apiServer.close();
  apiServer.closeAllConnections();
  await fixture.close();
});

function serveApi(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://api');
  response.setHeader('access-control-allow-origin', request.headers.origin ?? '*');
  response.setHeader('access-control-allow-headers', '*, authorization');
  response.setHeader('cache-control', 'no-store');
  response.setHeader('timing-allow-origin', '*');
  if (url.pathname === '/old') {
    response.writeHead(302, { location: '/older' }).end();
    return;
  }
  if (url.pathname === '/older') {
    response.writeHead(307, { location: '/new?sig=S3CRETsignature' }).end();
    return;
  }
  response.setHeader('content-type', 'application/json');
  response.setHeader('set-cookie', 'sid=S3CRETcookie; HttpOnly');
  response.setHeader('x-refresh-token', 'S3CRETheader');
  response.end(JSON.stringify({ path: url.pathname, access_token: 'S3CRETbody', items: [1, 2, 3] }));
}

function echoSocketMessages(request: IncomingMessage, socket: Duplex): void {
  sockets.add(socket);
  const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const acceptHeader = createHash('sha1').update(key).digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${acceptHeader}\r\n\r\n`,
  );
  socket.on('error', () => undefined);
  socket.on('data', (frame: Buffer) => {
    const payloadLength = (frame[1] ?? 0) & 0x7f;
    if ((frame[0] ?? 0) !== 0x81) return;
    const messageText = Buffer.from(
      frame.subarray(6, 6 + payloadLength).map((byte, i) => byte ^ (frame[2 + (i % 4)] ?? 0)),
    );
    socket.write(Buffer.concat([Buffer.from([0x81, payloadLength]), messageText]));
  });
}

const makeApiUrl = (path: string) => `http://127.0.0.1:${apiPort}${path}`;

async function openPage(path: string, body: string): Promise<number> {
  fixture.setPage(path, `<!doctype html><link rel="icon" href="data:,"><title>${path}</title>${body}`);
  return await fixture.open(path);
}

async function startRecording(tabId: number, title: string): Promise<void> {
  const firstList = await fixture.callTool('browser_network_requests', {}, tabId);
  assert.match(firstList.text ?? '', /^Recording of requests begins now\./);
  await fixture.callTool('browser_navigate', { go: 'reload' }, tabId);
  await waitForTitle(tabId, title);
}

async function waitForTitle(tabId: number, title: string): Promise<void> {
  await waitFor(
    `the title ${title}`,
    async () => (await fixture.callTool('browser_network_requests', {}, tabId)).page?.title === title,
  );
}

async function runScriptInPage(path: string, script: string): Promise<unknown> {
  return await (await fixture.findPage(`${fixture.origin}${path}`)).evaluate(script);
}

function readRequestNumber(content: string, requestText: string): number {
  const matchingLine = content.split('\n').find((messageText) => messageText.includes(requestText));
  if (matchingLine === undefined) throw new Error(`no request with ${requestText} in:\n${content}`);
  return Number.parseInt(matchingLine, 10);
}

test('the first call lists performance entries; then redirects, frames, workers and static files are recorded', async () => {
  fixture.setPage('/frame', '<!doctype html><script>fetch("/from-frame").then((r) => r.text())</script>');
  const tabId = await openPage(
    '/shop',
    `<img src="/picture.png"><iframe src="${fixture.otherOrigin}/frame"></iframe>
     <script>
       const source = 'fetch("${makeApiUrl('/from-worker')}").then((r) => r.text()).then(() => postMessage(1))';
       const worker = new Worker(URL.createObjectURL(new Blob([source])));
       const worked = new Promise((resolve) => { worker.onmessage = resolve; });
       const fetched = fetch("${makeApiUrl('/old')}").then((r) => r.text());
       Promise.all([worked, fetched]).then(() => { document.title = 'done'; });
     </script>`,
  );
  await waitFor('the page to be done', async () => (await runScriptInPage('/shop', 'document.title')) === 'done');
  const firstList = await fixture.callTool('browser_network_requests', {}, tabId);
  assert.match(firstList.content ?? '', /^- 200 navigation .* \/shop$/m);
  assert.match(firstList.content ?? '', new RegExp(`^- \\d+ fetch .* ${makeApiUrl('/old')}$`, 'm'));
  await fixture.callTool('browser_navigate', { go: 'reload' }, tabId);
  await waitForTitle(tabId, 'done');
  const requestList = await waitFor('the request of the frame', async () => {
    const output = await fixture.callTool('browser_network_requests', {}, tabId);
    return /GET 404 fetch .*\/from-frame$/m.test(output.content ?? '') && output;
  });
  const content = requestList.content ?? '';
  assert.match(requestList.text ?? '', /^\d+ requests\. Not listed: .*1 image/);
  for (const matchingLine of [
    /^\d+ GET 200 document [\d.]+ K?B \d+ ms \/shop$/m,
    /^\d+ GET 302 fetch .* http:\/\/127\.0\.0\.1:\d+\/old$/m,
    /^\d+ GET 307 fetch .*\/older$/m,
    /^\d+ GET 200 fetch .*\/new\?sig=\[masked\]$/m,
    /^\d+ GET 200 document .*localhost.*\/frame$/m,
    /^\d+ GET 404 fetch .*localhost.*\/from-frame$/m,
    /^\d+ GET 200 fetch .*\/from-worker$/m,
  ])
    assert.match(content, matchingLine);
  assert.equal(content.match(/\/from-worker/g)?.length, 1);
  const allRequests = await fixture.callTool('browser_network_requests', { static: true, filter: 'picture' }, tabId);
  assert.match(allRequests.content ?? '', /^\d+ GET 404 image .* \/picture\.png$/);
  const lastNumber = readRequestNumber(content, '/new?');
  const recentRequests = await fixture.callTool(
    'browser_network_requests',
    { since: lastNumber - 1, types: ['Fetch'] },
    tabId,
  );
  assert.equal(readRequestNumber(recentRequests.content ?? '', '/new?'), lastNumber);
  const frames = { _frames: { localhost: false } };
  const allowedRequests = await fixture.callTool('browser_network_requests', frames, tabId);
  assert.doesNotMatch(allowedRequests.content ?? '', /localhost/);
  assert.match(allowedRequests.content ?? '', /\/from-worker$/m);
  const hiddenRequestNumber = readRequestNumber(content, '/from-frame');
  const refusedOutcome = await fixture.callExpectingFailure(
    'browser_network_request',
    { index: hiddenRequestNumber, ...frames },
    tabId,
  );
  assert.equal(refusedOutcome.code, 'not_found');
});

test('request details contain headers, bodies and times, but no secrets', async () => {
  const tabId = await openPage(
    '/secrets',
    `<script>(async () => {
       const secret = 'S3C' + 'RET'; // the body of the page must not contain the word
       const fetch = async (...args) => (await window.fetch(...args)).text();
       await fetch("${makeApiUrl('/login?next=%2Fhome&api_key=')}" + secret, { method: 'POST', headers: { authorization: 'Bearer ' + secret },
         body: new URLSearchParams({ user: 'ada', password: secret }) });
       const form = new FormData(); form.set('name', 'ada'); form.set('password', secret);
       await fetch("${makeApiUrl('/form')}", { method: 'POST', body: form });
       await fetch("${makeApiUrl('/json')}", { method: 'POST', body: JSON.stringify({ user: 'ada', 'newPassword': secret + '\\"json' }) });
       document.title = 'done';
     })()</script>`,
  );
  await startRecording(tabId, 'done');
  const { content = '' } = await fixture.callTool('browser_network_requests', {}, tabId);
  const answerTexts = [content];
  const index = readRequestNumber(content, '/login?next');
  const requestDetails = await fixture.callTool('browser_network_request', { index }, tabId);
  for (const matchingLine of [
    /^POST http:.*\/login\?next=%2Fhome&api_key=\[masked\]$/m,
    /^started \d{4}-.*, \d+ ms, .* received$/m,
    /^phases: .*wait \d+ ms/m,
    /^ {2}authorization: Bearer \[masked\]$/im,
    /^answer: 200 OK \(http\/1\.1, 127\.0\.0\.1:\d+\)$/m,
    /^ {2}set-cookie: sid=\[masked\]; HttpOnly$/im,
    /^ {2}x-refresh-token: \[masked\]$/im,
    /^requestBody:\nuser=ada&password=\[masked\]$/m,
    /^responseBody:\n\{"path":"\/login","access_token":"\[masked\]","items":\[1,2,3\]\}$/m,
  ])
    assert.match(requestDetails.content ?? '', matchingLine);
  for (const path of ['/form', '/json']) {
    const requestBodyOutcome = await fixture.callTool(
      'browser_network_request',
      { index: readRequestNumber(content, path), part: 'requestBody' },
      tabId,
    );
    assert.match(requestBodyOutcome.content ?? '', /ada[\s\S]*\[masked\]/);
    answerTexts.push(requestBodyOutcome.content ?? '');
  }
  const { file, text: messageText } = await fixture.callTool('browser_har_export', { bodies: true }, tabId);
  assert.match(messageText ?? '', /^HAR of \d+ requests/);
  const harDocument = JSON.parse(file?.text ?? '');
  const harEntry = harDocument.log.entries.find((entry: { request: { url: string } }) =>
    entry.request.url.includes('/login'),
  );
  assert.equal(file?.extension, 'har');
  assert.equal(harEntry.request.postData.text, 'user=ada&password=[masked]');
  assert.equal(harEntry.response.content.mimeType, 'application/json');
  assert.ok(harEntry.timings.wait >= 0 && harEntry.time > 0);
  for (const outputText of [...answerTexts, requestDetails.content ?? '', file?.text ?? ''])
    assert.doesNotMatch(outputText, /S3CRET/);
});

test('requests that a tab sent while it showed another site are not listed', async () => {
  const tabId = await openPage('/first', '<script>fetch("/mine").then(() => { document.title = "mine"; })</script>');
  await startRecording(tabId, 'mine');
  const requestsBefore = (await fixture.callTool('browser_network_requests', {}, tabId)).content ?? '';
  const index = readRequestNumber(requestsBefore, '/mine');
  fixture.setPage('/second', '<!doctype html><link rel="icon" href="data:,"><title>second</title>');
  await fixture.callTool('browser_navigate', { url: `${fixture.otherOrigin}/second` }, tabId);
  const otherList = (await fixture.callTool('browser_network_requests', {}, tabId)).content ?? '';
  assert.match(otherList, /\/second$/);
  assert.doesNotMatch(otherList, /mine|first/);
  assert.equal((await fixture.callExpectingFailure('browser_network_request', { index }, tabId)).code, 'not_found');
  await fixture.callTool('browser_navigate', { url: `${fixture.origin}/first` }, tabId);
  const requestsAfterReturn = (await fixture.callTool('browser_network_requests', {}, tabId)).content ?? '';
  assert.equal(readRequestNumber(requestsAfterReturn, '/mine'), index);
  assert.doesNotMatch(requestsAfterReturn, /second/);
});

test('WebSocket messages are recorded without secrets', async () => {
  const tabId = await openPage(
    '/socket',
    `<script>const socket = new WebSocket("${makeApiUrl('/live?token=S3CRETsocket').replace('http', 'ws')}");
       socket.onopen = () => socket.send(JSON.stringify({ hello: 1, token: 'S3CRETmessage' }));
       socket.onmessage = () => { document.title = 'done'; };</script>`,
  );
  await startRecording(tabId, 'done');
  const { text: messageText = '', content = '' } = await fixture.callTool('browser_websocket_messages', {}, tabId);
  assert.match(messageText, /^1 sockets, 2 messages\./);
  assert.match(content, /^socket 1 open 2 messages ws:.*\/live\?token=\[masked\]$/m);
  assert.match(content, /^1 [\d:.]+ socket 1 sent \{"hello":1,"token":"\[masked\]"\}$/m);
  assert.match(content, /^2 [\d:.]+ socket 1 received \{"hello":1,"token":"\[masked\]"\}$/m);
  const recentMessages = await fixture.callTool('browser_websocket_messages', { since: 1 }, tabId);
  assert.doesNotMatch(recentMessages.content ?? '', / sent /);
  const { file } = await fixture.callTool('browser_har_export', {}, tabId);
  assert.equal(JSON.parse(file?.text ?? '').log._webSockets[0].messages.length, 2);
  assert.doesNotMatch(content + (file?.text ?? ''), /S3CRET/);
});

const fetchText = (url: string) =>
  `fetch('${url}').then((r) => r.text().then((t) => r.status + ' ' + t), (e) => 'failed: ' + e.message)`;

test('request rules answer and abort requests only of the site for which the agent added the rules', async () => {
  fixture.setPage('/inner', '<!doctype html><title>inner</title>');
  const tabId = await openPage('/routes', `<iframe src="${fixture.otherOrigin}/inner"></iframe>`);
  const newRoute = {
    action: 'add',
    pattern: '*/items*',
    status: 201,
    body: '{"items":["é"]}',
    headers: { 'x-mock': 'yes' },
  };
  const addedRoute = await fixture.callTool('browser_route', newRoute, tabId);
  assert.match(
    addedRoute.text ?? '',
    /^Added rule 1\. It applies to requests of documents of http:\/\/127\.0\.0\.1:\d+, not to those of workers, until/,
  );
  await fixture.callTool('browser_route', { action: 'add', pattern: makeApiUrl('/ads?x=1'), abort: true }, tabId);
  assert.equal(await runScriptInPage('/routes', fetchText('/items?page=2')), '201 {"items":["é"]}');
  assert.equal(await runScriptInPage('/routes', fetchText(makeApiUrl('/items'))), '201 {"items":["é"]}');
  assert.equal(await runScriptInPage('/routes', fetchText(makeApiUrl('/ads?x=1'))), 'failed: Failed to fetch');
  assert.match(String(await runScriptInPage('/routes', fetchText(makeApiUrl('/adsx')))), /^200 /);
  const page = await fixture.findPage(`${fixture.origin}/routes`);
  const frame = page.frames().find((harEntry) => harEntry.url().includes('/inner'));
  assert.match(String(await frame?.evaluate(fetchText('/items'))), /^404 /);
  const requestList = await fixture.callTool('browser_route', { action: 'list' }, tabId);
  assert.match(
    requestList.content ?? '',
    /^rule 2 .*\/ads\?x=1: abort; 1 requests matched\nrule 1 \*\/items\*: answer 201, .* 2 requests matched$/,
  );
  for (const args of [
    { action: 'add', pattern: '*' },
    { action: 'add', abort: true },
    { ...newRoute, abort: true },
    { ...newRoute, status: 99 },
  ])
    assert.equal((await fixture.callExpectingFailure('browser_route', args, tabId)).code, 'invalid_arguments');
  const removedRoute = await fixture.callTool('browser_route', { action: 'remove' }, tabId);
  assert.match(removedRoute.text ?? '', /^Removed 2 rules\./);
  assert.match(String(await runScriptInPage('/routes', fetchText('/items'))), /^404 /);
});

test('a request that a rule pauses does not hang when the worker stops', async () => {
  const tabId = await openPage('/stopped', 'Stopped');
  await fixture.callTool('browser_route', { action: 'add', pattern: '*/items', body: 'mock' }, tabId);
  assert.equal(await runScriptInPage('/stopped', fetchText('/items')), '200 mock');
  await fixture.callTool('browser_network_requests', {}, tabId);
  const page = await fixture.findPage(`${fixture.origin}/stopped`);
  await fixture.chrome.stopWorker();
  const fetchedAnswer = await page.evaluate(fetchText('/items'));
  assert.match(String(fetchedAnswer), /^404 /);
  await waitFor(
    'the worker to restart',
    async () => (await fixture.server.request('tab.describe', {})).result !== undefined,
  );
  const requestList = await fixture.callTool('browser_route', { action: 'list' }, tabId);
  assert.equal(requestList.content, 'no rules');
});

test('the network of a tab is offline or slow until the client resets the conditions', async () => {
  const tabId = await openPage('/slow', 'Slow');
  const offlineOutcome = await fixture.callTool('browser_network_conditions', { preset: 'offline' }, tabId);
  assert.match(offlineOutcome.text ?? '', /^The network of the tab: offline, until/);
  assert.equal(await runScriptInPage('/slow', fetchText('/x')), 'failed: Failed to fetch');
  await fixture.callTool('browser_network_conditions', { latency: 700 }, tabId);
  const timedFetchCode = `(async () => { const t = performance.now(); await fetch('/x'); return performance.now() - t })()`;
  assert.ok(Number(await runScriptInPage('/slow', timedFetchCode)) >= 650);
  await fixture.callTool('browser_network_conditions', { preset: 'none' }, tabId);
  assert.match(String(await runScriptInPage('/slow', fetchText('/x'))), /^404 /);
  // The test waits for a fast request, because a busy machine may delay any single request.
  await waitFor('a fast request', async () => Number(await runScriptInPage('/slow', timedFetchCode)) < 650);
  assert.equal((await fixture.callExpectingFailure('browser_network_conditions', {}, tabId)).code, 'invalid_arguments');
});

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Fields } from '../../../record.ts';
import type { DebuggerSession } from '../debugger/debuggers.ts';
import { MaxBodyBytes, MaxRequests, NetworkRecorder } from './recorder.ts';

const site = 'https://shop.example';

async function makeRecorder(bodyByRequest: Readonly<Record<string, string>> = {}): Promise<NetworkRecorder> {
  const sendCommand = async (method: string, params: Fields = {}): Promise<Fields> => {
    if (method === 'Page.getFrameTree') {
      const childFrames = [{ frame: { id: 'inner', url: 'about:srcdoc' } }];
      return {
        frameTree: {
          frame: { id: 'top', url: `${site}/` },
          childFrames: [{ frame: { id: 'ads', url: 'https://ads.example/' }, childFrames }],
        },
      };
    }
    const body = bodyByRequest[String(params.requestId)];
    if (body === undefined) throw new Error('No resource with given identifier found');
    return { body, base64Encoded: false };
  };
  const session: DebuggerSession = {
    send: sendCommand,
    onEvent: () => () => undefined,
    onChildTarget: () => () => undefined,
    watchChildren: async () => () => undefined,
  };
  const recorder = new NetworkRecorder(session, `${site}/`);
  await recorder.start();
  return recorder;
}

interface SentRequest {
  readonly url?: string;
  readonly type?: string;
  readonly frameId?: string;
  readonly documentURL?: string;
  readonly childId?: string;
  readonly redirectResponse?: Fields;
}

function begin(recorder: NetworkRecorder, requestId: string, sentFields: SentRequest = {}): void {
  const {
    url = `${site}/${requestId}`,
    type = 'Fetch',
    frameId = 'top',
    documentURL = `${site}/`,
    childId = '',
  } = sentFields;
  const redirectFields = sentFields.redirectResponse ? { redirectResponse: sentFields.redirectResponse } : {};
  const params = {
    requestId,
    type,
    frameId,
    documentURL,
    timestamp: 1,
    wallTime: 1000,
    loaderId: type === 'Document' ? requestId : 'l',
  };
  recorder.receive(
    'Network.requestWillBeSent',
    { ...params, ...redirectFields, request: { url, method: 'GET', headers: {} } },
    childId,
  );
}

function finishRequest(recorder: NetworkRecorder, requestId: string, encodedDataLength = 10): void {
  const response = { status: 200, mimeType: 'text/plain', headers: {} };
  recorder.receive('Network.responseReceived', { requestId, response }, '');
  recorder.receive('Network.loadingFinished', { requestId, timestamp: 1.5, encodedDataLength }, '');
}

test('the recorder records each redirect as a separate request with the transferred headers', async () => {
  const recorder = await makeRecorder({ a: 'the answer' });
  begin(recorder, 'a');
  recorder.receive('Network.requestWillBeSentExtraInfo', { requestId: 'a', headers: { Cookie: 'first' } }, '');
  recorder.receive(
    'Network.responseReceivedExtraInfo',
    { requestId: 'a', statusCode: 302, headers: { location: '/b' } },
    '',
  );
  recorder.receive('Network.requestWillBeSentExtraInfo', { requestId: 'a', headers: { Cookie: 'second' } }, '');
  begin(recorder, 'a', { url: `${site}/b`, redirectResponse: { status: 302, headers: {} } });
  recorder.receive(
    'Network.responseReceivedExtraInfo',
    { requestId: 'a', statusCode: 304, headers: { wrong: 'yes' } },
    '',
  );
  finishRequest(recorder, 'a');
  await recorder.waitForPendingBodies();
  const requestSummaries = recorder.requests.map(
    ({ number: requestNumber, url, headers, answer: requestAnswer, body }) => [
      requestNumber,
      url,
      headers.Cookie,
      requestAnswer?.status,
      requestAnswer?.headers,
      body?.text,
    ],
  );
  assert.deepEqual(requestSummaries, [
    [1, `${site}/a`, 'first', 302, { location: '/b' }, undefined],
    [2, `${site}/b`, 'second', 200, {}, 'the answer'],
  ]);
  assert.equal(recorder.requests[1]?.durationMs, 500);
});

test('a recorded request contains the origins of the page and of the frame that sent the request', async () => {
  const recorder = await makeRecorder();
  begin(recorder, 'script');
  begin(recorder, 'ad', { frameId: 'ads', documentURL: 'https://ads.example/' });
  begin(recorder, 'inner', { frameId: 'inner', documentURL: 'about:srcdoc' });
  begin(recorder, 'next', { type: 'Document', url: 'https://other.example/' });
  begin(recorder, 'late');
  recorder.setPage('https://other.example/');
  begin(recorder, 'ad2', { frameId: 'ads', documentURL: 'https://ads.example/', childId: 'c' });
  begin(recorder, 'worker', { frameId: '', documentURL: 'https://other.example/w.js', childId: 'w' });
  begin(recorder, 'worker', { frameId: '', documentURL: 'https://other.example/w.js' });
  await recorder.waitForPendingBodies();
  assert.deepEqual(
    recorder.requests.map(({ id, page, frame }) => [id, page, frame]),
    [
      ['script', site, site],
      ['ad', site, 'https://ads.example'],
      ['inner', site, 'https://ads.example'],
      ['next', 'https://other.example', 'https://other.example'],
      ['late', site, site],
      ['ad2', 'https://other.example', 'https://ads.example'],
      ['worker', 'https://other.example', 'https://other.example'],
    ],
  );
});

test('the recorder drops the oldest requests and bodies, beginning with bodies of static files', async () => {
  const largeBody = 'x'.repeat(MaxBodyBytes / 2);
  const recorder = await makeRecorder({ data: largeBody, image: largeBody, more: largeBody, last: 'y' });
  begin(recorder, 'data');
  finishRequest(recorder, 'data');
  begin(recorder, 'image', { type: 'Image' });
  finishRequest(recorder, 'image');
  await recorder.waitForPendingBodies();
  begin(recorder, 'more');
  finishRequest(recorder, 'more');
  await recorder.waitForPendingBodies();
  const listIdsWithBody = () => recorder.requests.filter(({ body }) => body).map(({ id }) => id);
  assert.deepEqual(listIdsWithBody(), ['data', 'more']);
  begin(recorder, 'last');
  finishRequest(recorder, 'last');
  await recorder.waitForPendingBodies();
  assert.deepEqual([listIdsWithBody(), recorder.droppedBodies], [['more', 'last'], 2]);
  assert.match(recorder.requests[0]?.bodyNote ?? '', /dropped/);
  begin(recorder, 'huge');
  finishRequest(recorder, 'huge', MaxBodyBytes + 1);
  begin(recorder, 'gone');
  finishRequest(recorder, 'gone');
  await recorder.waitForPendingBodies();
  assert.deepEqual(
    recorder.requests.slice(-2).map(({ bodyNote }) => bodyNote),
    ['the body is larger than 15 MB', 'Chrome has not kept the body'],
  );
  for (let i = 0; i < MaxRequests; i++) begin(recorder, `r${i}`);
  assert.deepEqual(
    [recorder.requests.length, recorder.droppedRequests, recorder.requests[0]?.number],
    [MaxRequests, 6, 7],
  );
});

test("the recorder never drops an open socket, and reads the socket's document from the Origin header", async () => {
  const recorder = await makeRecorder();
  const receiveEvent = (method: string, params: Fields) => recorder.receive(`Network.${method}`, params, '');
  receiveEvent('webSocketCreated', { requestId: 's', url: 'wss://live.shop.example/' });
  receiveEvent('webSocketWillSendHandshakeRequest', {
    requestId: 's',
    request: { headers: { Origin: 'https://ads.example' } },
  });
  for (let i = 0; i < 600; i++) {
    receiveEvent('webSocketCreated', { requestId: `short${i}`, url: 'wss://x.example/' });
    receiveEvent('webSocketClosed', { requestId: `short${i}` });
  }
  receiveEvent('webSocketFrameReceived', { requestId: 's', response: { opcode: 1, payloadData: 'hello' } });
  receiveEvent('webSocketFrameReceived', { requestId: 'unknown', response: { opcode: 1, payloadData: 'from before' } });
  begin(recorder, 'events', { type: 'EventSource' });
  receiveEvent('eventSourceMessageReceived', { requestId: 'events', data: 'tick' });
  const messageSummaries = recorder.sockets.messages.map(({ number: requestNumber, data: messageData, socket }) => [
    requestNumber,
    messageData,
    socket.frame,
  ]);
  assert.deepEqual(messageSummaries, [
    [1, 'hello', 'https://ads.example'],
    [2, 'tick', site],
  ]);
  const payloadData = 'x'.repeat(3 << 20);
  receiveEvent('webSocketFrameSent', { requestId: 's', response: { opcode: 1, payloadData } });
  receiveEvent('webSocketFrameSent', { requestId: 's', response: { opcode: 1, payloadData } });
  assert.deepEqual([recorder.sockets.messages.length, recorder.sockets.droppedMessages], [1, 3]);
});

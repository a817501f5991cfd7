/**
 * A fake server for the extension. Tests use the fake server to bring the side panel into states that a real server
 * rarely causes.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';
import type { HelloParams, PluginInfo, ToolDispatchParams } from '../../wire/wire.gen.ts';
import { freePort } from '../harness/chromium.ts';

const key = 'key-of-the-fake-server';

/** FakeServer is a server for the link protocol of the extension. */
export interface FakeServer {
  /**
   * requests are the requests that the browser sent, except hello, ping, and the calls.history of an opened panel.
   */
  readonly requests: readonly { readonly method: string; readonly params: unknown }[];
  /** listTabs returns the tabs that the browser has reported with tab.sync and tab.changed. */
  listTabs(): readonly { readonly tabId: number; readonly url: string }[];
  /** version is the server version that a browser receives when it connects; "0.1.0" by default. */
  version: string;
  /** hello is the last hello message of the browser, or undefined before the first hello. */
  readonly hello: HelloParams | undefined;
  /** clearRequests empties requests. */
  clearRequests(): void;
  /**
   * answerRequest returns the result for a request of the browser; by default, an empty object. If answerRequest
   * throws, the request fails with the message of the error.
   */
  answerRequest: (method: string, params: unknown) => object;
  /** syncPlugins sends the message plugin.sync with the given plugins. */
  syncPlugins(plugins: readonly PluginInfo[]): void;
  /** request sends a request to the browser and resolves with its result. */
  request(method: string, params: object): Promise<Answer>;
  /** dispatchTool runs a tool in the browser. */
  dispatchTool(params: Partial<ToolDispatchParams> & Pick<ToolDispatchParams, 'plugin' | 'tool'>): ToolRun;
  /** notifyPanel sends a notification to an open panel. A panel that opens later gets the last notification of each method. */
  notifyPanel(method: string, params: object): void;
  close(): Promise<void>;
}

/** Answer is the browser's answer to a request. */
export interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly data?: unknown };
}

/** WaitingAnswer is a request that the browser has not answered. */
interface WaitingAnswer {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

/** ToolRun is a tool that the server has dispatched. */
export interface ToolRun {
  readonly id: string;
  /** ended resolves with the browser's answer. A result in parts is joined. */
  readonly ended: Promise<Answer>;
  /** reports are the progress reports so far. */
  readonly reports: readonly unknown[];
  /** partCount is the number of parts of the result so far. */
  readonly partCount: number;
  /** cancel cancels the call and resolves with the outcome. */
  cancel(reason: string): Promise<Answer>;
}

/**
 * startFakeServer starts a server and writes its address to the folder of an unpacked extension. Call startFakeServer
 * before the browser loads the extension.
 */
export async function startFakeServer(extension: string): Promise<FakeServer> {
  const port = await freePort();
  writeFileSync(join(extension, 'connection.json'), JSON.stringify({ port, key }));
  const requests: { method: string; params: unknown }[] = [];
  let currentSocket: WebSocket | undefined;
  let hello: HelloParams | undefined;
  let isPanelOpen = false;
  let plugins: readonly PluginInfo[] = [];
  let tabs: readonly { tabId: number; url: string }[] = [];
  const lastParams = new Map<string, object>();
  const sendNotification = (method: string, params: object) =>
    currentSocket?.send(JSON.stringify({ jsonrpc: '2.0', method, params }));
  const http = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ok: true, version: '0.1.0', pid: process.pid }));
  });
  const server = new WebSocketServer({ server: http, path: '/ws', handleProtocols: () => 'opentabs' });
  const sendRequest = (method: string, params: object) =>
    currentSocket?.send(JSON.stringify({ jsonrpc: '2.0', id: `s-${method}`, method, params }));
  const waitingAnswers = new Map<string, WaitingAnswer>();
  const toolEvents = new Map<string, { reports: unknown[]; parts: string[] }>();
  const send = (id: string, method: string, params: object) =>
    new Promise<Answer>((resolve, reject) => {
      if (!currentSocket) return reject(new Error('the browser has not connected'));
      waitingAnswers.set(id, { resolve, reject });
      currentSocket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  const receiveToolEvent = (method: unknown, params: unknown) => {
    const { dispatchId, reports = [], text } = Object(params);
    const events = toolEvents.get(dispatchId);
    if (method === 'tool.progress') events?.reports.push(...reports);
    if (method === 'tool.part') events?.parts.push(text);
  };
  const dispatchTool: FakeServer['dispatchTool'] = (params) => {
    const id = params.dispatchId ?? `call_${randomUUID()}`;
    const events = { reports: [], parts: [] };
    toolEvents.set(id, events);
    const defaults = { tabId: 0, documentId: '', maxResultBytes: 64 << 20, args: {} };
    const ended = send(id, 'tool.dispatch', { ...defaults, ...params, dispatchId: id }).then((answer) =>
      Object(answer.result).parts === undefined ? answer : { result: { output: JSON.parse(events.parts.join('')) } },
    );
    ended.catch(() => undefined); // a cancelled call has no ending
    return {
      id,
      ended,
      reports: events.reports,
      get partCount() {
        return events.parts.length;
      },
      cancel: (reason) => send(randomUUID(), 'tool.cancel', { dispatchId: id, reason }),
    };
  };
  const fakeServer: FakeServer = {
    requests,
    get hello() {
      return hello;
    },
    version: '0.1.0',
    request: (method, params) => send(randomUUID(), method, params),
    dispatchTool,
    clearRequests: () => requests.splice(0),
    answerRequest: () => ({}),
    listTabs: () => tabs,
    syncPlugins(nextPlugins) {
      plugins = nextPlugins;
      sendRequest('plugin.sync', { plugins });
    },
    notifyPanel(method, params) {
      lastParams.set(method, params);
      if (isPanelOpen || method === 'state.waiting') sendNotification(method, params);
    },
    close: async () => {
      for (const client of server.clients) client.terminate();
      server.close();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  server.on('connection', (socket, request) => {
    isPanelOpen = false;
    socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'challenge', params: makeChallenge(request, port) }));
    socket.on('close', () => {
      if (currentSocket === socket) currentSocket = undefined;
      for (const { reject } of waitingAnswers.values()) reject(new Error('the browser has disconnected'));
      waitingAnswers.clear();
    });
    socket.on('message', (data) => {
      const { id, method, params, result, error } = Object(JSON.parse(String(data)));
      if (method === 'state.watch') {
        isPanelOpen = Object(params).on === true;
        for (const [savedMethod, savedParams] of isPanelOpen ? lastParams : [])
          sendNotification(savedMethod, savedParams);
      }
      if (method === 'tab.sync') tabs = Object(params).tabs ?? [];
      if (method === 'tab.changed')
        tabs = [
          ...tabs.filter((tab) => tab.tabId !== Object(params).tabId),
          ...(Object(params).tab ? [Object(params).tab] : []),
        ];
      if (id === undefined) receiveToolEvent(method, params);
      if (id !== undefined && method === undefined) {
        waitingAnswers.get(id)?.resolve({ result, error });
        waitingAnswers.delete(id);
      }
      if (id === undefined || method === undefined) return;
      if (!['hello', 'ping', 'calls.history'].includes(method)) requests.push({ method, params });
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...makeReply(fakeServer, method, params) }));
      if (method !== 'hello') return;
      hello = params;
      // Before the answer to hello, the browser handles no requests.
      currentSocket = socket;
      sendRequest('plugin.sync', { plugins });
    });
  });
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
  return fakeServer;
}

/** makeChallenge returns the server's part of the handshake, as in wire/proof.go. */
function makeChallenge(request: IncomingMessage, port: number): { nonce: string; proof: string } {
  const offeredProtocols = request.headers['sec-websocket-protocol'] ?? '';
  const nonces = [/opentabs\.nonce\.(\w+)/.exec(offeredProtocols)?.[1], randomUUID()];
  const proof = createHmac('sha256', key).update(['opentabs link server', port, ...nonces].join('\n'));
  return { nonce: nonces[1] ?? '', proof: proof.digest('hex') };
}

function makeReply(fakeServer: FakeServer, method: string, params: unknown): object {
  if (method === 'hello') return { result: { protocol: 1, serverVersion: fakeServer.version } };
  if (method === 'ping') return { result: {} };
  try {
    return { result: fakeServer.answerRequest(method, params) };
  } catch (error) {
    return { error: { code: -32602, message: String(Object(error).message) } };
  }
}

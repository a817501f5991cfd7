/** Simulates a daemon to which the extension connects. */
import { createHmac, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';
import type { HelloParams, PluginInfo, ToolDispatchParams } from '../../wire/wire.gen.ts';
import { findFreePort } from '../harness/chromium.ts';

const key = 'key-of-the-fake-server';

export interface FakeServer {
  /** `requests` omits hello, ping, and the calls.history request that the panel sends when it opens. */
  readonly requests: readonly { readonly method: string; readonly params: unknown }[];
  listTabs(): readonly { readonly tabId: number; readonly url: string }[];
  version: string;
  readonly hello: HelloParams | undefined;
  clearRequests(): void;
  /** If answerRequest throws or rejects, the request fails with the message of the error. */
  answerRequest: (method: string, params: unknown) => object | Promise<object>;
  syncPlugins(plugins: readonly PluginInfo[]): void;
  request(method: string, params: object): Promise<DispatchResult>;
  dispatchTool(params: Partial<ToolDispatchParams> & Pick<ToolDispatchParams, 'plugin' | 'tool'>): DispatchedTool;
  /** A panel that opens later receives the last notification of each method. */
  notifyPanel(method: string, params: object): void;
  close(): Promise<void>;
}

export interface DispatchResult {
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly data?: unknown };
}

interface PendingRequest {
  resolve(answer: DispatchResult): void;
  reject(error: Error): void;
}

export interface DispatchedTool {
  readonly id: string;
  /** If the extension sends a large result in parts, the fake server joins the parts. */
  readonly dispatchAnswer: Promise<DispatchResult>;
  readonly reports: readonly unknown[];
  readonly partCount: number;
  cancel(reason: string): Promise<DispatchResult>;
}

/**
 * Call startFakeServer before the browser loads the extension, because startFakeServer writes files into the
 * extension's folder.
 */
export async function startFakeServer(extension: string): Promise<FakeServer> {
  const port = await findFreePort();
  writeFileSync(join(extension, 'connection.json'), JSON.stringify({ port, key }));
  const requests: { method: string; params: unknown }[] = [];
  let currentSocket: WebSocket | undefined;
  let hello: HelloParams | undefined;
  let isPanelOpen = false;
  let plugins: readonly PluginInfo[] = [];
  let tabs: readonly { tabId: number; url: string }[] = [];
  const lastParamsByMethod = new Map<string, object>();
  const sendNotification = (method: string, params: object) =>
    currentSocket?.send(JSON.stringify({ jsonrpc: '2.0', method, params }));
  const httpServer = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ok: true, version: '0.1.0', pid: process.pid }));
  });
  const server = new WebSocketServer({ server: httpServer, path: '/ws', handleProtocols: () => 'opentabs' });
  const sendRequest = (method: string, params: object) =>
    currentSocket?.send(JSON.stringify({ jsonrpc: '2.0', id: `s-${method}`, method, params }));
  const pendingRequests = new Map<string, PendingRequest>();
  const toolEvents = new Map<string, { reports: unknown[]; parts: string[] }>();
  const sendAndWait = (id: string, method: string, params: object) =>
    new Promise<DispatchResult>((resolve, reject) => {
      if (!currentSocket) return reject(new Error('the browser has not connected'));
      pendingRequests.set(id, { resolve, reject });
      currentSocket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  const recordToolEvent = (method: unknown, params: unknown) => {
    const { dispatchId, reports = [], text: resultText } = Object(params);
    const events = toolEvents.get(dispatchId);
    if (method === 'tool.progress') events?.reports.push(...reports);
    if (method === 'tool.part') events?.parts.push(resultText);
  };
  const dispatchTool: FakeServer['dispatchTool'] = (params) => {
    const id = params.dispatchId ?? `call_${randomUUID()}`;
    const events = { reports: [], parts: [] };
    toolEvents.set(id, events);
    const defaultParams = { tabId: 0, documentId: '', maxResultBytes: 64 << 20, args: {} };
    const dispatchParams = { ...defaultParams, ...params, dispatchId: id };
    const dispatchAnswer = sendAndWait(id, 'tool.dispatch', dispatchParams).then((answer) =>
      Object(answer.result).parts === undefined ? answer : { result: { output: JSON.parse(events.parts.join('')) } },
    );
    dispatchAnswer.catch(() => undefined); // a cancelled call never receives a response
    return {
      id,
      dispatchAnswer,
      reports: events.reports,
      get partCount() {
        return events.parts.length;
      },
      cancel: (reason) => sendAndWait(randomUUID(), 'tool.cancel', { dispatchId: id, reason }),
    };
  };
  const fakeServer: FakeServer = {
    requests,
    get hello() {
      return hello;
    },
    version: '0.1.0',
    request: (method, params) => sendAndWait(randomUUID(), method, params),
    dispatchTool,
    clearRequests: () => requests.splice(0),
    answerRequest: () => ({}),
    listTabs: () => tabs,
    syncPlugins(nextPlugins) {
      plugins = nextPlugins;
      sendRequest('plugin.sync', { plugins });
    },
    notifyPanel(method, params) {
      lastParamsByMethod.set(method, params);
      if (isPanelOpen || method === 'state.waiting') sendNotification(method, params);
    },
    close: async () => {
      for (const client of server.clients) client.terminate();
      server.close();
      await new Promise((resolve) => httpServer.close(resolve));
    },
  };
  server.on('connection', (socket, request) => {
    isPanelOpen = false;
    socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'challenge', params: makeChallenge(request, port) }));
    socket.on('close', () => {
      if (currentSocket === socket) currentSocket = undefined;
      for (const { reject } of pendingRequests.values()) reject(new Error('the browser has disconnected'));
      pendingRequests.clear();
    });
    socket.on('message', (messageData) => {
      const { id, method, params, result, error } = Object(JSON.parse(String(messageData)));
      if (method === 'state.watch') {
        isPanelOpen = Object(params).on === true;
        for (const [methodName, methodParams] of isPanelOpen ? lastParamsByMethod : [])
          sendNotification(methodName, methodParams);
      }
      if (method === 'tab.sync') tabs = Object(params).tabs ?? [];
      if (method === 'tab.changed')
        tabs = [
          ...tabs.filter((tab) => tab.tabId !== Object(params).tabId),
          ...(Object(params).tab ? [Object(params).tab] : []),
        ];
      if (id === undefined) recordToolEvent(method, params);
      if (id !== undefined && method === undefined) {
        pendingRequests.get(id)?.resolve({ result, error });
        pendingRequests.delete(id);
      }
      if (id === undefined || method === undefined) return;
      if (!['hello', 'ping', 'calls.history'].includes(method)) requests.push({ method, params });
      void makeReply(fakeServer, method, params).then((replyMessage) => {
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...replyMessage }));
        if (method !== 'hello') return;
        hello = params;
        // The extension handles no requests from the daemon before it receives the response to hello.
        currentSocket = socket;
        sendRequest('plugin.sync', { plugins });
      });
    });
  });
  await new Promise<void>((resolve) => httpServer.listen(port, '127.0.0.1', resolve));
  return fakeServer;
}

/** makeChallenge computes the fake daemon's part of the handshake in the same way as wire/proof.go. */
function makeChallenge(request: IncomingMessage, port: number): { nonce: string; proof: string } {
  const offeredSubprotocols = request.headers['sec-websocket-protocol'] ?? '';
  const nonces = [/opentabs\.nonce\.(\w+)/.exec(offeredSubprotocols)?.[1], randomUUID()];
  const proof = createHmac('sha256', key).update(['opentabs link server', port, ...nonces].join('\n'));
  return { nonce: nonces[1] ?? '', proof: proof.digest('hex') };
}

async function makeReply(fakeServer: FakeServer, method: string, params: unknown): Promise<object> {
  if (method === 'hello') return { result: { protocol: 1, serverVersion: fakeServer.version } };
  if (method === 'ping') return { result: {} };
  try {
    return { result: await fakeServer.answerRequest(method, params) };
  } catch (error) {
    return { error: { code: -32602, message: String(Object(error).message) } };
  }
}

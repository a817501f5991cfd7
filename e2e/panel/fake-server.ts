/** The server's end of the link, played by a test: for what the side panel has to draw, however hard it is to bring about. */
import { createHmac, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';
import type { PluginInfo } from '../../wire/wire.gen.ts';
import { freePort } from '../harness/chromium.ts';

const key = 'key-of-the-fake-server';

/** FakeServer is what an extension takes for opentabs. */
export interface FakeServer {
  /** asked are the requests of the browser, by method, but for hello and ping. */
  readonly asked: readonly { readonly method: string; readonly params: unknown }[];
  /** tabs are those that the browser says plugins match, by tab.sync and tab.changed. */
  tabs(): readonly { readonly tabId: number; readonly url: string }[];
  /** forget empties asked. */
  forget(): void;
  /** answer says what a request is answered with; by default with an empty object. Throw to refuse it. */
  answer: (method: string, params: unknown) => object;
  /** sync has the browser take these plugins, as in plugin.sync. */
  sync(plugins: readonly PluginInfo[]): void;
  /** tell sends a notification to a browser with an open panel, and again to one that comes back; the latest of each method wins. */
  tell(method: string, params: object): void;
  close(): Promise<void>;
}

/** startFakeServer starts one for the unpacked extension in a folder, which has to be loaded afterwards. */
export async function startFakeServer(extension: string): Promise<FakeServer> {
  const port = await freePort();
  writeFileSync(join(extension, 'connection.json'), JSON.stringify({ port, key }));
  const asked: { method: string; params: unknown }[] = [];
  let socket: WebSocket | undefined;
  let watching = false;
  let plugins: readonly PluginInfo[] = [];
  let tabs: readonly { tabId: number; url: string }[] = [];
  const told = new Map<string, object>();
  const send = (method: string, params: object) => socket?.send(JSON.stringify({ jsonrpc: '2.0', method, params }));
  const http = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ok: true, version: '0.1.0', pid: process.pid }));
  });
  const server = new WebSocketServer({ server: http, path: '/ws', handleProtocols: () => 'opentabs' });
  const ask = (method: string, params: object) =>
    socket?.send(JSON.stringify({ jsonrpc: '2.0', id: `s-${method}`, method, params }));
  const fake: FakeServer = {
    asked,
    forget: () => asked.splice(0),
    answer: () => ({}),
    tabs: () => tabs,
    sync(all) {
      plugins = all;
      ask('plugin.sync', { plugins });
    },
    tell(method, params) {
      told.set(method, params);
      if (watching || method === 'state.waiting') send(method, params);
    },
    close: async () => {
      for (const one of server.clients) one.terminate();
      server.close();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  server.on('connection', (opened, request) => {
    socket = opened;
    watching = false;
    opened.send(JSON.stringify({ jsonrpc: '2.0', method: 'challenge', params: challengeOf(request, port) }));
    opened.on('message', (data) => {
      const { id, method, params } = Object(JSON.parse(String(data)));
      if (method === 'state.watch') {
        watching = Object(params).on === true;
        for (const [known, last] of watching ? told : []) send(known, last);
      }
      if (method === 'tab.sync') tabs = Object(params).tabs ?? [];
      if (method === 'tab.changed')
        tabs = [
          ...tabs.filter((tab) => tab.tabId !== Object(params).tabId),
          ...(Object(params).tab ? [Object(params).tab] : []),
        ];
      if (id === undefined || method === undefined) return;
      if (method !== 'hello' && method !== 'ping') asked.push({ method, params });
      opened.send(JSON.stringify({ jsonrpc: '2.0', id, ...reply(fake, method, params) }));
      if (method === 'hello') ask('plugin.sync', { plugins });
    });
  });
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
  return fake;
}

/** challengeOf is the server's half of the handshake, as in wire/proof.go. */
function challengeOf(request: IncomingMessage, port: number): { nonce: string; proof: string } {
  const offered = request.headers['sec-websocket-protocol'] ?? '';
  const nonces = [/opentabs\.nonce\.(\w+)/.exec(offered)?.[1], randomUUID()];
  const proof = createHmac('sha256', key).update(['opentabs link server', port, ...nonces].join('\n'));
  return { nonce: nonces[1] ?? '', proof: proof.digest('hex') };
}

function reply(fake: FakeServer, method: string, params: unknown): object {
  if (method === 'hello') return { result: { protocol: 1, serverVersion: '0.1.0' } };
  if (method === 'ping') return { result: {} };
  try {
    return { result: fake.answer(method, params) };
  } catch (error) {
    return { error: { code: -32602, message: String(Object(error).message) } };
  }
}

/** Threat: another user's program that takes the server's port while it is away. The browser tells it nothing. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { WebSocketServer } from 'ws';
import { stopProcess } from '../harness/process.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';

let stack: Stack;

before(async () => {
  stack = await startStack();
});
after(async () => {
  await stack?.close();
});

/** Squatter is another program on the server's port. */
interface Squatter {
  /** told is all that it was sent, as text. */
  told(): string;
  /** sockets is how many WebSockets it has accepted. */
  sockets(): number;
  close(): Promise<void>;
}

/** squat listens on the server's port and answers as the server would: says is the first frame of its WebSocket. */
async function squat(says: string): Promise<Squatter> {
  let told = '';
  const sockets = new Set<Socket>();
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(`{"ok":true,"version":"0.1.0","pid":1,"proof":"${'0'.repeat(64)}"}`);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      told += String(chunk);
    });
  });
  const webSockets = new WebSocketServer({ server, path: '/ws', handleProtocols: () => 'opentabs' });
  let accepted = 0;
  webSockets.on('error', () => undefined);
  webSockets.on('connection', (opened) => {
    accepted++;
    opened.on('message', (frame) => {
      told += `frame ${String(frame)}`;
    });
    if (says) opened.send(says);
  });
  await waitFor('the port', () => listen(server, stack.port));
  return {
    told: () => told,
    sockets: () => accepted,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        webSockets.close();
        server.close(() => resolve());
      }),
  };
}

/** listen returns false while the port is taken. */
function listen(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const failed = () => resolve(false);
    server.once('error', failed);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', failed);
      resolve(true);
    });
  });
}

const challenge = JSON.stringify({
  jsonrpc: '2.0',
  method: 'challenge',
  params: { nonce: 'of-the-squatter0', proof: '0'.repeat(64) },
});

for (const [name, says] of [
  ['proves nothing', challenge],
  ['says that hello was answered', '{"jsonrpc":"2.0","id":"b1","result":{"protocol":1,"serverVersion":"0.1.0"}}'],
] as const) {
  test(`user: a program on the port while the server is away, which opens the socket and ${name}`, async (t) => {
    await stopProcess(stack.daemon);
    const squatter = await squat(says);
    t.after(squatter.close);
    await waitFor('the browser to try it', () => squatter.sockets() >= 3);
    const told = squatter.told();
    const { key } = JSON.parse(readFileSync(join(stack.extensionFolder, 'connection.json'), 'utf8'));
    assert.match(told, /opentabs\.nonce\.[0-9a-f]{32}/);
    for (const secret of [stack.token, String(key), 'opentabs.token', 'hello', 'browserId', 'frame ']) {
      assert.ok(!told.includes(secret), `it was told ${secret}`);
    }
    const nonces = told.match(/opentabs\.nonce\.[0-9a-f]{32}/g) ?? [];
    assert.equal(new Set(nonces).size, nonces.length, 'a nonce came twice');
    const panel = await stack.chrome.openPage(`chrome-extension://${stack.chrome.extensionId}/panel.html`);
    await panel
      .getByText(`Port ${stack.port} is in use by another program or another opentabs installation.`)
      .waitFor();
    await panel.close();
    await squatter.close();
    await stack.restartDaemon('SIGTERM');
    await stack.waitForPlugins('/');
    const client = await stack.connectHttp();
    assert.deepEqual((await client.call('messages__echo', { value: 1 })).structured, { value: 1 });
    // A client of HTTP sends its token to whatever listens, which docs/security.md says.
    await client.close();
  });
}

/** Threat: a program of another user listens on the stopped daemon's port to receive secrets of the extension. */
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

interface ImpostorServer {
  receivedText(): string;
  socketCount(): number;
  close(): Promise<void>;
}

/** startImpostor listens on the daemon's port and responds as the daemon would. */
async function startImpostor(firstFrame: string): Promise<ImpostorServer> {
  let receivedText = '';
  const sockets = new Set<Socket>();
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(`{"ok":true,"version":"0.1.0","pid":1,"proof":"${'0'.repeat(64)}"}`);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      receivedText += String(chunk);
    });
  });
  const webSockets = new WebSocketServer({ server, path: '/ws', handleProtocols: () => 'opentabs' });
  let acceptedCount = 0;
  webSockets.on('error', () => undefined);
  webSockets.on('connection', (webSocket) => {
    acceptedCount++;
    webSocket.on('message', (frame) => {
      receivedText += `frame ${String(frame)}`;
    });
    if (firstFrame) webSocket.send(firstFrame);
  });
  await waitFor("the impostor to listen on the server's port", () => canListen(server, stack.port));
  return {
    receivedText: () => receivedText,
    socketCount: () => acceptedCount,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        webSockets.close();
        server.close(() => resolve());
      }),
  };
}

function canListen(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const onError = () => resolve(false);
    server.once('error', onError);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', onError);
      resolve(true);
    });
  });
}

const challenge = JSON.stringify({
  jsonrpc: '2.0',
  method: 'challenge',
  params: { nonce: 'of-the-squatter0', proof: '0'.repeat(64) },
});

for (const [name, firstFrame] of [
  ['sends an invalid proof', challenge],
  ['answers hello without a proof', '{"jsonrpc":"2.0","id":"b1","result":{"protocol":1,"serverVersion":"0.1.0"}}'],
] as const) {
  test(`user: an impostor on the server's port that ${name} receives no secret from the browser`, async (t) => {
    await stopProcess(stack.daemon);
    const impostorServer = await startImpostor(firstFrame);
    t.after(impostorServer.close);
    await waitFor('three connections of the browser to the impostor', () => impostorServer.socketCount() >= 3);
    const receivedText = impostorServer.receivedText();
    const { key } = JSON.parse(readFileSync(join(stack.extensionFolder, 'connection.json'), 'utf8'));
    assert.match(receivedText, /opentabs\.nonce\.[0-9a-f]{32}/);
    for (const secret of [stack.token, String(key), 'opentabs.token', 'hello', 'browserId', 'frame ']) {
      assert.ok(!receivedText.includes(secret), `the impostor received the secret ${secret}, want no secrets`);
    }
    const nonceMatches = receivedText.match(/opentabs\.nonce\.[0-9a-f]{32}/g) ?? [];
    assert.equal(new Set(nonceMatches).size, nonceMatches.length, 'the impostor received a nonce twice');
    const panel = await stack.chrome.openPage(`chrome-extension://${stack.chrome.extensionId}/panel.html`);
    await panel
      .getByText(`Port ${stack.port} is in use by another program or another opentabs installation.`)
      .waitFor();
    await panel.close();
    await impostorServer.close();
    await stack.restartDaemon('SIGTERM');
    await stack.waitForPlugins('/');
    const client = await stack.connectHttp();
    assert.deepEqual((await client.call('messages__echo', { value: 1 })).structured, { value: 1 });
    await client.close();
  });
}

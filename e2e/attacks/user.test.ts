/** Threat: another user's program that takes the server's port while it is away. The browser tells it nothing. */
import assert from 'node:assert/strict';
import { createServer, type Server, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { stop } from '../harness/process.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/wait.ts';

let stack: Stack;

before(async () => {
  stack = await startStack();
});
after(async () => {
  await stack?.close();
});

/** squat listens on the server's port, answers every request as the server would, and notes all it is told. */
async function squat(): Promise<{ told: () => string; close(): Promise<void> }> {
  let told = '';
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      told += String(chunk);
      const body = `{"ok":true,"version":"0.1.0","pid":1,"proof":"${'0'.repeat(64)}"}`;
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    });
  });
  await until('the port', () => listen(server, stack.port));
  return {
    told: () => told,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
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

test('user: a program on the port while the server is away, and the browser looks for the server', async (t) => {
  await stop(stack.daemon);
  const squatter = await squat();
  t.after(squatter.close);
  await until('the browser to ask it', () => (squatter.told().match(/challenge=/g) ?? []).length >= 4);
  const told = squatter.told();
  assert.doesNotMatch(told, new RegExp(stack.token));
  assert.doesNotMatch(told, /Upgrade: websocket|opentabs\.token|hello/i);
  await squatter.close();
  await stack.restartDaemon('SIGTERM');
  await stack.live('/');
  const client = await stack.client();
  assert.deepEqual((await client.call('messages__echo', { value: 1 })).structured, { value: 1 });
});

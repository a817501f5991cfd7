import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { startProxy } from './proxy.ts';
import { pause, waitFor } from './wait.ts';

let echoServer: Server;
const serverSockets: Socket[] = [];

before(async () => {
  echoServer = createServer((socket) => {
    serverSockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => socket.write(chunk));
  });
  await new Promise<void>((resolve) => echoServer.listen(0, '127.0.0.1', resolve));
});
after(() => echoServer.close());

const isAddressInfo = (value: AddressInfo | string | null): value is AddressInfo =>
  typeof value === 'object' && value !== null;

async function startProxyToEcho() {
  const serverAddress = echoServer.address();
  assert.ok(isAddressInfo(serverAddress));
  const proxy = await startProxy(serverAddress.port);
  const openClientSocket = () => {
    const socket = connect(proxy.port, '127.0.0.1');
    const client = { socket, received: '', isClosed: false };
    socket.on('data', (chunk) => {
      client.received += String(chunk);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      client.isClosed = true;
    });
    return client;
  };
  return { proxy, openConnection: openClientSocket };
}

test('a stalled direction buffers bytes without closing either side, and resume forwards them in order', async () => {
  const { proxy, openConnection } = await startProxyToEcho();
  try {
    for (const stallDirection of ['up', 'down', 'both'] as const) {
      const client = openConnection();
      client.socket.write('1');
      await waitFor('the first echo through the proxy', () => client.received === '1');
      proxy.stallTraffic(stallDirection);
      client.socket.write('2');
      client.socket.write('3');
      const reconnectedClient = openConnection();
      reconnectedClient.socket.write('4');
      await pause(100);
      assert.equal(client.received + reconnectedClient.received, '1', stallDirection);
      assert.equal(client.isClosed || reconnectedClient.isClosed, false);
      proxy.resume(stallDirection);
      await waitFor(
        'both clients to receive the buffered bytes',
        () => client.received === '123' && reconnectedClient.received === '4',
      );
      client.socket.destroy();
      reconnectedClient.socket.destroy();
    }
    await waitFor('all connections of the proxy to be closed', () => proxy.openConnections === 0);
  } finally {
    await proxy.close();
  }
});

test('a stalled direction also delays the close of a socket', async () => {
  const { proxy, openConnection } = await startProxyToEcho();
  try {
    const client = openConnection();
    client.socket.write('1');
    await waitFor('the first echo through the proxy', () => client.received === '1');
    proxy.stallTraffic('down');
    serverSockets.at(-1)?.destroy();
    await pause(100);
    assert.equal(client.isClosed, false);
    proxy.resume('down');
    await waitFor("the client's connection to close", () => client.isClosed);
  } finally {
    await proxy.close();
  }
});

test('cut resets open and new connections until resume', async () => {
  const { proxy, openConnection } = await startProxyToEcho();
  try {
    const client = openConnection();
    client.socket.write('1');
    await waitFor('the first echo through the proxy', () => client.received === '1');
    proxy.cut();
    await waitFor("the client's connection to be reset", () => client.isClosed);
    const refusedClient = openConnection();
    await waitFor('the new connection to be refused', () => refusedClient.isClosed);
    proxy.resume();
    const nextClient = openConnection();
    nextClient.socket.write('2');
    await waitFor('the echo of a new connection after resume', () => nextClient.received === '2');
  } finally {
    await proxy.close();
  }
});

test('blackholeConnections discards bytes on the connections that are open, and new connections work', async () => {
  const { proxy, openConnection } = await startProxyToEcho();
  try {
    const client = openConnection();
    client.socket.write('1');
    await waitFor('the first echo through the proxy', () => client.received === '1');
    proxy.blackholeConnections();
    client.socket.write('2');
    const nextClient = openConnection();
    nextClient.socket.write('3');
    await waitFor('the echo on a new connection', () => nextClient.received === '3');
    await pause(50);
    assert.equal(client.received, '1');
    assert.equal(client.isClosed, false);
  } finally {
    await proxy.close();
  }
});

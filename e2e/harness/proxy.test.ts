import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { startProxy } from './proxy.ts';
import { pause, waitFor } from './wait.ts';

let echo: Server;
const servers: Socket[] = [];

before(async () => {
  echo = createServer((socket) => {
    servers.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => socket.write(chunk));
  });
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
});
after(() => echo.close());

const isAddress = (value: AddressInfo | string | null): value is AddressInfo =>
  typeof value === 'object' && value !== null;

async function setUp() {
  const address = echo.address();
  assert.ok(isAddress(address));
  const proxy = await startProxy(address.port);
  const open = () => {
    const socket = connect(proxy.port, '127.0.0.1');
    const state = { socket, got: '', closed: false };
    socket.on('data', (chunk) => {
      state.got += String(chunk);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      state.closed = true;
    });
    return state;
  };
  return { proxy, open };
}

test('a stalled direction buffers bytes without closing either side, and resume forwards them in order', async () => {
  const { proxy, open } = await setUp();
  try {
    for (const direction of ['up', 'down', 'both'] as const) {
      const client = open();
      client.socket.write('1');
      await waitFor('the echo', () => client.got === '1');
      proxy.stall(direction);
      client.socket.write('2');
      client.socket.write('3');
      const late = open();
      late.socket.write('4');
      await pause(100);
      assert.equal(client.got + late.got, '1', direction);
      assert.equal(client.closed || late.closed, false);
      proxy.resume(direction);
      await waitFor('the buffered bytes', () => client.got === '123' && late.got === '4');
      client.socket.destroy();
      late.socket.destroy();
    }
    await waitFor('no connection', () => proxy.openConnections === 0);
  } finally {
    await proxy.close();
  }
});

test('a stalled direction also delays the close of a socket', async () => {
  const { proxy, open } = await setUp();
  try {
    const client = open();
    client.socket.write('1');
    await waitFor('the echo', () => client.got === '1');
    proxy.stall('down');
    servers.at(-1)?.destroy();
    await pause(100);
    assert.equal(client.closed, false);
    proxy.resume('down');
    await waitFor('the close', () => client.closed);
  } finally {
    await proxy.close();
  }
});

test('cut resets open and new connections until resume', async () => {
  const { proxy, open } = await setUp();
  try {
    const client = open();
    client.socket.write('1');
    await waitFor('the echo', () => client.got === '1');
    proxy.cut();
    await waitFor('the reset', () => client.closed);
    const refused = open();
    await waitFor('the refusal', () => refused.closed);
    proxy.resume();
    const next = open();
    next.socket.write('2');
    await waitFor('the echo after resume', () => next.got === '2');
  } finally {
    await proxy.close();
  }
});

test('blackholeOpen discards bytes on the connections that are open, and new connections work', async () => {
  const { proxy, open } = await setUp();
  try {
    const client = open();
    client.socket.write('1');
    await waitFor('the echo', () => client.got === '1');
    proxy.blackholeOpen();
    client.socket.write('2');
    const next = open();
    next.socket.write('3');
    await waitFor('the echo on a new connection', () => next.got === '3');
    await pause(50);
    assert.equal(client.got, '1');
    assert.equal(client.closed, false);
  } finally {
    await proxy.close();
  }
});

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { CloseReplaced, CloseUnpaired, CloseVersion, CodeVersion, Version } from '../../../../wire/wire.gen.ts';
import { type FakeSocket, makeFakeHandshake, makeServer, runPendingPromises } from '../../../test/server.ts';
import type { PortListener, ServerConnection } from './handshake.ts';
import { type LinkState, ServerLink } from './link.ts';

const hello = { protocol: Version, browserId: 'b', browserName: 'n', bootId: 'o', extensionVersion: '1' };
const server = { protocol: Version, serverVersion: '9.9.9' };

function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
  const { open, sockets } = makeServer();
  const linkStates: LinkState[] = [];
  const events: string[] = [];
  const savedKeys: string[] = [];
  const connection: ServerConnection = { port: 4321, key: 'secret' };
  const environment: {
    connection: ServerConnection;
    isStuck: boolean;
    listener: PortListener;
    listenerChecks: number;
  } = {
    connection,
    isStuck: false,
    listener: 'opentabs',
    listenerChecks: 0,
  };
  const link = new ServerLink({
    readConnection: () =>
      environment.isStuck ? new Promise(() => undefined) : Promise.resolve(environment.connection),
    receiveBrowserName: () => {},
    readIdentity: async () => hello,
    openSocket: open,
    makeHandshake: makeFakeHandshake,
    savePairedKey: async (key) => void savedKeys.push(key),
    findListener: async () => {
      environment.listenerChecks++;
      return environment.listener;
    },
    random: () => 0,
  });
  link.opened.addListener(() => events.push('opened'));
  link.lostSignal.addListener(() => events.push('lost'));
  link.frameSignal.addListener((frame) => events.push(`${frame.kind} ${frame.method}`));
  link.changed.addListener(() => linkStates.push(link.state));
  const lastSocket = (): FakeSocket => {
    const socket = sockets.at(-1);
    if (!socket) throw new Error('no socket was opened');
    return socket;
  };
  const acceptConnection = async () => {
    lastSocket().accept();
    await runPendingPromises();
  };
  const connectLink = async () => {
    link.start();
    await runPendingPromises();
    await acceptConnection();
    lastSocket().answer('hello', server);
    await runPendingPromises();
    return lastSocket();
  };
  const advanceTime = async (ms: number) => {
    t.mock.timers.tick(ms);
    await runPendingPromises();
  };
  return {
    link,
    sockets,
    linkStates,
    events,
    savedKeys,
    environment,
    lastSocket,
    acceptConnection,
    connectLink,
    advanceTime,
  };
}

test('the server sends its proof first, then the browser sends hello with its proof', async (t) => {
  const { link, linkStates, events, lastSocket } = makeFixture(t);
  link.start();
  link.start();
  await runPendingPromises();
  await assert.rejects(link.request('ping', {}), /no link/);
  const socket = lastSocket();
  assert.equal(socket.url, 'ws://127.0.0.1:4321/ws');
  assert.deepEqual(socket.webSocketProtocols, ['opentabs', 'opentabs.nonce.of-the-browser']);
  assert.equal(link.send('early'), false);
  socket.open();
  await runPendingPromises();
  assert.deepEqual(socket.sentMessages, []);
  socket.notify('challenge', { nonce: 'of-the-server', proof: 'right' });
  await runPendingPromises();
  assert.deepEqual(socket.sentMessages, [
    { jsonrpc: '2.0', id: 'b1', method: 'hello', params: { ...hello, proof: 'proved' } },
  ]);
  assert.equal(link.send('early'), false);
  await assert.rejects(link.request('ping', {}), /no link/);
  assert.equal(socket.sentMessages.length, 1);
  socket.answer('hello', server);
  await runPendingPromises();
  assert.deepEqual(linkStates, [{ kind: 'open', serverVersion: '9.9.9' }]);
  assert.deepEqual(events, ['opened']);
  assert.equal(link.send('{}'), true);
});

test('if a cached connection fails, the link connects with the current connection without a delay', async (t) => {
  for (const failure of ['closed', 'wrong proof']) {
    const { link, linkStates, sockets, environment, connectLink, lastSocket } = makeFixture(t);
    environment.connection = { port: 4320, key: 'old', isCached: true };
    link.start();
    await runPendingPromises();
    environment.connection = { port: 4321, key: 'secret' };
    if (failure === 'closed') lastSocket().close(1006);
    else {
      lastSocket().open();
      lastSocket().notify('challenge', { nonce: 'of-the-server', proof: 'wrong' });
    }
    await runPendingPromises();
    await connectLink();
    const urls = sockets.map(({ url }) => url);
    assert.deepEqual(urls, ['ws://127.0.0.1:4320/ws', 'ws://127.0.0.1:4321/ws'], failure);
    assert.deepEqual(linkStates, [{ kind: 'open', serverVersion: '9.9.9' }], failure);
    t.mock.timers.reset();
  }
});

test('the link repeats a connection attempt for which Chrome returns no data within 3 s', async (t) => {
  const { link, linkStates, sockets, environment, advanceTime } = makeFixture(t);
  environment.isStuck = true;
  link.start();
  await advanceTime(2999);
  assert.deepEqual(linkStates, []);
  await advanceTime(1);
  assert.deepEqual(linkStates, [{ kind: 'down', why: 'lost', text: 'Error: the browser did not answer for 3 s' }]);
  environment.isStuck = false;
  await advanceTime(1000);
  assert.equal(sockets.length, 1);
});

test('the link forwards valid message frames, and rejects or drops invalid frames', async (t) => {
  const { events, connectLink } = makeFixture(t);
  const warnMock = t.mock.method(console, 'warn', () => undefined);
  const socket = await connectLink();
  socket.request('s1', 'ping', {});
  socket.notify('state.sync', { serverVersion: '1', running: 0 });
  assert.deepEqual(events, ['opened', 'request ping', 'notification state.sync']);
  socket.text('garbage');
  socket.text('{"jsonrpc":"2.0","id":"7","method":"browser.reboot","params":{}}');
  socket.text('{"jsonrpc":"2.0","id":"8","method":"tool.cancel","params":{"dispatchId":5}}');
  socket.text('{"jsonrpc":"2.0","id":"unknown","result":{}}');
  assert.deepEqual(
    socket.sentMessages.map((f) => [f.id, JSON.stringify(f.error).slice(0, 14)]),
    [
      ['7', '{"code":-32601'],
      ['8', '{"code":-32602'],
    ],
  );
  assert.equal(warnMock.mock.callCount(), 3);
});

test('the link pings after 5 s of silence and closes after 10 s', async (t) => {
  const { sockets, events, linkStates, connectLink, advanceTime } = makeFixture(t);
  const socket = await connectLink();
  for (let i = 0; i < 20; i++) {
    await advanceTime(2500);
    assert.equal(socket.sentMessages.length, 0);
    await advanceTime(2500);
    socket.answer('ping', {});
  }
  await advanceTime(2500);
  await advanceTime(2500);
  assert.equal(socket.sentMessages.length, 1);
  await advanceTime(2500);
  assert.equal(socket.isClosed, false);
  await advanceTime(2500);
  assert.equal(socket.isClosed, true);
  assert.deepEqual(events, ['opened', 'lost']);
  assert.deepEqual(linkStates.at(-1), { kind: 'down', why: 'lost', text: 'the server did not answer for 10 s' });
  await advanceTime(0);
  assert.equal(sockets.length, 2);
});

test('the link stays open after the machine was asleep', async (t) => {
  const { events, connectLink, advanceTime } = makeFixture(t);
  const socket = await connectLink();
  await advanceTime(2500);
  t.mock.method(Date, 'now', () => 4e12);
  await advanceTime(2500);
  socket.answer('ping', {});
  await advanceTime(5000);
  assert.deepEqual([socket.isClosed, events], [false, ['opened']]);
});

test('the link stays open without answers while it is still sending a large result', async (t) => {
  const { connectLink, advanceTime } = makeFixture(t);
  const socket = await connectLink();
  for (socket.bufferedBytes = 100_000_000; socket.bufferedBytes > 0; socket.bufferedBytes -= 10_000_000) {
    for (let heartbeatIndex = 0; heartbeatIndex < 3; heartbeatIndex++) await advanceTime(2500);
    assert.equal(socket.isClosed, false);
  }
  for (let heartbeatIndex = 0; heartbeatIndex < 5; heartbeatIndex++) await advanceTime(2500);
  assert.equal(socket.isClosed, true);
});

test('after a lost link, the browser tries to reconnect every second without a limit', async (t) => {
  const { sockets, linkStates, environment, acceptConnection, connectLink, lastSocket, advanceTime } = makeFixture(t);
  const socket = await connectLink();
  environment.listener = 'nothing';
  socket.close();
  await runPendingPromises();
  assert.deepEqual(linkStates.at(-1), { kind: 'down', why: 'lost', text: '' });
  await advanceTime(600);
  assert.deepEqual([sockets.length, environment.listenerChecks], [2, 0]);
  lastSocket().close();
  await runPendingPromises();
  for (let expectedChecks = 2; expectedChecks < 200; expectedChecks++) {
    await advanceTime(600);
    assert.equal(environment.listenerChecks, expectedChecks);
  }
  assert.deepEqual(linkStates.at(-1), { kind: 'down', why: 'no_server', text: '' });
  assert.equal(sockets.length, 2);
  environment.listener = 'opentabs';
  await advanceTime(600);
  assert.equal(sockets.length, 3);
  lastSocket().close();
  await runPendingPromises();
  assert.deepEqual(linkStates.at(-1), { kind: 'down', why: 'refused', text: portInUseText });
  await advanceTime(600);
  await acceptConnection();
  lastSocket().answer('hello', server);
  await runPendingPromises();
  assert.equal(linkStates.at(-1)?.kind, 'open');
});

const portInUseText =
  'Port 4321 is in use by another program or another opentabs installation. No data was sent to it.';

test('the link opens no socket while another program uses the port, but when the server is back', async (t) => {
  const { link, sockets, linkStates, environment, lastSocket, advanceTime } = makeFixture(t);
  environment.listener = 'other';
  link.start();
  await runPendingPromises();
  lastSocket().close();
  await runPendingPromises();
  for (let i = 0; i < 20; i++) await advanceTime(600);
  assert.equal(sockets.length, 1);
  assert.deepEqual(linkStates, [{ kind: 'down', why: 'refused', text: portInUseText }]);
  environment.listener = 'opentabs';
  await advanceTime(600);
  assert.equal(sockets.length, 2);
});

test("the link sends nothing to an unauthenticated peer, regardless of the peer's messages", async (t) => {
  const { link, events, linkStates, sockets, lastSocket, advanceTime } = makeFixture(t);
  const untrustedPeerCases: [string, (socket: FakeSocket) => void][] = [
    ['a wrong proof', (socket) => socket.notify('challenge', { nonce: 'of-the-server', proof: 'wrong' })],
    ['a request', (socket) => socket.request('s1', 'ping', {})],
    ['an answer to hello', (socket) => socket.text('{"jsonrpc":"2.0","id":"b1","result":{}}')],
    ['another notification', (socket) => socket.notify('state.waiting', { count: 1 })],
    ['garbage', (socket) => socket.text('garbage')],
    ['a challenge without a proof', (socket) => socket.text('{"jsonrpc":"2.0","method":"challenge","params":{}}')],
    ['the end, with a version', (socket) => socket.close(CloseVersion, 'Update it from evil.example')],
    ['the end, for another', (socket) => socket.close(CloseReplaced, 'Close this browser')],
    [
      'a wrong proof, then the right one',
      (socket) => {
        socket.notify('challenge', { nonce: 'of-the-server', proof: 'wrong' });
        socket.notify('challenge', { nonce: 'of-the-server', proof: 'right' });
      },
    ],
  ];
  link.start();
  await runPendingPromises();
  for (const [name, actOnSocket] of untrustedPeerCases) {
    const socket = lastSocket();
    const socketCountBefore = sockets.length;
    socket.open();
    actOnSocket(socket);
    await runPendingPromises();
    assert.deepEqual(socket.sentMessages, [], name);
    assert.deepEqual(linkStates, [{ kind: 'down', why: 'refused', text: portInUseText }], name);
    await advanceTime(600);
    assert.equal(sockets.length, socketCountBefore + 1, name);
  }
  assert.deepEqual(events, []);
});

test('a browser with an unknown key retries every second', async (t) => {
  const { link, sockets, linkStates, environment, lastSocket, advanceTime } = makeFixture(t);
  environment.connection = { port: 4321, key: 'secret', keyId: 'k1' };
  link.start();
  await runPendingPromises();
  lastSocket().open();
  lastSocket().close(CloseUnpaired, 'text of a peer that has not proved its identity');
  await runPendingPromises();
  assert.deepEqual(linkStates, [{ kind: 'down', why: 'unpaired', text: '' }]);
  await advanceTime(999);
  assert.equal(sockets.length, 1);
  await advanceTime(1);
  assert.equal(sockets.length, 2);
});

test('the link stores a key from the server before it counts as open', async (t) => {
  const { link, linkStates, savedKeys, acceptConnection, lastSocket } = makeFixture(t);
  link.start();
  await runPendingPromises();
  await acceptConnection();
  lastSocket().answer('hello', { protocol: Version, serverVersion: '1', pairedKey: 'k2' });
  await runPendingPromises();
  assert.deepEqual([savedKeys, linkStates], [['k2'], [{ kind: 'open', serverVersion: '1' }]]);
});

test("after a version mismatch, the link reports the server's message and retries slowly", async (t) => {
  const { link, sockets, linkStates, acceptConnection, lastSocket, advanceTime } = makeFixture(t);
  link.start();
  await runPendingPromises();
  await acceptConnection();
  lastSocket().refuseRequest('hello', CodeVersion, 'the server speaks 2, this extension 1');
  await runPendingPromises();
  lastSocket().close(CloseVersion, 'the server speaks 2');
  await runPendingPromises();
  const expectedState = { kind: 'down', why: 'version', text: 'the server speaks 2, this extension 1' };
  assert.deepEqual(linkStates, [expectedState]);
  link.start();
  await advanceTime(29_999);
  assert.equal(sockets.length, 1);
  await advanceTime(1);
  assert.equal(sockets.length, 2);
  await acceptConnection();
  lastSocket().answer('hello', { protocol: Version + 1, serverVersion: '2.0.0' });
  await runPendingPromises();
  const lastState = linkStates.at(-1);
  assert.match(
    lastState?.kind === 'down' ? `${lastState.why}: ${lastState.text}` : '',
    /^version: .*protocol 1.*protocol 2.*update the extension/,
  );
  assert.equal(lastSocket().isClosed, true);
});

test('the link retries slowly after another browser replaced the connection', async (t) => {
  const { linkStates, sockets, link, connectLink, advanceTime } = makeFixture(t);
  (await connectLink()).close(CloseReplaced, 'another connection');
  await advanceTime(20_000);
  assert.deepEqual(linkStates.at(-1), { kind: 'down', why: 'replaced', text: 'another connection' });
  link.start();
  await runPendingPromises();
  assert.equal(sockets.length, 1);
  link.restart();
  await runPendingPromises();
  assert.equal(sockets.length, 2);
});

test('a handshake that stops at any stage fails within 5 s', async (t) => {
  const { link, linkStates, sockets, lastSocket, advanceTime } = makeFixture(t);
  const stopCases: [string, (socket: FakeSocket) => void, LinkState][] = [
    ['before the socket is open', () => undefined, { kind: 'down', why: 'refused', text: portInUseText }],
    ['before the challenge', (socket) => socket.open(), { kind: 'down', why: 'refused', text: portInUseText }],
    [
      'before the answer to hello',
      (socket) => socket.accept(),
      { kind: 'down', why: 'lost', text: 'the server did not answer' },
    ],
  ];
  link.start();
  await runPendingPromises();
  for (const [name, actOnSocket, expectedState] of stopCases) {
    const socket = lastSocket();
    const countBefore = sockets.length;
    actOnSocket(socket);
    await advanceTime(4999);
    assert.equal(socket.isClosed, false, name);
    await advanceTime(1);
    assert.equal(socket.isClosed, true, name);
    assert.deepEqual(linkStates.at(-1), expectedState, name);
    await advanceTime(600);
    assert.equal(sockets.length, countBefore + 1, name);
  }
});

test('every request settles once: by an answer, an error, a malformed answer, a timeout or a lost link', async (t) => {
  const { link, connectLink, advanceTime } = makeFixture(t);
  const socket = await connectLink();
  const requestOutcomes: string[] = [];
  const sendRequest = (name: string) =>
    link.request('call.cancel', { callId: name }).then(
      (r) => requestOutcomes.push(`${name} ${JSON.stringify(r)}`),
      (e: Error) => requestOutcomes.push(`${name} ${e.message}`),
    );
  for (const name of ['a', 'b', 'c', 'd']) void sendRequest(name);
  socket.answer('call.cancel', { cancelled: true });
  socket.refuseRequest('call.cancel', -32000, 'no');
  socket.answer('call.cancel', { cancelled: 'yes' });
  await advanceTime(5000);
  socket.request('s1', 'ping', {});
  await advanceTime(5000);
  socket.text('{"jsonrpc":"2.0","id":"b5","result":{"cancelled":true}}');
  void sendRequest('e');
  socket.close();
  await runPendingPromises();
  void sendRequest('f');
  await runPendingPromises();
  assert.deepEqual(requestOutcomes, [
    'a {"cancelled":true}',
    'b no',
    "c the server's answer to call.cancel can't be read: result.cancelled: must be a boolean, got string",
    'd the server did not answer call.cancel for 10 s',
    'e the link to the server was lost',
    'f there is no link to the server',
  ]);
});

test('a request for which the server downloads a package has a longer limit', async (t) => {
  const { link, connectLink, advanceTime } = makeFixture(t);
  const socket = await connectLink();
  const installRequest = link.request('plugin.install', { package: 'slack' });
  for (let second = 0; second < 100; second += 5) {
    await advanceTime(5000);
    socket.request(`s${second}`, 'ping', {});
  }
  socket.answer('plugin.install', { plugin: 'slack', version: '1.0.0' });
  assert.deepEqual(await installRequest, { plugin: 'slack', version: '1.0.0' });
});

test('the link ignores events of an old socket', async (t) => {
  const { link, events, linkStates, acceptConnection, connectLink, lastSocket } = makeFixture(t);
  const oldSocket = await connectLink();
  link.restart();
  await runPendingPromises();
  assert.equal(oldSocket.isClosed, true);
  const countBefore = linkStates.length;
  oldSocket.text('{"jsonrpc":"2.0","id":"s","method":"ping","params":{}}');
  oldSocket.close();
  await runPendingPromises();
  assert.deepEqual(events, ['opened', 'lost']);
  assert.equal(linkStates.length, countBefore);
  await acceptConnection();
  lastSocket().answer('hello', server);
  await runPendingPromises();
  assert.deepEqual(events, ['opened', 'lost', 'opened']);
});

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import {
  type BridgeToWorkerMessage,
  readMessageFromBridge,
  readMessageToBridge,
  type WorkerToBridgeMessage,
} from '../port-message.ts';
import { decodeMessages, encodeMessages } from '../port-text.ts';
import { BridgeLink, type WorkerPort } from './link.ts';

function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const ports: { sentMessages: unknown[]; receive(portMessage: unknown): void; close(): void }[] = [];
  const receivedMessages: WorkerToBridgeMessage[] = [];
  const queuedTasks: (() => void)[] = [];
  const environment = { alone: true, alive: true, refuse: false, connected: 0, orphaned: 0 };
  const connectPort = (): WorkerPort => {
    if (environment.refuse) throw new Error('Extension context invalidated.');
    let receiveMessage: (portMessage: unknown) => void = () => undefined;
    let closeListener: () => void = () => undefined;
    let isOpen = true;
    const sentMessages: unknown[] = [];
    ports.push({
      sentMessages,
      receive: (portMessage) => receiveMessage(portMessage),
      close: () => {
        isOpen = false;
        closeListener();
      },
    });
    return {
      postMessage: (portMessage) => {
        if (!isOpen) throw new Error('Attempting to use a disconnected port object');
        sentMessages.push(decodeMessages(portMessage, readMessageFromBridge));
      },
      onMessage: (listener) => {
        receiveMessage = listener;
      },
      onDisconnect: (listener) => {
        closeListener = listener;
      },
      disconnect: () => {
        isOpen = false;
      },
    };
  };
  const link = new BridgeLink({
    connect: connectPort,
    isExtensionAlive: () => environment.alive,
    read: readMessageToBridge,
    scheduleTask: (scheduledTask) => void queuedTasks.push(scheduledTask),
  });
  const isOpen = () =>
    link.open({
      onReceived: (portMessage) => receivedMessages.push(portMessage),
      makeGreeting: () => documentStateMessage,
      isLikelyLastMessage: () => environment.alone,
      onConnected: () => void environment.connected++,
      onOrphaned: () => void environment.orphaned++,
    });
  const runQueuedTasks = () => {
    for (const scheduledTask of queuedTasks.splice(0)) scheduledTask();
  };
  return { link, isOpen, ports, receivedMessages, environment, runTasks: runQueuedTasks };
}

const documentStateMessage: BridgeToWorkerMessage = { op: 'documentState', plugins: [], running: [] };
const portMessage: BridgeToWorkerMessage = { op: 'error', id: 'x', error: '{}' };

test('the link opens one port and forwards only valid messages', (t) => {
  const { link, isOpen, ports, receivedMessages, environment } = makeFixture(t);
  assert.equal(link.post(portMessage), false);
  isOpen();
  isOpen();
  assert.equal(ports.length, 1);
  assert.equal(environment.connected, 1);
  assert.equal(link.post(portMessage), true);
  ports[0]?.receive('[{"op":"confirmEndings","ids":["x"]},{"op":"nonsense","id":"x"}]\n');
  ports[0]?.receive([{ op: 'confirmEndings', ids: ['y'] }]);
  ports[0]?.receive('text');
  assert.deepEqual(receivedMessages, [{ op: 'confirmEndings', ids: ['x'] }]);
});

test('the link replaces a closed port at once, without a timer that Chrome would delay in a hidden tab', (t) => {
  const { link, isOpen, ports, runTasks } = makeFixture(t);
  isOpen();
  t.mock.timers.tick(5000);
  ports[0]?.close();
  runTasks();
  assert.equal(ports.length, 2);
  assert.equal(link.post(portMessage), true);
  // In this test, Chrome stops the new worker 100 ms after it started.
  t.mock.timers.tick(100);
  ports[1]?.close();
  runTasks();
  assert.equal(ports.length, 3);
});

test('while the worker keeps closing the port, the link retries at growing intervals of up to 1 s', (t) => {
  const { isOpen, ports, runTasks } = makeFixture(t);
  isOpen();
  ports[0]?.close();
  runTasks();
  const reconnectDelaysMs: number[] = [];
  for (let i = 1; i < 9; i++) {
    ports[i]?.close();
    runTasks();
    let waitedMs = 0;
    for (; ports.length === i + 1; waitedMs++) t.mock.timers.tick(1);
    reconnectDelaysMs.push(waitedMs);
  }
  assert.deepEqual(reconnectDelaysMs, [50, 100, 200, 400, 800, 1000, 1000, 1000]);
  t.mock.timers.tick(1000);
  ports.at(-1)?.close();
  runTasks();
  assert.equal(ports.length, 11);
});

test('a document from the back/forward cache opens a new port', (t) => {
  const { link, isOpen, ports, environment } = makeFixture(t);
  isOpen();
  link.reopen();
  assert.equal(ports.length, 2);
  assert.equal(environment.connected, 2);
  link.post(portMessage);
  assert.deepEqual(
    [ports[0]?.sentMessages, ports[1]?.sentMessages],
    [[[documentStateMessage]], [[documentStateMessage], [portMessage]]],
  );
  // Chrome may report the closing of an old port only after a new port is open.
  ports[0]?.close();
  t.mock.timers.tick(5000);
  assert.equal(ports.length, 2);
});

test('a document that the user leaves receives nothing on its old port', (t) => {
  const { link, isOpen, ports, receivedMessages, environment } = makeFixture(t);
  isOpen();
  link.closeForNavigation();
  ports[0]?.receive(encodeMessages([{ op: 'confirmEndings', ids: ['late'] }]));
  t.mock.timers.tick(5000);
  isOpen();
  assert.deepEqual([ports.length, link.post(portMessage)], [1, false]);
  link.reopen();
  ports[0]?.receive(encodeMessages([{ op: 'confirmEndings', ids: ['out of the cache'] }]));
  ports[1]?.receive(encodeMessages([{ op: 'confirmEndings', ids: ['new'] }]));
  assert.deepEqual(receivedMessages, [{ op: 'confirmEndings', ids: ['new'] }]);
  assert.deepEqual([ports.length, environment.connected], [2, 2]);
});

test('the link reports once that the extension is gone', (t) => {
  const { link, isOpen, ports, environment } = makeFixture(t);
  isOpen();
  environment.alive = false;
  ports[0]?.close();
  t.mock.timers.tick(10_000);
  isOpen();
  link.reopen();
  assert.deepEqual([ports.length, environment.orphaned], [1, 1]);
});

test('a document stops using the link at once when its extension was unloaded', (t) => {
  const { isOpen, environment } = makeFixture(t);
  environment.refuse = true;
  isOpen();
  isOpen();
  assert.deepEqual([environment.connected, environment.orphaned], [0, 1]);
});

test('messages are batched, and none is lost when the port closes', (t) => {
  const { link, isOpen, ports, environment, runTasks } = makeFixture(t);
  const makeNumberedMessage = (id: string): BridgeToWorkerMessage => ({ op: 'cancelled', id, outcome: 'aborted' });
  environment.alone = false;
  isOpen();
  for (const id of ['1', '2', '3']) assert.equal(link.post(makeNumberedMessage(id)), true);
  assert.deepEqual(ports[0]?.sentMessages, [[documentStateMessage], [makeNumberedMessage('1')]]);
  runTasks();
  assert.deepEqual(ports[0]?.sentMessages.slice(2), [[makeNumberedMessage('2'), makeNumberedMessage('3')]]);
  link.post(makeNumberedMessage('4'));
  t.mock.timers.tick(5000);
  ports[0]?.close();
  runTasks();
  assert.deepEqual(ports[1]?.sentMessages, [[documentStateMessage], [makeNumberedMessage('4')]]);
});

test('closeForNavigation sends waiting messages before it closes the port', (t) => {
  const { link, isOpen, ports, environment } = makeFixture(t);
  environment.alone = false;
  isOpen();
  link.post(portMessage);
  link.post(portMessage);
  link.closeForNavigation();
  assert.deepEqual(ports[0]?.sentMessages, [[documentStateMessage], [portMessage], [portMessage]]);
});

test('a new port drops waiting tool requests and call endings, because the callback onConnected resends them', (t) => {
  const { link, isOpen, ports, environment, runTasks } = makeFixture(t);
  environment.alone = false;
  isOpen();
  const progress: BridgeToWorkerMessage = { op: 'progress', id: 'x', seq: 0, skipped: 0, reports: '[]' };
  link.post(portMessage);
  const toolRequest = { op: 'toolRequest', id: 'x', ask: 1, body: '{}' } as const;
  for (const message of [progress, toolRequest, { op: 'result', id: 'x', parts: 8 }, portMessage] as const)
    link.post(message);
  t.mock.timers.tick(5000);
  ports[0]?.close();
  runTasks();
  assert.deepEqual(ports[1]?.sentMessages, [[documentStateMessage], [progress]]);
});

test('the link closes a port that was opened during a reload of the extension and never worked', (t) => {
  const { link, isOpen, ports, environment, runTasks } = makeFixture(t);
  isOpen();
  t.mock.timers.tick(5000);
  ports[0]?.close();
  runTasks();
  assert.equal(ports.length, 2);
  t.mock.timers.tick(4000);
  assert.equal(environment.orphaned, 0);
  environment.alive = false;
  t.mock.timers.tick(1000);
  assert.equal(environment.orphaned, 1);
  assert.equal(link.post(portMessage), false);
  t.mock.timers.tick(20_000);
  assert.deepEqual([environment.orphaned, ports.length], [1, 2]);
});

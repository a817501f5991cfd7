// Measures, without Chrome, the time that a call takes in each part of the extension: `npx tsx
// extension/test/stations-bench.ts`. docs/performance.md calls these parts stations, and lists their time budgets.

import { encodeRequest, parseFrame } from '../../wire/frame.ts';
import { BridgeCalls } from '../src/bridge/calls.ts';
import type { Host } from '../src/bridge/hosts.ts';
import {
  type BridgeToWorkerMessage,
  readMessageFromBridge,
  readMessageToBridge,
  type WorkerToBridgeMessage,
} from '../src/port-message.ts';
import { decodeMessages, encodeMessages } from '../src/port-text.ts';
import { Calls } from '../src/worker/calls/calls.ts';
import { Outbox } from '../src/worker/calls/outbox.ts';
import { RunningCalls } from '../src/worker/calls/running.ts';
import { type Doc, makeDocs } from '../src/worker/documents/docs.ts';
import { makeAdapterCode, makeRealm } from './realm.ts';

const warmUpCalls = 20_000;
const callsPerBlock = 2_000;
const blockCount = 15;

/**
 * measureCallTime prints the fastest of several averages, in microseconds, because other programs can only slow the
 * measurement down.
 */
async function measureCallTime(
  stationName: string,
  runCall: (call: number) => void | Promise<void>,
  callCountDivisor = 1,
): Promise<void> {
  let call = 0;
  const runBlock = async (calls: number) => {
    const startMs = performance.now();
    for (let i = 0; i < calls; i++) {
      const pending = runCall(call++);
      if (pending) await pending;
    }
    return ((performance.now() - startMs) * 1000) / calls;
  };
  await runBlock(warmUpCalls / callCountDivisor);
  let fastestUs = Infinity;
  for (let block = 0; block < blockCount; block++)
    fastestUs = Math.min(fastestUs, await runBlock(callsPerBlock / callCountDivisor));
  process.stdout.write(`${stationName.padEnd(34)} ${fastestUs.toFixed(2)} us\n`);
}

const args = { text: 'x'.repeat(188) };
const argumentsJson = JSON.stringify(args);
const makeFrame = (call: number) =>
  encodeRequest(`call_${call}`, 'tool.dispatch', {
    dispatchId: `call_${call}`,
    plugin: 'demo',
    tool: 'run',
    tabId: 1,
    documentId: '5C3E0A1B5C3E0A1B5C3E0A1B5C3E0A1B',
    maxResultBytes: 104_857_600,
    args,
  });

function makeWorker() {
  const postedTexts: string[] = [];
  const docs = makeDocs();
  const runningCalls = new RunningCalls();
  const outbox = new Outbox({ send: () => true, requestConfirmation: async () => undefined });
  const calls = new Calls({
    outbox,
    docs,
    runningCalls,
    send: () => true,
    reportResumedCalls: () => undefined,
    readTabState: async () => 'open',
    isTabLoading: async () => false,
    isTabFrozen: () => false,
    isDocumentGone: async () => false,
    findAccessProblem: () => undefined,
    getPartDelayMs: () => 0,
    onDocumentMissing: () => undefined,
  });
  const postToBridge = (message: WorkerToBridgeMessage) => void postedTexts.push(encodeMessages([message]));
  const doc: Doc = {
    tabId: 1,
    frameId: 0,
    documentId: '5C3E0A1B5C3E0A1B5C3E0A1B5C3E0A1B',
    url: '',
    post: postToBridge,
  };
  calls.onDocumentConnected(doc);
  const dispatchCall = (call: number): string => {
    const frame = parseFrame(makeFrame(call));
    if (frame.kind === 'request' && frame.method === 'tool.dispatch') calls.dispatch(frame.params);
    return postedTexts.pop() ?? '';
  };
  const receiveText = (text: string) => {
    for (const message of decodeMessages(text, readMessageFromBridge))
      if (message.op === 'result') calls.receive(doc, message);
  };
  return { dispatch: dispatchCall, receive: receiveText, outbox };
}

function makeBridge() {
  const lastMessageTexts = { toWorker: '', toHost: '' };
  const bridge = new BridgeCalls((message: BridgeToWorkerMessage) => {
    lastMessageTexts.toWorker = encodeMessages([message]);
    return true;
  });
  const host: Host = {
    plugin: 'demo',
    hash: 'h',
    sendText: (text) => {
      lastMessageTexts.toHost = text;
    },
  };
  bridge.receiveFromHost(host, 'ready');
  const startHost = (text: string) => {
    for (const message of decodeMessages(text, readMessageToBridge)) bridge.receiveFromWorker(message);
  };
  return { bridge, host, last: lastMessageTexts, startHost };
}

const callText = (call: number) => {
  const message: WorkerToBridgeMessage = {
    op: 'call',
    id: `call_${call}`,
    plugin: 'demo',
    tool: 'run',
    maxBytes: 1 << 20,
    args: argumentsJson,
    atMs: Date.now(),
  };
  return encodeMessages([message]);
};

await measureCallTime('(the frame alone)', (call) => void makeFrame(call));
{
  const worker = makeWorker();
  await measureCallTime('worker in, with the frame', (call) => void worker.dispatch(call));
}
{
  const worker = makeWorker();
  await measureCallTime('worker in and out, with the frame', (call) => {
    worker.dispatch(call);
    worker.receive(encodeMessages([{ op: 'result', id: `call_${call}`, text: argumentsJson }]));
    worker.outbox.drop(`call_${call}`);
  });
}
await measureCallTime('(the port text alone)', (call) => void callText(call));
{
  const { bridge, host, startHost } = makeBridge();
  await measureCallTime('bridge in and out, with the text', (call) => {
    startHost(callText(call));
    bridge.receiveFromHost(host, `r ${call + 1} ${argumentsJson}`);
    bridge.receiveFromWorker({ op: 'confirmEndings', ids: [`call_${call}`] });
  });
}
{
  const realm = makeRealm();
  realm.start('demo', 'h1', makeAdapterCode('demo', "{ name: 'run', handle: async (p) => p }"));
  const [port] = realm.bridge();
  await realm.waitUntilIdle();
  await measureCallTime(
    'host, schema, handler, result',
    async (call) => {
      port?.sendParts('call', call + 1, 'run', 1 << 20, args);
      await realm.waitUntilIdle();
      port?.receivedTexts.splice(0);
    },
    10,
  );
}
process.exit();

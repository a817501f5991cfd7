// Measures each part of the extension through which a call passes, without Chrome: `npx tsx
// extension/test/stations-bench.ts`. docs/performance.md calls these parts stations, and lists their time budgets.

import { encodeRequest, parseFrame } from '../../wire/frame.ts';
import { BridgeCalls } from '../src/bridge/calls.ts';
import type { Host } from '../src/bridge/hosts.ts';
import { type FromBridge, readFromBridge, readToBridge, type ToBridge } from '../src/port-message.ts';
import { decodeMessages, encodeMessages } from '../src/port-text.ts';
import { Calls } from '../src/worker/calls/calls.ts';
import { Outbox } from '../src/worker/calls/outbox.ts';
import { RunningCalls } from '../src/worker/calls/running.ts';
import { type Doc, makeDocs } from '../src/worker/documents/docs.ts';
import { makeAdapterCode, makeRealm } from './realm.ts';

const warmUpCalls = 20_000;
const blockCalls = 2_000;
const blockCount = 15;

/**
 * The function `measure` prints the fastest of several averages, in microseconds, because other programs can only slow
 * the measurement down.
 */
async function measure(station: string, run: (call: number) => void | Promise<void>, scale = 1): Promise<void> {
  let call = 0;
  const runBlock = async (calls: number) => {
    const startMs = performance.now();
    for (let i = 0; i < calls; i++) {
      const pending = run(call++);
      if (pending) await pending;
    }
    return ((performance.now() - startMs) * 1000) / calls;
  };
  await runBlock(warmUpCalls / scale);
  let fastestUs = Infinity;
  for (let block = 0; block < blockCount; block++) fastestUs = Math.min(fastestUs, await runBlock(blockCalls / scale));
  process.stdout.write(`${station.padEnd(34)} ${fastestUs.toFixed(2)} us\n`);
}

const args = { text: 'x'.repeat(188) };
const result = JSON.stringify(args);
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
  const posted: string[] = [];
  const docs = makeDocs();
  const running = new RunningCalls();
  const outbox = new Outbox({ send: () => true, confirm: async () => undefined });
  const calls = new Calls({
    outbox,
    docs,
    running,
    send: () => true,
    reportResumed: () => undefined,
    readTabState: async () => 'open',
    isTabLoading: async () => false,
    isTabFrozen: () => false,
    isDocumentGone: async () => false,
    waitBeforePartMs: () => 0,
    onDocumentMissing: () => undefined,
  });
  const post = (message: ToBridge) => void posted.push(encodeMessages([message]));
  const doc: Doc = { tabId: 1, frameId: 0, documentId: '5C3E0A1B5C3E0A1B5C3E0A1B5C3E0A1B', url: '', post };
  calls.onDocumentConnected(doc);
  const dispatch = (call: number): string => {
    const frame = parseFrame(makeFrame(call));
    if (frame.kind === 'request' && frame.method === 'tool.dispatch') calls.dispatch(frame.params);
    return posted.pop() ?? '';
  };
  const receive = (text: string) => {
    for (const message of decodeMessages(text, readFromBridge))
      if (message.op === 'result') calls.receive(doc, message);
  };
  return { dispatch, receive, outbox };
}

function makeBridge() {
  const last = { toWorker: '', toHost: '' };
  const bridge = new BridgeCalls((message: FromBridge) => {
    last.toWorker = encodeMessages([message]);
    return true;
  });
  const host: Host = {
    plugin: 'demo',
    hash: 'h',
    send: (text) => {
      last.toHost = text;
    },
  };
  bridge.receiveFromHost(host, 'ready');
  const start = (text: string) => {
    for (const message of decodeMessages(text, readToBridge)) bridge.receiveFromWorker(message);
  };
  return { bridge, host, last, start };
}

const callText = (call: number) => {
  const message: ToBridge = {
    op: 'call',
    id: `call_${call}`,
    plugin: 'demo',
    tool: 'run',
    maxBytes: 1 << 20,
    args: result,
    atMs: Date.now(),
  };
  return encodeMessages([message]);
};

await measure('(the frame alone)', (call) => void makeFrame(call));
{
  const worker = makeWorker();
  await measure('worker in, with the frame', (call) => void worker.dispatch(call));
}
{
  const worker = makeWorker();
  await measure('worker in and out, with the frame', (call) => {
    worker.dispatch(call);
    worker.receive(encodeMessages([{ op: 'result', id: `call_${call}`, text: result }]));
    worker.outbox.drop(`call_${call}`);
  });
}
await measure('(the port text alone)', (call) => void callText(call));
{
  const { bridge, host, start } = makeBridge();
  await measure('bridge in and out, with the text', (call) => {
    start(callText(call));
    bridge.receiveFromHost(host, `r ${call + 1} ${result}`);
    bridge.receiveFromWorker({ op: 'confirmEndings', ids: [`call_${call}`] });
  });
}
{
  const realm = makeRealm();
  realm.start('demo', 'h1', makeAdapterCode('demo', "{ name: 'run', handle: async (p) => p }"));
  const [port] = realm.bridge();
  await realm.waitUntilIdle();
  await measure(
    'host, schema, handler, result',
    async (call) => {
      port?.send('call', call + 1, 'run', 1 << 20, args);
      await realm.waitUntilIdle();
      port?.received.splice(0);
    },
    10,
  );
}
process.exit();

import { HOST_TO_BRIDGE_EVENT } from '../handshake.ts';
import { type BridgeChannel, hasPristinePage, makeChannel, runAtEndOfTask, runWhenHostsStarted } from './channel.ts';
import { makeReportBuffer } from './flood.ts';
import { type AdapterCode, type EntryPoint, type Lifecycle, makeLifecycle } from './lifecycle.ts';
import { makeLogs } from './logs.ts';
import { type HostOptions, readOptions } from './options.ts';
import {
  dataProperty,
  defineProperty,
  freeze,
  hasOwn,
  isInFrame,
  realDocument,
  runInMicrotask,
  toJson,
} from './primordials.ts';
import type { CallOutcome } from './result.ts';
import { makeSettings } from './settings.ts';
import { type AdapterTimers, makeTimers } from './timers.ts';

/**
 * The function `start` runs one plugin in a document. `optionsJson` is the JSON text of the plugin's HostOptions. The
 * extension must call start at document_start. If the document already has content, a page script may have run, so
 * `start` does nothing. The pre-script and the adapter run after a bridge has accepted the port, and before the first
 * page script. Without a bridge, only the pre-script runs. `start` returns the entry point through which the plugin can
 * receive an adapter later.
 *
 * If the options contain no plugin name, `start` creates the base, which is the host that creates hosts for plugins
 * whose code arrives later. If the options contain a hostOfferEventType, the extension can call start at any time, but
 * only in an isolated world.
 */
export function start(
  optionsJson: string,
  evaluateAdapter?: AdapterCode,
  preScript?: AdapterCode,
): EntryPoint | undefined {
  const options = readOptions(optionsJson);
  if (options.hostOfferEventType !== '') return startLateHost(options, evaluateAdapter);
  if (!hasPristinePage()) return undefined;
  if (options.plugin === '') return isInFrame && !options.runsInFrames ? undefined : startBaseHost();
  const { channel, adapterLifecycle, offerText: hostOfferText } = makePlugin(options, evaluateAdapter);
  const prepareSettings = () => {
    if (preScript) adapterLifecycle.runPreScript(preScript);
  };
  if (isInFrame && !options.runsInFrames) {
    // The pre-script runs only after all hosts of the document have stored their built-in functions.
    if (preScript) runWhenHostsStarted(() => runInMicrotask(prepareSettings));
    return undefined;
  }
  channel.offerToBridge(hostOfferText, (isAccepted) => {
    prepareSettings();
    if (isAccepted) adapterLifecycle.begin(false);
  });
  return adapterLifecycle.entryPoint;
}

interface PluginHost {
  readonly channel: BridgeChannel;
  readonly adapterLifecycle: Lifecycle;
  /** offerText is the JSON text of the offer that the host sends to the bridge together with the channel. */
  readonly offerText: string;
}

function makePlugin(
  { plugin, hash, base: baseHash, settings: initialSettings, startsAfterParsing }: HostOptions,
  evaluateAdapter: AdapterCode | undefined,
): PluginHost {
  const channel = makeChannel();
  const { sendToBridge } = channel;
  const settings = makeSettings();
  settings.update(initialSettings);
  const flushBuffers = () => {
    logs.flush();
    reportBuffer.flush();
  };
  const scheduleFlush = runAtEndOfTask(flushBuffers);
  const logs = makeLogs(
    (count, dropped, entriesText) => sendToBridge(`l ${count} ${dropped} ${entriesText}`),
    scheduleFlush,
  );
  const reportBuffer = makeReportBuffer(
    (call, count, skippedReportCount, reports) => sendToBridge(`p ${call} ${count} ${skippedReportCount} ${reports}`),
    scheduleFlush,
  );
  /** sendNow first sends all buffered logs and reports to the bridge, and then the message. */
  const sendNow = (sentText: string) => {
    flushBuffers();
    sendToBridge(sentText);
  };
  const timers = makeTimers((ms) => sendToBridge(`w ${ms}`));
  const adapterLifecycle = makeLifecycle({
    hostServices: {
      plugin,
      config: settings.configObject,
      logs,
      timers,
      onReadinessChanged: () => adapterLifecycle.toolRunner.probe(),
    },
    evaluateAdapter,
    startsAfterParsing: startsAfterParsing,
    sendToBridge,
    events: {
      report: reportBuffer.add,
      ask: (call, ask, body) => sendNow(`q ${call} ${ask} ${body}`),
      end: (call, callOutcome) => sendNow(makeOutcomeMessage(call, callOutcome)),
      reportStepTimes: (call, times) => sendToBridge(`t ${call}${times}`),
      aborted: (call) => sendNow(`a ${call}`),
      ready: (isReady) => sendToBridge(isReady ? 's 1' : 's 0'),
    },
  });
  channel.listen((messageParts) =>
    handleMessage(messageParts, adapterLifecycle, timers, settings.update, sendToBridge),
  );
  return {
    channel,
    adapterLifecycle,
    offerText: toJson([plugin, hash, baseHash, evaluateAdapter !== undefined]),
  };
}

/**
 * startBaseHost offers the bridge the channel of the base host, over which the bridge requests hosts for plugins whose
 * code arrives later. Each plugin gets a separate channel to the bridge, which is sent over the channel of the base
 * host and is not visible to the page.
 */
function startBaseHost(): EntryPoint {
  const baseChannel = makeChannel();
  const entryPoints: EntryPoint[] = [];
  baseChannel.listen((messageParts) => {
    const readPart = makeElementReader(messageParts);
    if (readPart(0) !== 'host') return;
    const options = readOptions(toTextOrEmpty(readPart(1)));
    if (options.plugin === '') return;
    const { channel, adapterLifecycle, offerText: hostOfferText } = makePlugin(options, undefined);
    defineProperty(entryPoints, entryPoints.length, dataProperty(adapterLifecycle.entryPoint));
    if (channel.offerThroughPort(baseChannel.port, HOST_TO_BRIDGE_EVENT, `host ${hostOfferText}`))
      adapterLifecycle.armEntryPoint(toTextOrEmpty(readPart(2)), options.hash);
  });
  baseChannel.offerToBridge(toJson(['', '', '']), doNothing);
  return freeze((nonce: unknown, hash: unknown, newAdapterCode: unknown) => {
    for (let i = 0; i < entryPoints.length; i++)
      if (entryPoints[i]?.(nonce, hash, newAdapterCode) === true) return true;
    return false;
  });
}

/** If no bridge waits for the plugin, startLateHost does not start the adapter. */
function startLateHost(options: HostOptions, evaluateAdapter: AdapterCode | undefined): EntryPoint | undefined {
  const { channel, adapterLifecycle, offerText: hostOfferText } = makePlugin(options, evaluateAdapter);
  if (!channel.offerThroughPort(realDocument, options.hostOfferEventType, hostOfferText)) return undefined;
  adapterLifecycle.begin(false);
  return adapterLifecycle.entryPoint;
}

function doNothing(): void {
  // doNothing is the start callback of the base, which is a host without an adapter.
}

/** Plain indexing would read a missing element from the page's Array.prototype. */
function makeElementReader(messageParts: readonly unknown[]): (index: number) => unknown {
  return (index) => (hasOwn(messageParts, index) ? messageParts[index] : undefined);
}

function handleMessage(
  messageParts: readonly unknown[],
  adapterLifecycle: Lifecycle,
  timers: AdapterTimers,
  updateSettings: (settings: unknown) => void,
  sendToBridge: (sentText: string) => void,
): void {
  const readPart = makeElementReader(messageParts);
  switch (readPart(0)) {
    case 'begin':
      adapterLifecycle.begin(true);
      return;
    case 'probe':
      adapterLifecycle.toolRunner.probe();
      return;
    case 'wake':
      timers.wake();
      return;
    case 'settings':
      updateSettings(readPart(1));
      return;
    case 'renew':
      adapterLifecycle.armEntryPoint(toTextOrEmpty(readPart(1)), toTextOrEmpty(readPart(2)));
      return;
    case 'remove':
      adapterLifecycle.remove();
      return;
  }
  const call = readPart(1);
  if (typeof call === 'number') handleCallMessage(readPart, call, adapterLifecycle, sendToBridge);
}

function handleCallMessage(
  readPart: (index: number) => unknown,
  call: number,
  { toolRunner }: Lifecycle,
  sendToBridge: (sentText: string) => void,
): void {
  switch (readPart(0)) {
    case 'cancel':
      if (!toolRunner.cancel(call, toTextOrEmpty(readPart(2)))) sendToBridge(`f ${call}`);
      return;
    case 'traced':
    case 'call': {
      const maxBytes = readPart(3);
      if (typeof maxBytes !== 'number') return;
      const prompt = readPart(5) === true;
      const isTraced = readPart(0) === 'traced';
      const tool = toTextOrEmpty(readPart(2));
      toolRunner.run({ call, tool, maxBytes, args: readPart(4), prompt, decision: readPart(6), isTraced });
      return;
    }
    case 'answer': {
      const ask = readPart(2);
      if (typeof ask === 'number') toolRunner.answer(call, ask, readPart(3) === true, readPart(4));
      return;
    }
    case 'resync':
      toolRunner.resync(call, toTextOrEmpty(readPart(2)));
      return;
  }
}

function makeOutcomeMessage(call: number, callOutcome: CallOutcome): string {
  switch (callOutcome.kind) {
    case 'result':
      return `r ${call} ${callOutcome.text}`;
    case 'error':
      return `e ${call} ${callOutcome.text}`;
    case 'nothing':
      return `n ${call}`;
  }
}

function toTextOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

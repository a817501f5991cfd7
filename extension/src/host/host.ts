import { UP_MESSAGE } from '../handshake.ts';
import { type BridgeChannel, hasPristinePage, makeChannel, runAtEndOfTask, runAtStart } from './channel.ts';
import { makeReportBuffer } from './flood.ts';
import { type EntryPoint, type Evaluate, type Lifecycle, makeLifecycle } from './lifecycle.ts';
import { makeLogs } from './logs.ts';
import { type Options, readOptions } from './options.ts';
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
import type { Outcome } from './result.ts';
import { makeSettings } from './settings.ts';
import { makeTimers, type Timers } from './timers.ts';

/**
 * The function `start` runs one plugin in a document. `optionsText` is the JSON text of the plugin's Options. The
 * extension must call start at document_start. If the document already has content, a page script may have run, so
 * `start` does nothing. The pre-script and the adapter run after a bridge has accepted the port, and before the first
 * page script. Without a bridge, only the pre-script runs. `start` returns the entry point through which the plugin can
 * receive an adapter later.
 *
 * If the options contain no plugin name, `start` creates the base, which is the host that creates hosts for plugins
 * whose code arrives later. If the options contain a lateHostEvent, the extension can call start at any time, but only
 * in an isolated world.
 */
export function start(optionsText: string, evaluate?: Evaluate, preScript?: Evaluate): EntryPoint | undefined {
  const options = readOptions(optionsText);
  if (options.lateHostEvent !== '') return startLate(options, evaluate);
  if (!hasPristinePage()) return undefined;
  if (options.plugin === '') return isInFrame && !options.runsInFrames ? undefined : startBase();
  const { channel, lifecycle, introduction } = makePlugin(options, evaluate);
  const prepare = () => {
    if (preScript) lifecycle.prepare(preScript);
  };
  if (isInFrame && !options.runsInFrames) {
    // The pre-script runs only after all hosts of the document have stored their built-in functions.
    if (preScript) runAtStart(() => runInMicrotask(prepare));
    return undefined;
  }
  channel.offerToBridge(introduction, (isAccepted) => {
    prepare();
    if (isAccepted) lifecycle.begin(false);
  });
  return lifecycle.entryPoint;
}

interface PluginHost {
  readonly channel: BridgeChannel;
  readonly lifecycle: Lifecycle;
  /**
   * The field `introduction` is the JSON text of the offer that the host sends to the bridge together with the channel.
   */
  readonly introduction: string;
}

function makePlugin(
  { plugin, hash, base, settings: initialSettings, startsLate }: Options,
  evaluate: Evaluate | undefined,
): PluginHost {
  const channel = makeChannel();
  const { sendToBridge } = channel;
  const settings = makeSettings();
  settings.update(initialSettings);
  const flush = () => {
    logs.flush();
    reportBuffer.flush();
  };
  const scheduleFlush = runAtEndOfTask(flush);
  const logs = makeLogs((count, dropped, entries) => sendToBridge(`l ${count} ${dropped} ${entries}`), scheduleFlush);
  const reportBuffer = makeReportBuffer(
    (call, count, skipped, reports) => sendToBridge(`p ${call} ${count} ${skipped} ${reports}`),
    scheduleFlush,
  );
  /** sendNow first sends all buffered logs and reports to the bridge, and then the message. */
  const sendNow = (text: string) => {
    flush();
    sendToBridge(text);
  };
  const timers = makeTimers((ms) => sendToBridge(`w ${ms}`));
  const lifecycle = makeLifecycle({
    services: { plugin, config: settings.config, logs, timers, onReadinessChanged: () => lifecycle.runner.probe() },
    evaluate,
    startsLate,
    sendToBridge,
    events: {
      report: reportBuffer.add,
      ask: (call, ask, body) => sendNow(`q ${call} ${ask} ${body}`),
      end: (call, outcome) => sendNow(makeOutcomeMessage(call, outcome)),
      traced: (call, times) => sendToBridge(`t ${call}${times}`),
      aborted: (call) => sendNow(`a ${call}`),
      ready: (ready) => sendToBridge(ready ? 's 1' : 's 0'),
    },
  });
  channel.listen((parts) => handleMessage(parts, lifecycle, timers, settings.update, sendToBridge));
  return { channel, lifecycle, introduction: toJson([plugin, hash, base, evaluate !== undefined]) };
}

/**
 * startBase offers the bridge the channel of the base host, over which the bridge requests hosts for plugins whose code
 * arrives later. Each plugin gets a separate channel to the bridge, which is sent over the channel of the base host and
 * is not visible to the page.
 */
function startBase(): EntryPoint {
  const baseChannel = makeChannel();
  const entryPoints: EntryPoint[] = [];
  baseChannel.listen((parts) => {
    const readPart = makeElementReader(parts);
    if (readPart(0) !== 'host') return;
    const options = readOptions(toTextOrEmpty(readPart(1)));
    if (options.plugin === '') return;
    const { channel, lifecycle, introduction } = makePlugin(options, undefined);
    defineProperty(entryPoints, entryPoints.length, dataProperty(lifecycle.entryPoint));
    if (channel.offerThroughPort(baseChannel.port, UP_MESSAGE, `host ${introduction}`))
      lifecycle.armEntryPoint(toTextOrEmpty(readPart(2)), options.hash);
  });
  baseChannel.offerToBridge(toJson(['', '', '']), doNothing);
  return freeze((nonce: unknown, hash: unknown, next: unknown) => {
    for (let i = 0; i < entryPoints.length; i++) if (entryPoints[i]?.(nonce, hash, next) === true) return true;
    return false;
  });
}

/** If no bridge waits for the plugin, startLate does not start the adapter. */
function startLate(options: Options, evaluate: Evaluate | undefined): EntryPoint | undefined {
  const { channel, lifecycle, introduction } = makePlugin(options, evaluate);
  if (!channel.offerThroughPort(realDocument, options.lateHostEvent, introduction)) return undefined;
  lifecycle.begin(false);
  return lifecycle.entryPoint;
}

function doNothing(): void {
  // doNothing is the start callback of the base, which is a host without an adapter.
}

/** Plain indexing would read a missing element from the page's Array.prototype. */
function makeElementReader(parts: readonly unknown[]): (index: number) => unknown {
  return (index) => (hasOwn(parts, index) ? parts[index] : undefined);
}

function handleMessage(
  parts: readonly unknown[],
  lifecycle: Lifecycle,
  timers: Timers,
  updateSettings: (settings: unknown) => void,
  sendToBridge: (text: string) => void,
): void {
  const readPart = makeElementReader(parts);
  switch (readPart(0)) {
    case 'begin':
      lifecycle.begin(true);
      return;
    case 'probe':
      lifecycle.runner.probe();
      return;
    case 'wake':
      timers.wake();
      return;
    case 'settings':
      updateSettings(readPart(1));
      return;
    case 'renew':
      lifecycle.armEntryPoint(toTextOrEmpty(readPart(1)), toTextOrEmpty(readPart(2)));
      return;
    case 'remove':
      lifecycle.remove();
      return;
  }
  const call = readPart(1);
  if (typeof call === 'number') handleCallMessage(readPart, call, lifecycle, sendToBridge);
}

function handleCallMessage(
  readPart: (index: number) => unknown,
  call: number,
  { runner }: Lifecycle,
  sendToBridge: (text: string) => void,
): void {
  switch (readPart(0)) {
    case 'cancel':
      if (!runner.cancel(call, toTextOrEmpty(readPart(2)))) sendToBridge(`f ${call}`);
      return;
    case 'traced':
    case 'call': {
      const maxBytes = readPart(3);
      if (typeof maxBytes !== 'number') return;
      const prompt = readPart(5) === true;
      const isTraced = readPart(0) === 'traced';
      const tool = toTextOrEmpty(readPart(2));
      runner.run({ call, tool, maxBytes, args: readPart(4), prompt, decision: readPart(6), isTraced });
      return;
    }
    case 'answer': {
      const ask = readPart(2);
      if (typeof ask === 'number') runner.answer(call, ask, readPart(3) === true, readPart(4));
      return;
    }
    case 'resync':
      runner.resync(call, toTextOrEmpty(readPart(2)));
      return;
  }
}

function makeOutcomeMessage(call: number, outcome: Outcome): string {
  switch (outcome.kind) {
    case 'result':
      return `r ${call} ${outcome.text}`;
    case 'error':
      return `e ${call} ${outcome.text}`;
    case 'nothing':
      return `n ${call}`;
  }
}

function toTextOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

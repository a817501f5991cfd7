import { type CallError, CancelTimeoutMs, MaxPartChars, type PageHops } from '../../../wire/wire.gen.ts';
import { addToBoundedBuffer } from '../bounded-buffer.ts';
import { measureMicroseconds } from '../microseconds.ts';
import { type FromBridge, MaxCallAgeMs, type ToBridge } from '../port-message.ts';
import { type PortHandlers, routeMessage } from '../port-router.ts';
import { splitResult } from '../result-parts.ts';
import type { Host, HostEvents } from './hosts.ts';
import { PartSender } from './parts.ts';
import { Plugins } from './plugins.ts';
import { type AdapterSwaps, makeAdapterSwaps } from './swaps.ts';
import { makeToolRequests, type ToolRequests } from './tool-requests.ts';

type Progress = Extract<FromBridge, { op: 'progress' }>;

/** Call is a call that runs or ran in the document and whose ending the server has not yet confirmed. */
interface Call {
  readonly id: string;
  readonly number: number;
  readonly host: Host;
  /** endingMessages is set from the end of the call until the worker has acknowledged the ending. */
  endingMessages?: FromBridge[];
  sentReportCount: number;
  unsentProgress: Progress[];
  readonly toolRequests: ToolRequests;
  /** deferredStart is the start message of a call that waits until its host has received a new adapter. */
  deferredStart?: string;
  trace?: CallTrace;
}

/** CallTrace contains the times of a traced call in milliseconds, by the clock of the page. */
interface CallTrace {
  readonly arrivedAtMs: number;
  readonly sentAtMs: number;
  /**
   * hostTimes are the times that the host reported: when isReady returned, when the handler started, and when the call
   * ended.
   */
  hostTimes: readonly number[];
}

/**
 * BridgeCalls manages the calls in a document, and forwards messages between the hosts of the document and the worker.
 */
export class BridgeCalls {
  readonly #post: (message: FromBridge) => boolean;
  readonly plugins: Plugins;
  readonly #callsById = new Map<string, Call>();
  readonly #callsByNumber = new Map<number, Call>();
  readonly #partSender: PartSender;
  readonly #swaps: AdapterSwaps;
  #lastNumber = 0;

  readonly hostEvents: HostEvents = {
    onHostFound: (host) => this.plugins.addHost(host),
    onBaseFound: (base) => this.plugins.setBase(base),
    onMessage: (host, text) => this.receiveFromHost(host, text),
  };

  /**
   * `post` sends a message to the worker, and returns false if no port is open. `awaitLateHost` waits for a host that
   * starts after the page's scripts, and then reports this host to `events`.
   */
  constructor(
    post: (message: FromBridge) => boolean,
    isVisible: () => boolean = () => true,
    awaitLateHost: (plugin: string, type: string, events: HostEvents) => () => void = () => () => undefined,
  ) {
    this.#post = post;
    this.#swaps = makeAdapterSwaps({
      isBusy: (host) => this.#listRunningIn(host).length > 0,
      endCalls: (host) => this.#endAll(host),
      startWaitingCalls: (host) => this.#release(host),
    });
    this.plugins = new Plugins({
      post,
      isVisible,
      awaitLateHost: (plugin, type) => awaitLateHost(plugin, type, this.hostEvents),
      onLiveAdaptersChanged: () => this.#post(this.makeGreeting()),
      findPendingHash: (host) => this.#swaps.findPendingHash(host),
      endSwap: (host) => this.#swaps.finish(host),
    });
    this.#partSender = new PartSender(post);
  }

  /** receiveFromHost handles a message from a host, in the format that handshake.ts describes. */
  receiveFromHost(host: Host, text: string): void {
    const [op, rest] = splitAtSpace(text);
    if (this.plugins.receiveFromHost(host, op, rest)) return;
    const [number, body] = splitAtSpace(rest);
    const call = this.#callsByNumber.get(Number(number));
    if (!call || call.host !== host) return;
    switch (op) {
      case 'p':
        this.#sendProgress(call, body);
        break;
      case 'q': {
        const [ask, request] = splitAtSpace(body);
        this.#post(call.toolRequests.recordRequest(Number(ask), request)); // `connected` resends lost requests.
        break;
      }
      case 'r':
        this.#end(call, splitResultMessages(call.id, body, measurePageHops(call.trace)));
        break;
      case 'n':
        this.#end(call, [makeResultMessage(call.id, {}, measurePageHops(call.trace))]);
        break;
      case 't':
        if (call.trace) call.trace.hostTimes = body.split(' ').map(Number);
        break;
      case 'e':
        this.#end(call, [makeErrorMessage(call.id, body, measurePageHops(call.trace))]);
        break;
      case 'a':
      case 'f':
        this.#forget(call);
        this.#post({ op: 'cancelled', id: call.id, outcome: op === 'a' ? 'aborted' : 'finished' });
        break;
    }
  }

  /** `arrivedMs` is the time at which the message arrived, as performance.now() returned it. */
  receiveFromWorker(message: ToBridge, arrivedMs = performance.now()): void {
    routeMessage(this.#handlers, message.op, message, arrivedMs);
  }

  readonly #handlers: PortHandlers<ToBridge, [arrivedMs: number]> = {
    call: (message, arrivedMs) => this.#start(message, arrivedMs),
    cancel: ({ id, reason }) => this.#cancel(id, reason),
    answer: (message) => this.#answer(message),
    resync: ({ id, type }) => this.#sendToHost(this.#callsById.get(id), 'resync', type),
    partSent: () => this.#partSender.confirmPart(),
    wake: () => this.plugins.wake(),
    confirmEndings: ({ ids }) => {
      for (const id of ids) {
        const call = this.#callsById.get(id);
        if (call) this.#forget(call);
      }
    },
    replaceAdapter: (message) => {
      const host = this.plugins.findHost(message.plugin);
      if (host) this.#swaps.begin(host, message);
    },
    ping: () => undefined, // The file link.ts answers pings.
    settings: (message) => this.plugins.receive(message),
    probe: (message) => this.plugins.receive(message),
    prepareHost: (message) => this.plugins.receive(message),
    awaitLateHost: (message) => this.plugins.receive(message),
    removePlugin: (message) => this.plugins.receive(message),
  };

  /** The method `connected` resends all messages that possibly did not reach the worker over the previous port. */
  connected(): void {
    this.#swaps.clear();
    for (const call of this.#callsById.values()) {
      for (const message of call.unsentProgress.splice(0)) this.#post(message);
      for (const message of call.toolRequests.listUnansweredRequests()) this.#post(message);
      if (call.endingMessages?.length === 1) for (const message of call.endingMessages) this.#post(message);
    }
    this.#partSender.restart();
    this.plugins.onConnected();
  }

  get runningCount(): number {
    return this.#callsByNumber.size;
  }

  /** reportLeaving reports to the worker which calls have started, before the document unloads. */
  reportLeaving(): void {
    this.plugins.flush();
    // When the document unloads, Chrome may drop the message that reports a call's ending. The message 'leaving' lists
    // an ended call until the server has confirmed the call's ending.
    const startedIds = [...this.#callsById.values()]
      .filter((call) => call.deferredStart === undefined)
      .map((call) => call.id);
    this.#post({ op: 'leaving', begunCalls: startedIds });
  }

  /** cancelAll cancels all calls of the document, because the extension was removed or reloaded. */
  cancelAll(reason: string): void {
    for (const call of this.#callsById.values()) {
      this.#sendToHost(call, 'cancel', reason);
    }
  }

  /**
   * makeGreeting returns the bridge's first message on each new port, which lists the document's plugins and running
   * calls.
   */
  makeGreeting(): FromBridge {
    const { live, removedPlugins, startedPlugins, hasBase } = this.plugins;
    return {
      op: 'documentState',
      plugins: live,
      ...(removedPlugins.length > 0 ? { removedPlugins } : {}),
      ...(startedPlugins.length > 0 ? { startedPlugins } : {}),
      ...(hasBase ? { hasBase } : {}),
      running: this.#listRunning().map((call) => ({ id: call.id, plugin: call.host.plugin })),
    };
  }

  #listRunning(): Call[] {
    return [...this.#callsById.values()].filter((call) => !call.endingMessages);
  }

  #start(message: Extract<ToBridge, { op: 'call' }>, arrivedMs: number): void {
    const { id, plugin, tool, maxBytes, args, prompt = false, decision, atMs = Date.now() } = message;
    if (this.#callsById.has(id)) return;
    const lateMs = Date.now() - atMs;
    if (lateMs > MaxCallAgeMs) {
      const message = `the page had not answered for ${Math.round(lateMs / 1000)} s when the call arrived`;
      const error: CallError = { code: 'page_unresponsive', message, notStarted: true };
      this.#post({ op: 'error', id, error: JSON.stringify(error) });
      return;
    }
    const host = this.plugins.findLiveHost(plugin);
    if (!host) {
      this.#post({ op: 'error', id, error: makeNotLiveError(plugin) });
      return;
    }
    const call: Call = {
      id,
      number: ++this.#lastNumber,
      host,
      sentReportCount: 0,
      unsentProgress: [],
      toolRequests: makeToolRequests(id),
    };
    this.#callsById.set(id, call);
    this.#callsByNumber.set(call.number, call);
    const decisionSuffix = decision === undefined ? '' : `,${decision}`;
    const op = message.trace ? 'traced' : 'call';
    const text = `["${op}",${call.number},${JSON.stringify(tool)},${maxBytes},${args},${prompt}${decisionSuffix}]`;
    if (message.trace) call.trace = { arrivedAtMs: arrivedMs, sentAtMs: performance.now(), hostTimes: [] };
    if (this.#swaps.isWaiting(host)) call.deferredStart = text;
    else host.send(text);
  }

  #listRunningIn(host: Host): Call[] {
    return [...this.#callsByNumber.values()].filter((call) => call.host === host && call.deferredStart === undefined);
  }

  #endAll(host: Host): void {
    const message = `a new version of the plugin ${host.plugin} replaced the one that ran the call`;
    const error: CallError = { code: 'plugin_updated', message };
    for (const call of this.#listRunningIn(host)) {
      this.#sendToHost(call, 'cancel', message);
      this.#end(call, [{ op: 'error', id: call.id, error: JSON.stringify(error) }]);
    }
  }

  #release(host: Host): void {
    for (const call of [...this.#callsByNumber.values()]) {
      const { deferredStart } = call;
      if (call.host !== host || deferredStart === undefined) continue;
      delete call.deferredStart;
      if (this.plugins.findLiveHost(host.plugin) === host) host.send(deferredStart);
      else this.#end(call, [{ op: 'error', id: call.id, error: makeNotLiveError(host.plugin) }]);
    }
  }

  #sendToHost(call: Call | undefined, op: 'cancel' | 'resync', text: string): void {
    if (call && !call.endingMessages) call.host.send(JSON.stringify([op, call.number, text]));
  }

  #answer({ id, ask, output, error }: Extract<ToBridge, { op: 'answer' }>): void {
    const call = this.#callsById.get(id);
    const state = call?.toolRequests.recordAnswer(ask) ?? 'unwanted';
    if (call && state === 'wanted') {
      const value = error ?? output;
      const suffix = value === undefined ? '' : `,${value}`;
      call.host.send(`["answer",${call.number},${ask},${error === undefined}${suffix}]`);
    }
    this.#post({ op: 'answerReceived', id, ask, taken: state !== 'unwanted' });
  }

  #cancel(id: string, reason: string): void {
    const call = this.#callsById.get(id);
    if (!call || call.endingMessages) {
      // If the call has already ended, the bridge sends the worker only the outcome "finished".
      if (call) this.#forget(call);
      this.#post({ op: 'cancelled', id, outcome: 'finished' });
      return;
    }
    if (call.deferredStart !== undefined) {
      this.#forget(call);
      this.#post({ op: 'cancelled', id, outcome: 'aborted' });
      return;
    }
    this.#sendToHost(call, 'cancel', reason);
    setTimeout(() => {
      if (this.#callsById.get(id) !== call) return;
      this.#forget(call);
      this.#post({ op: 'cancelled', id, outcome: 'ignored' });
    }, CancelTimeoutMs);
  }

  #sendProgress(call: Call, body: string): void {
    const [count, rest] = splitAtSpace(body);
    const [skipped, reports] = splitAtSpace(rest);
    const message: Progress = {
      op: 'progress',
      id: call.id,
      seq: call.sentReportCount,
      skipped: Number(skipped),
      reports,
    };
    call.sentReportCount += Number(count);
    if (!this.#post(message)) addToBoundedBuffer(call.unsentProgress, message);
  }

  /** The method connected sends the stored messages of an ended call after the call's waiting progress messages. */
  #end(call: Call, ending: FromBridge[]): void {
    call.endingMessages = ending;
    call.toolRequests.close();
    this.#callsByNumber.delete(call.number);
    if (ending.length > 1) this.#partSender.begin(call.id, ending);
    else for (const message of ending) this.#post(message);
    this.#swaps.onCallEnded(call.host);
  }

  #forget(call: Call): void {
    this.#partSender.drop(call.id);
    this.#callsById.delete(call.id);
    this.#callsByNumber.delete(call.number);
    this.#swaps.onCallEnded(call.host);
  }
}

function makeNotLiveError(plugin: string): string {
  const message = `the plugin ${plugin} is not live in this tab`;
  const error: CallError = { code: 'navigated', message, notStarted: true };
  return JSON.stringify(error);
}

/** splitResultMessages splits a large result into parts, because Chrome limits port messages to 64 MiB. */
function splitResultMessages(id: string, text: string, hops: PageHops | undefined): FromBridge[] {
  if (text.length <= MaxPartChars) return [makeResultMessage(id, { text }, hops)];
  const messages: FromBridge[] = splitResult(text).map((part, seq) => ({ op: 'part', id, seq, text: part }));
  messages.push(makeResultMessage(id, { parts: messages.length }, hops));
  return messages;
}

function makeResultMessage(
  id: string,
  result: { readonly text?: string; readonly parts?: number },
  hops: PageHops | undefined,
): FromBridge {
  return hops ? { op: 'result', id, ...result, hops } : { op: 'result', id, ...result };
}

function makeErrorMessage(id: string, error: string, hops: PageHops | undefined): FromBridge {
  return hops ? { op: 'error', id, error, hops } : { op: 'error', id, error };
}

function measurePageHops(trace: CallTrace | undefined): PageHops | undefined {
  // If a call fails before its handler starts, the times of the steps that the call does not reach are 0.
  const [readyMs, startedMs = readyMs, settledMs = startedMs] = trace?.hostTimes ?? [];
  if (!trace || readyMs === undefined || startedMs === undefined || settledMs === undefined) return undefined;
  return {
    bridgeInUs: measureMicroseconds(trace.arrivedAtMs, trace.sentAtMs),
    hostInUs: measureMicroseconds(trace.sentAtMs, readyMs),
    schemaUs: measureMicroseconds(readyMs, startedMs),
    handlerUs: measureMicroseconds(startedMs, settledMs),
    resultUs: measureMicroseconds(settledMs, performance.now()),
  };
}

function splitAtSpace(text: string): [string, string] {
  const space = text.indexOf(' ');
  return space < 0 ? [text, ''] : [text.slice(0, space), text.slice(space + 1)];
}

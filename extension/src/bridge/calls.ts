import { type CallError, CancelTimeoutMs, MaxPartChars, type PageHops } from '../../../wire/wire.gen.ts';
import { addToBoundedBuffer } from '../bounded-buffer.ts';
import { measureMicroseconds } from '../microseconds.ts';
import { type BridgeToWorkerMessage, MaxCallAgeMs, type WorkerToBridgeMessage } from '../port-message.ts';
import { type PortHandlers, routeMessage } from '../port-router.ts';
import { splitResult } from '../result-parts.ts';
import type { Host, HostEvents } from './hosts.ts';
import { ResultPartSender } from './parts.ts';
import { Plugins } from './plugins.ts';
import { type AdapterSwaps, makeAdapterSwaps } from './swaps.ts';
import { makeToolRequests, type ToolRequests } from './tool-requests.ts';

type ProgressMessage = Extract<BridgeToWorkerMessage, { op: 'progress' }>;

/** BridgeCall is a call that runs or ran in the document and whose ending the server has not yet confirmed. */
interface BridgeCall {
  readonly id: string;
  readonly callNumber: number;
  readonly host: Host;
  /** finalMessages is set from the end of the call until the worker has acknowledged the ending. */
  finalMessages?: BridgeToWorkerMessage[];
  sentReportCount: number;
  unsentProgress: ProgressMessage[];
  readonly toolRequests: ToolRequests;
  /** deferredStartMessage is the start message of a call that waits until its host has received a new adapter. */
  deferredStartMessage?: string;
  trace?: CallTrace;
}

/** CallTrace contains the times of a traced call in milliseconds, by the clock of the page. */
interface CallTrace {
  readonly arrivedAtMs: number;
  readonly sentAtMs: number;
  /**
   * hostStepTimesMs are the times that the host reported: when isReady returned, when the handler started, and when the
   * call ended.
   */
  hostStepTimesMs: readonly number[];
}

/**
 * BridgeCalls manages the calls in a document, and forwards messages between the hosts of the document and the worker.
 */
export class BridgeCalls {
  readonly #post: (bridgeMessage: BridgeToWorkerMessage) => boolean;
  readonly plugins: Plugins;
  readonly #callsById = new Map<string, BridgeCall>();
  readonly #callsByNumber = new Map<number, BridgeCall>();
  readonly #resultPartSender: ResultPartSender;
  readonly #adapterSwaps: AdapterSwaps;
  #lastCallNumber = 0;

  readonly hostEvents: HostEvents = {
    onHostFound: (host) => this.plugins.addHost(host),
    onBaseHostFound: (baseHostPort) => this.plugins.setBaseHostPort(baseHostPort),
    onMessage: (host, hostMessageText) => this.receiveFromHost(host, hostMessageText),
  };

  /**
   * `post` sends a message to the worker, and returns false if no port is open. `awaitLateHost` waits for a host that
   * starts after the page's scripts, and then reports this host to `events`.
   */
  constructor(
    postToWorker: (bridgeMessage: BridgeToWorkerMessage) => boolean,
    isVisible: () => boolean = () => true,
    awaitLateHost: (plugin: string, type: string, events: HostEvents) => () => void = () => () => undefined,
  ) {
    this.#post = postToWorker;
    this.#adapterSwaps = makeAdapterSwaps({
      isBusy: (host) => this.#listRunningCallsInHost(host).length > 0,
      endCalls: (host) => this.#endReplacedCalls(host),
      startWaitingCalls: (host) => this.#startDeferredCalls(host),
    });
    this.plugins = new Plugins({
      post: postToWorker,
      isVisible,
      awaitLateHost: (plugin, type) => awaitLateHost(plugin, type, this.hostEvents),
      onLiveAdaptersChanged: () => this.#post(this.makeGreeting()),
      findPendingAdapterHash: (host) => this.#adapterSwaps.findPendingAdapterHash(host),
      endSwap: (host) => this.#adapterSwaps.finish(host),
    });
    this.#resultPartSender = new ResultPartSender(postToWorker);
  }

  /** receiveFromHost handles a message from a host, in the format that handshake.ts describes. */
  receiveFromHost(host: Host, hostMessageText: string): void {
    const [opCode, textAfterOpCode] = splitAtSpace(hostMessageText);
    if (this.plugins.receiveFromHost(host, opCode, textAfterOpCode)) return;
    const [callNumberText, payloadText] = splitAtSpace(textAfterOpCode);
    const call = this.#callsByNumber.get(Number(callNumberText));
    if (!call || call.host !== host) return;
    switch (opCode) {
      case 'p':
        this.#sendProgress(call, payloadText);
        break;
      case 'q': {
        const [askId, request] = splitAtSpace(payloadText);
        // The method `connected` resends lost requests.
        this.#post(call.toolRequests.recordRequest(Number(askId), request));
        break;
      }
      case 'r':
        this.#end(call, splitResultMessages(call.id, payloadText, measurePageSteps(call.trace)));
        break;
      case 'n':
        this.#end(call, [makeResultMessage(call.id, {}, measurePageSteps(call.trace))]);
        break;
      case 't':
        if (call.trace) call.trace.hostStepTimesMs = payloadText.split(' ').map(Number);
        break;
      case 'e':
        this.#end(call, [makeErrorMessage(call.id, payloadText, measurePageSteps(call.trace))]);
        break;
      case 'a':
      case 'f':
        this.#removeCall(call);
        this.#post({ op: 'cancelled', id: call.id, outcome: opCode === 'a' ? 'aborted' : 'finished' });
        break;
    }
  }

  /** `arrivedMs` is the time at which the message arrived, as performance.now() returned it. */
  receiveFromWorker(bridgeMessage: WorkerToBridgeMessage, arrivedMs = performance.now()): void {
    routeMessage(this.#handlers, bridgeMessage.op, bridgeMessage, arrivedMs);
  }

  readonly #handlers: PortHandlers<WorkerToBridgeMessage, [arrivedMs: number]> = {
    call: (bridgeMessage, arrivedMs) => this.#start(bridgeMessage, arrivedMs),
    cancel: ({ id, reason }) => this.#cancel(id, reason),
    answer: (bridgeMessage) => this.#answer(bridgeMessage),
    resync: ({ id, type }) => this.#sendToHost(this.#callsById.get(id), 'resync', type),
    partSent: () => this.#resultPartSender.confirmPart(),
    wake: () => this.plugins.wakeHosts(),
    confirmEndings: ({ ids }) => {
      for (const id of ids) {
        const call = this.#callsById.get(id);
        if (call) this.#removeCall(call);
      }
    },
    replaceAdapter: (bridgeMessage) => {
      const host = this.plugins.findHost(bridgeMessage.plugin);
      if (host) this.#adapterSwaps.startSwap(host, bridgeMessage);
    },
    ping: () => undefined, // link.ts answers pings
    settings: (bridgeMessage) => this.plugins.receive(bridgeMessage),
    probe: (bridgeMessage) => this.plugins.receive(bridgeMessage),
    prepareHost: (bridgeMessage) => this.plugins.receive(bridgeMessage),
    awaitLateHost: (bridgeMessage) => this.plugins.receive(bridgeMessage),
    removePlugin: (bridgeMessage) => this.plugins.receive(bridgeMessage),
  };

  /** The method `connected` resends all messages that possibly did not reach the worker over the previous port. */
  connected(): void {
    this.#adapterSwaps.clear();
    for (const call of this.#callsById.values()) {
      for (const bridgeMessage of call.unsentProgress.splice(0)) this.#post(bridgeMessage);
      for (const bridgeMessage of call.toolRequests.listUnansweredRequests()) this.#post(bridgeMessage);
      if (call.finalMessages?.length === 1) for (const bridgeMessage of call.finalMessages) this.#post(bridgeMessage);
    }
    this.#resultPartSender.restart();
    this.plugins.onConnected();
  }

  get runningCount(): number {
    return this.#callsByNumber.size;
  }

  /** reportStartedCalls reports to the worker which calls have started, before the document unloads. */
  reportStartedCalls(): void {
    this.plugins.flush();
    // When the document unloads, Chrome may drop the message that reports a call's ending. The message 'leaving' lists
    // an ended call until the server has confirmed the call's ending.
    // The server sends the other calls to another document, so they must not start if this document returns from the
    // back/forward cache.
    for (const call of [...this.#callsById.values()])
      if (call.deferredStartMessage !== undefined) this.#removeCall(call);
    this.#post({ op: 'leaving', begunCalls: [...this.#callsById.keys()] });
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
  makeGreeting(): BridgeToWorkerMessage {
    const { liveAdapters, removedPlugins, startedPlugins, hasBase } = this.plugins;
    return {
      op: 'documentState',
      plugins: liveAdapters,
      ...(removedPlugins.length > 0 ? { removedPlugins } : {}),
      ...(startedPlugins.length > 0 ? { startedPlugins } : {}),
      ...(hasBase ? { hasBase } : {}),
      running: this.#listRunningCalls().map((call) => ({ id: call.id, plugin: call.host.plugin })),
    };
  }

  #listRunningCalls(): BridgeCall[] {
    return [...this.#callsById.values()].filter((call) => !call.finalMessages);
  }

  #start(bridgeMessage: Extract<WorkerToBridgeMessage, { op: 'call' }>, arrivedMs: number): void {
    const { id, plugin, tool, maxBytes, args, prompt = false, decision, atMs = Date.now() } = bridgeMessage;
    if (this.#callsById.has(id)) return;
    const delayMs = Date.now() - atMs;
    if (delayMs > MaxCallAgeMs) {
      const errorText = `the page had not answered for ${Math.round(delayMs / 1000)} s when the call arrived`;
      const error: CallError = { code: 'page_unresponsive', message: errorText, notStarted: true };
      this.#post({ op: 'error', id, error: JSON.stringify(error) });
      return;
    }
    const host = this.plugins.findLiveHost(plugin);
    if (!host) {
      this.#post({ op: 'error', id, error: makeNotLiveError(plugin) });
      return;
    }
    const call: BridgeCall = {
      id,
      callNumber: ++this.#lastCallNumber,
      host,
      sentReportCount: 0,
      unsentProgress: [],
      toolRequests: makeToolRequests(id),
    };
    this.#callsById.set(id, call);
    this.#callsByNumber.set(call.callNumber, call);
    const decisionSuffix = decision === undefined ? '' : `,${decision}`;
    const opCode = bridgeMessage.trace ? 'traced' : 'call';
    const hostMessageText = `["${opCode}",${call.callNumber},${JSON.stringify(tool)},${maxBytes},${args},${prompt}${decisionSuffix}]`;
    if (bridgeMessage.trace) call.trace = { arrivedAtMs: arrivedMs, sentAtMs: performance.now(), hostStepTimesMs: [] };
    if (this.#adapterSwaps.isWaiting(host)) call.deferredStartMessage = hostMessageText;
    else host.sendText(hostMessageText);
  }

  #listRunningCallsInHost(host: Host): BridgeCall[] {
    return [...this.#callsByNumber.values()].filter(
      (call) => call.host === host && call.deferredStartMessage === undefined,
    );
  }

  #endReplacedCalls(host: Host): void {
    const errorText = `a new version of the plugin ${host.plugin} replaced the one that ran the call`;
    const error: CallError = { code: 'plugin_updated', message: errorText };
    for (const call of this.#listRunningCallsInHost(host)) {
      this.#sendToHost(call, 'cancel', errorText);
      this.#end(call, [{ op: 'error', id: call.id, error: JSON.stringify(error) }]);
    }
  }

  #startDeferredCalls(host: Host): void {
    for (const call of [...this.#callsByNumber.values()]) {
      const { deferredStartMessage } = call;
      if (call.host !== host || deferredStartMessage === undefined) continue;
      delete call.deferredStartMessage;
      if (this.plugins.findLiveHost(host.plugin) === host) host.sendText(deferredStartMessage);
      else this.#end(call, [{ op: 'error', id: call.id, error: makeNotLiveError(host.plugin) }]);
    }
  }

  #sendToHost(call: BridgeCall | undefined, opCode: 'cancel' | 'resync', hostMessageText: string): void {
    if (call && !call.finalMessages) call.host.sendText(JSON.stringify([opCode, call.callNumber, hostMessageText]));
  }

  #answer({ id, ask: askId, output, error }: Extract<WorkerToBridgeMessage, { op: 'answer' }>): void {
    const call = this.#callsById.get(id);
    const answerExpectation = call?.toolRequests.recordAnswer(askId) ?? 'unwanted';
    if (call && answerExpectation === 'wanted') {
      const value = error ?? output;
      const valueSuffix = value === undefined ? '' : `,${value}`;
      call.host.sendText(`["answer",${call.callNumber},${askId},${error === undefined}${valueSuffix}]`);
    }
    this.#post({ op: 'answerReceived', id, ask: askId, taken: answerExpectation !== 'unwanted' });
  }

  #cancel(id: string, reason: string): void {
    const call = this.#callsById.get(id);
    if (!call || call.finalMessages) {
      // If the call has already ended, the bridge sends the worker only the outcome "finished".
      if (call) this.#removeCall(call);
      this.#post({ op: 'cancelled', id, outcome: 'finished' });
      return;
    }
    if (call.deferredStartMessage !== undefined) {
      this.#removeCall(call);
      this.#post({ op: 'cancelled', id, outcome: 'aborted' });
      return;
    }
    this.#sendToHost(call, 'cancel', reason);
    setTimeout(() => {
      if (this.#callsById.get(id) !== call) return;
      this.#removeCall(call);
      this.#post({ op: 'cancelled', id, outcome: 'ignored' });
    }, CancelTimeoutMs);
  }

  #sendProgress(call: BridgeCall, progressReportsText: string): void {
    const [count, textAfterOpCode] = splitAtSpace(progressReportsText);
    const [skippedReportCount, reports] = splitAtSpace(textAfterOpCode);
    const bridgeMessage: ProgressMessage = {
      op: 'progress',
      id: call.id,
      seq: call.sentReportCount,
      skipped: Number(skippedReportCount),
      reports,
    };
    call.sentReportCount += Number(count);
    if (!this.#post(bridgeMessage)) addToBoundedBuffer(call.unsentProgress, bridgeMessage);
  }

  /**
   * On a new port, the method `connected` sends the waiting progress messages of an ended call before the call's
   * ending.
   */
  #end(call: BridgeCall, finalMessages: BridgeToWorkerMessage[]): void {
    call.finalMessages = finalMessages;
    call.toolRequests.close();
    this.#callsByNumber.delete(call.callNumber);
    if (finalMessages.length > 1) this.#resultPartSender.sendResult(call.id, finalMessages);
    else for (const bridgeMessage of finalMessages) this.#post(bridgeMessage);
    this.#adapterSwaps.onCallEnded(call.host);
  }

  #removeCall(call: BridgeCall): void {
    this.#resultPartSender.drop(call.id);
    this.#callsById.delete(call.id);
    this.#callsByNumber.delete(call.callNumber);
    this.#adapterSwaps.onCallEnded(call.host);
  }
}

function makeNotLiveError(plugin: string): string {
  const errorText = `the plugin ${plugin} is not live in this tab`;
  const error: CallError = { code: 'navigated', message: errorText, notStarted: true };
  return JSON.stringify(error);
}

/** splitResultMessages splits a large result into parts, because Chrome limits port messages to 64 MiB. */
function splitResultMessages(
  id: string,
  resultText: string,
  pageStepDurations: PageHops | undefined,
): BridgeToWorkerMessage[] {
  if (resultText.length <= MaxPartChars) return [makeResultMessage(id, { text: resultText }, pageStepDurations)];
  const partMessages: BridgeToWorkerMessage[] = splitResult(resultText).map((part, seq) => ({
    op: 'part',
    id,
    seq,
    text: part,
  }));
  partMessages.push(makeResultMessage(id, { parts: partMessages.length }, pageStepDurations));
  return partMessages;
}

function makeResultMessage(
  id: string,
  callResult: { readonly text?: string; readonly parts?: number },
  pageStepDurations: PageHops | undefined,
): BridgeToWorkerMessage {
  return pageStepDurations
    ? { op: 'result', id, ...callResult, hops: pageStepDurations }
    : { op: 'result', id, ...callResult };
}

function makeErrorMessage(id: string, error: string, pageStepDurations: PageHops | undefined): BridgeToWorkerMessage {
  return pageStepDurations ? { op: 'error', id, error, hops: pageStepDurations } : { op: 'error', id, error };
}

function measurePageSteps(callTrace: CallTrace | undefined): PageHops | undefined {
  // If a call fails before its handler starts, the times of the steps that the call does not reach are 0.
  const [adapterReadyMs, startedMs = adapterReadyMs, handlerSettledMs = startedMs] = callTrace?.hostStepTimesMs ?? [];
  if (!callTrace || adapterReadyMs === undefined || startedMs === undefined || handlerSettledMs === undefined)
    return undefined;
  return {
    bridgeInUs: measureMicroseconds(callTrace.arrivedAtMs, callTrace.sentAtMs),
    hostInUs: measureMicroseconds(callTrace.sentAtMs, adapterReadyMs),
    schemaUs: measureMicroseconds(adapterReadyMs, startedMs),
    handlerUs: measureMicroseconds(startedMs, handlerSettledMs),
    resultUs: measureMicroseconds(handlerSettledMs, performance.now()),
  };
}

function splitAtSpace(text: string): [string, string] {
  const spaceIndex = text.indexOf(' ');
  return spaceIndex < 0 ? [text, ''] : [text.slice(0, spaceIndex), text.slice(spaceIndex + 1)];
}

// Defines the messages on the chrome.runtime port between a document's bridge and the service worker. The bridge and
// the worker send messages in lists (batch.ts), and encode each list as one string (port-text.ts). The worker validates
// each message from a document, because an attacker may control the document's process.

import type { CancelOutcome, PageHops, PluginSettings, TabPlugin } from '../../wire/wire.gen.ts';
import { type PortReaders, readMessage } from './port-router.ts';
import { type Fields, isRecord } from './record.ts';

export const BRIDGE_PORT = 'bridge';
export const PANEL_PORT = 'panel';
export const POPUP_PORT = 'popup';

/**
 * BRIDGE_MARK_KEY marks a document with a bridge, because two bridges can start in one document while the extension
 * registers its scripts again.
 */
export const BRIDGE_MARK_KEY = 'opentabsBridge';

/**
 * LiveAdapter describes an adapter that was started in a document. `base` is a hash of the parts of the plugin that a
 * hot reload cannot replace.
 */
export interface LiveAdapter extends TabPlugin {
  base?: string;
  problem?: string;
}

/** A document from which an adapter was removed can later receive a new adapter of the same plugin. */
export interface RemovedPlugin {
  name: string;
  base?: string;
}

export interface StartedPlugin {
  readonly name: string;
  readonly hash: string;
  readonly awaitsAdapter: boolean;
}

export type BridgeToWorkerMessage =
  /**
   * 'documentState' is the first message on each port, and is sent again when the plugins of the document change.
   * `hasBase` is true if the document has a base, which is a host that can create hosts for more plugins.
   */
  | {
      op: 'documentState';
      plugins: LiveAdapter[];
      removedPlugins?: RemovedPlugin[];
      startedPlugins?: StartedPlugin[];
      hasBase?: boolean;
      running: { id: string; plugin: string }[];
    }
  /**
   * `reports` is the JSON text of an array of wire.Report. `seq` is the number of the call's earlier progress reports,
   * which are not in `reports`.
   */
  | { op: 'progress'; id: string; seq: number; skipped: number; reports: string }
  /** After the last part of a large result, the bridge sends a message 'result' with the number of parts. */
  | { op: 'part'; id: string; seq: number; text: string }
  /** `text` is the JSON text of the tool's result. `text` is absent if the result is undefined or is sent in parts. */
  | { op: 'result'; id: string; text?: string; parts?: number; hops?: PageHops }
  /** `error` is the JSON text of a wire.CallError. */
  | { op: 'error'; id: string; error: string; hops?: PageHops }
  | { op: 'cancelled'; id: string; outcome: CancelOutcome }
  /** `body` is the tool's request as the JSON text of a wire.ToolAskParams without its IDs. */
  | { op: 'toolRequest'; id: string; ask: number; body: string }
  /** In a message 'answerReceived', `taken` is true if the tool was still waiting for the answer. */
  | { op: 'answerReceived'; id: string; ask: number; taken: boolean }
  /**
   * `begunCalls` are the IDs of the calls that reached a host in the document, and whose ending the server has not
   * confirmed. A call of the document that is not in `begunCalls` has not started.
   */
  | { op: 'leaving'; begunCalls: readonly string[] }
  | { op: 'navigating'; on: boolean }
  | { op: 'ready'; plugin: string; ready: boolean }
  /** `entries` is the JSON text of an array of at most MaxLogEntries wire.LogEntry. */
  | { op: 'log'; plugin: string; entries: string; dropped: number }
  /** Reports that the document is hidden and needs a 'wake' message in ms milliseconds, at most 2^31 - 1. */
  | { op: 'scheduleWake'; ms: number }
  /** The bridge sends 'pong' at once as the answer to a message 'ping'. */
  | { op: 'pong'; ping: number }
  /**
   * The bridge sends 'entryPointReady' as soon as no call runs in the plugin's old adapter. `usesBase` is true if the
   * entry point belongs to the base (the host that creates other hosts), and false if it belongs to the plugin's own
   * host.
   */
  | { op: 'entryPointReady'; plugin: string; nonce: string; usesBase: boolean; isHostLate?: true }
  /** If `problem` is set, the new adapter failed to start and the old adapter stays. */
  | { op: 'adapterReplaced'; plugin: string; hash: string; problem?: string };

export type WorkerToBridgeMessage =
  /** `args` is the JSON text of the tool's arguments, and `decision` is the JSON text of the user's decision. */
  | {
      op: 'call';
      id: string;
      plugin: string;
      tool: string;
      maxBytes: number;
      args: string;
      prompt?: true;
      decision?: string;
      trace?: true;
      /**
       * `atMs` is when the worker sent the call. The bridge does not start a call that arrives more than MaxCallAgeMs
       * later.
       */
      atMs?: number;
    }
  /** Requests a 'pong'. The bridge answers a 'ping' at once unless a script blocks the page. */
  | { op: 'ping'; ping: number }
  | { op: 'cancel'; id: string; reason: string }
  /**
   * `output` is JSON text, and `error` is the JSON text of a wire.CallError. If a message 'answer' has neither `output`
   * nor `error`, the answer to the tool's request is undefined.
   */
  | { op: 'answer'; id: string; ask: number; output?: string; error?: string }
  | { op: 'resync'; id: string; type: string }
  /** After a message 'partSent', the bridge may send the next part of the result. */
  | { op: 'partSent' }
  /** After a message 'confirmEndings', the bridge deletes its records of the calls in `ids`. */
  | { op: 'confirmEndings'; ids: readonly string[] }
  | { op: 'settings'; plugin: string; settings: PluginSettings }
  | { op: 'probe'; plugin: string }
  | { op: 'wake' }
  /**
   * Once the running calls have ended, or after waitMs, the document answers with 'entryPointReady'. The entry point
   * accepts a new adapter only with this nonce, and only once.
   */
  | { op: 'replaceAdapter'; plugin: string; hash: string; nonce: string; waitMs: number }
  /**
   * The entry point of the plugin's host accepts the adapter; if the plugin has no host, the base host creates one with
   * `options` (JSON text).
   */
  | { op: 'prepareHost'; plugin: string; hash: string; nonce: string; options: string }
  /**
   * Prepares a document for a new adapter in an isolated world, as the message 'prepareHost' does in the page's world.
   * If the plugin has no host in the document yet, the new host sends its offer in an event whose type is the nonce.
   */
  | { op: 'awaitLateHost'; plugin: string; hash: string; nonce: string }
  | { op: 'removePlugin'; plugin: string };

/** MaxWakeDelayMs is the longest delay that timers in browsers support, in milliseconds. */
const MaxWakeDelayMs = 2 ** 31 - 1;

/**
 * MaxCallAgeMs is the maximum time between the sending of a call and its arrival at the bridge, in milliseconds. The
 * bridge does not start a call that arrives later.
 */
export const MaxCallAgeMs = 3000;

export function readMessageFromBridge(value: unknown): BridgeToWorkerMessage | undefined {
  return readMessage(fromBridgeReaders, value);
}

const fromBridgeReaders: PortReaders<BridgeToWorkerMessage> = {
  documentState: readDocumentState,
  progress: ({ id, seq, skipped: skippedReportCount, reports }) =>
    isNonEmptyText(id) && isNonNegativeInteger(seq) && isNonNegativeInteger(skippedReportCount) && isText(reports)
      ? { op: 'progress', id, seq, skipped: skippedReportCount, reports }
      : undefined,
  part: ({ id, seq, text: partText }) =>
    isNonEmptyText(id) && isNonNegativeInteger(seq) && isText(partText)
      ? { op: 'part', id, seq, text: partText }
      : undefined,
  result: ({ id, text: partText, parts: partCount, hops: pageStepDurations }) => {
    if (!isNonEmptyText(id)) return undefined;
    const resultMessage: Extract<BridgeToWorkerMessage, { op: 'result' }> = { op: 'result', id };
    if (isText(partText)) resultMessage.text = partText;
    else if (isNonNegativeInteger(partCount)) resultMessage.parts = partCount;
    return { ...resultMessage, ...readPageStepDurations(pageStepDurations) };
  },
  error: ({ id, error, hops: pageStepDurations }) =>
    isNonEmptyText(id) && isText(error)
      ? { op: 'error', id, error, ...readPageStepDurations(pageStepDurations) }
      : undefined,
  cancelled: ({ id, outcome: cancelOutcome }) =>
    isNonEmptyText(id) && (cancelOutcome === 'aborted' || cancelOutcome === 'finished' || cancelOutcome === 'ignored')
      ? { op: 'cancelled', id, outcome: cancelOutcome }
      : undefined,
  toolRequest: ({ id, ask, body }) =>
    isNonEmptyText(id) && isNonNegativeInteger(ask) && isText(body) ? { op: 'toolRequest', id, ask, body } : undefined,
  answerReceived: ({ id, ask, taken: isAnswerAccepted }) =>
    isNonEmptyText(id) && isNonNegativeInteger(ask) && typeof isAnswerAccepted === 'boolean'
      ? { op: 'answerReceived', id, ask, taken: isAnswerAccepted }
      : undefined,
  leaving: ({ begunCalls }) => (isTextArray(begunCalls) ? { op: 'leaving', begunCalls } : undefined),
  navigating: ({ on }) => (typeof on === 'boolean' ? { op: 'navigating', on } : undefined),
  ready: ({ plugin, ready: isReady }) =>
    isNonEmptyText(plugin) && typeof isReady === 'boolean' ? { op: 'ready', plugin, ready: isReady } : undefined,
  log: ({ plugin, entries: entriesText, dropped }) =>
    isNonEmptyText(plugin) && isText(entriesText) && isNonNegativeInteger(dropped)
      ? { op: 'log', plugin, entries: entriesText, dropped }
      : undefined,
  scheduleWake: ({ ms }) => (isNonNegativeInteger(ms) && ms <= MaxWakeDelayMs ? { op: 'scheduleWake', ms } : undefined),
  pong: ({ ping }) => (isNonNegativeInteger(ping) ? { op: 'pong', ping } : undefined),
  entryPointReady: ({ plugin, nonce, usesBase, isHostLate }) =>
    isNonEmptyText(plugin) && isText(nonce)
      ? {
          op: 'entryPointReady',
          plugin,
          nonce,
          usesBase: usesBase === true,
          ...(isHostLate === true ? { isHostLate } : {}),
        }
      : undefined,
  adapterReplaced: ({ plugin, hash, problem: adapterProblem }) =>
    isNonEmptyText(plugin) && isText(hash)
      ? { op: 'adapterReplaced', plugin, hash, ...(isText(adapterProblem) ? { problem: adapterProblem } : {}) }
      : undefined,
};

function readDocumentState(stateFields: Fields): Extract<BridgeToWorkerMessage, { op: 'documentState' }> | undefined {
  const plugins = readList(stateFields.plugins, readPlugin);
  const runningCalls = readList(stateFields.running, ({ id, plugin }) =>
    isText(id) && isText(plugin) ? { id, plugin } : undefined,
  );
  const removedPlugins = readList(toArrayOrEmpty(stateFields.removedPlugins), ({ name, base: baseHash }) =>
    isText(name) ? { name, ...(isText(baseHash) ? { base: baseHash } : {}) } : undefined,
  );
  const startedPlugins = readList(toArrayOrEmpty(stateFields.startedPlugins), ({ name, hash, awaitsAdapter }) =>
    isText(name) && isText(hash) ? { name, hash, awaitsAdapter: awaitsAdapter === true } : undefined,
  );
  if (!plugins || !runningCalls || !removedPlugins || !startedPlugins) return undefined;
  return {
    op: 'documentState',
    plugins,
    running: runningCalls,
    ...(removedPlugins.length > 0 ? { removedPlugins } : {}),
    ...(startedPlugins.length > 0 ? { startedPlugins } : {}),
    ...(stateFields.hasBase === true ? { hasBase: true } : {}),
  };
}

function readPageStepDurations(pageStepDurations: unknown): { hops?: PageHops } {
  if (!isRecord(pageStepDurations)) return {};
  const { bridgeInUs, hostInUs, schemaUs, handlerUs, resultUs } = pageStepDurations;
  if (!isNonNegativeInteger(bridgeInUs) || !isNonNegativeInteger(hostInUs) || !isNonNegativeInteger(schemaUs))
    return {};
  if (!isNonNegativeInteger(handlerUs) || !isNonNegativeInteger(resultUs)) return {};
  return { hops: { bridgeInUs, hostInUs, schemaUs, handlerUs, resultUs } };
}

function readPlugin({
  name,
  hash,
  base: baseHash,
  problem: adapterProblem,
  ready: isReady,
}: Fields): LiveAdapter | undefined {
  if (!isText(name) || !isText(hash)) return undefined;
  return {
    name,
    hash,
    ...(isText(baseHash) ? { base: baseHash } : {}),
    ...(isText(adapterProblem) ? { problem: adapterProblem } : {}),
    ...(typeof isReady === 'boolean' ? { ready: isReady } : {}),
  };
}

function toArrayOrEmpty(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function readList<T>(value: unknown, readItem: (stateFields: Fields) => T | undefined): T[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const parsedItems = value.map((item: unknown) => (isRecord(item) ? readItem(item) : undefined));
  const validItems = parsedItems.filter((item) => item !== undefined);
  return validItems.length === parsedItems.length ? validItems : undefined;
}

export function readMessageToBridge(value: unknown): WorkerToBridgeMessage | undefined {
  return readMessage(bridgeMessageReaders, value);
}

const bridgeMessageReaders: PortReaders<WorkerToBridgeMessage> = {
  call: ({ id, plugin, tool, maxBytes, args, prompt, decision, atMs, trace: isTraced }) =>
    isText(id) && isText(plugin) && isText(tool) && isText(args) && isNonNegativeInteger(maxBytes)
      ? {
          op: 'call',
          id,
          plugin,
          tool,
          maxBytes,
          args,
          ...(typeof atMs === 'number' ? { atMs } : {}),
          ...(prompt === true ? { prompt } : {}),
          ...(isText(decision) ? { decision } : {}),
          ...(isTraced === true ? { trace: isTraced } : {}),
        }
      : undefined,
  ping: ({ ping }) => (isNonNegativeInteger(ping) ? { op: 'ping', ping } : undefined),
  cancel: ({ id, reason }) => (isText(id) ? { op: 'cancel', id, reason: isText(reason) ? reason : '' } : undefined),
  answer: ({ id, ask, output, error }) => {
    if (!isText(id) || !isNonNegativeInteger(ask)) return undefined;
    if (isText(error)) return { op: 'answer', id, ask, error };
    return isText(output) ? { op: 'answer', id, ask, output } : { op: 'answer', id, ask };
  },
  resync: ({ id, type }) => (isText(id) && isText(type) ? { op: 'resync', id, type } : undefined),
  partSent: () => ({ op: 'partSent' }),
  confirmEndings: ({ ids }) => (isTextArray(ids) ? { op: 'confirmEndings', ids } : undefined),
  settings: ({ plugin, settings }) =>
    isText(plugin) && isRecord(settings) ? { op: 'settings', plugin, settings } : undefined,
  probe: ({ plugin }) => (isText(plugin) ? { op: 'probe', plugin } : undefined),
  wake: () => ({ op: 'wake' }),
  replaceAdapter: ({ plugin, hash, nonce, waitMs }) =>
    isText(plugin) && isText(hash) && isText(nonce) && isNonNegativeInteger(waitMs)
      ? { op: 'replaceAdapter', plugin, hash, nonce, waitMs }
      : undefined,
  prepareHost: ({ plugin, hash, nonce, options }) =>
    isText(plugin) && isText(hash) && isText(nonce) && isText(options)
      ? { op: 'prepareHost', plugin, hash, nonce, options }
      : undefined,
  awaitLateHost: ({ plugin, hash, nonce }) =>
    isText(plugin) && isText(hash) && isText(nonce) ? { op: 'awaitLateHost', plugin, hash, nonce } : undefined,
  removePlugin: ({ plugin }) => (isText(plugin) ? { op: 'removePlugin', plugin } : undefined),
};

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** isNonEmptyText reports whether a value can be the ID of a call or the name of a plugin. */
function isNonEmptyText(value: unknown): value is string {
  return isText(value) && value !== '';
}

function isTextArray(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

function isNonNegativeInteger(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

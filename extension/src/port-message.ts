// Messages on the chrome.runtime port between a document's bridge and the
// service worker. They are sent as lists (batch.ts). The worker validates
// everything from a document, because an attacker may control the document's
// process.

import type { CancelOutcome, PluginSettings, TabPlugin } from '../../wire/wire.gen.ts';

/** BRIDGE_PORT and PANEL_PORT are the names of ports. */
export const BRIDGE_PORT = 'bridge';
export const PANEL_PORT = 'panel';

/**
 * BRIDGE_MARK is set in the isolated world of a document that has a bridge. Chrome may run two bridges while one is
 * registered again.
 */
export const BRIDGE_MARK = 'opentabsBridge';

/**
 * Live is an adapter in a document. problem is why it failed to start. base identifies what hot reload cannot replace.
 */
export interface Live extends TabPlugin {
  base?: string;
  problem?: string;
}

/** Vacant is a plugin whose adapter was removed from a document. The document can get another one. */
export interface Vacant {
  name: string;
  base?: string;
}

/** Started is a plugin whose host has started in a document but is not live yet. */
export interface Started {
  readonly name: string;
  readonly hash: string;
  /** empty is set if the host has no adapter yet and accepts one through its entry point. */
  readonly empty: boolean;
}

/** FromBridge is a message from a document to the worker. */
export type FromBridge =
  /**
   * live is the first message on each port and is repeated when plugins change. vacant are the plugins whose adapter
   * was removed, started those that are not live yet, running the running calls. based is whether the document has a
   * base, which can host more plugins.
   */
  | {
      op: 'live';
      plugins: Live[];
      vacant?: Vacant[];
      started?: Started[];
      based?: boolean;
      running: { id: string; plugin: string }[];
    }
  /** reports is the JSON text of an array of wire.Report. seq reports of the call came before them. */
  | { op: 'progress'; id: string; seq: number; skipped: number; reports: string }
  /** A part of a large result. A 'result' with the number of parts follows. */
  | { op: 'part'; id: string; seq: number; text: string }
  /** text is the result's JSON text. It is absent with parts, and for undefined. */
  | { op: 'result'; id: string; text?: string; parts?: number }
  /** error is the JSON text of a wire.CallError. */
  | { op: 'error'; id: string; error: string }
  | { op: 'cancelled'; id: string; outcome: CancelOutcome }
  /** body is the JSON text of a wire.ToolAskParams without its ids. */
  | { op: 'ask'; id: string; ask: number; body: string }
  /** Confirms an 'answer'. taken is whether an ask was waiting for it. */
  | { op: 'answered'; id: string; ask: number; taken: boolean }
  /**
   * The last message of a document that is being left. begun are the calls that reached a host and whose ending is not
   * confirmed; no other waiting call has begun.
   */
  | { op: 'leaving'; begun: readonly string[] }
  /** The document started to navigate away, or the navigation was cancelled. */
  | { op: 'navigating'; on: boolean }
  /** The readiness of a live adapter changed. Live has the same field. */
  | { op: 'ready'; plugin: string; ready: boolean }
  /**
   * entries is the JSON text of an array of at most MaxLogEntries wire.LogEntry. dropped entries before them were lost.
   */
  | { op: 'log'; plugin: string; entries: string; dropped: number }
  /** The document is hidden and needs a 'wake' in ms milliseconds, at most 2^31 - 1. Replaces the last one. */
  | { op: 'wake'; ms: number }
  /** Answers a 'ping' at once. */
  | { op: 'pong'; ping: number }
  /**
   * Answers a 'renew', 'host' or 'meet': no call runs in an old adapter, and an entry point accepts an adapter with the
   * nonce. based is whether that is the base's entry point instead of the plugin's. With late, the bridge waits for the
   * host itself.
   */
  | { op: 'armed'; plugin: string; nonce: string; based: boolean; late?: true }
  /**
   * Ends a 'renew'. Without problem, the adapter with this hash is live. With problem, it failed to start and the old
   * one stays.
   */
  | { op: 'renewed'; plugin: string; hash: string; problem?: string };

/** ToBridge is a message from the worker to a document. */
export type ToBridge =
  /** args is the JSON text of an object, decision is JSON text. */
  | {
      op: 'call';
      id: string;
      plugin: string;
      tool: string;
      maxBytes: number;
      args: string;
      prompt?: true;
      decision?: string;
      /**
       * atMs is when the call was sent, in milliseconds since 1970. A call that arrives more than StaleCallMs later
       * does not start.
       */
      atMs?: number;
    }
  /** Requests a 'pong'. The bridge answers at once unless a script blocks the page. */
  | { op: 'ping'; ping: number }
  | { op: 'cancel'; id: string; reason: string }
  /** output is JSON text, error the JSON text of a wire.CallError. Neither means undefined. */
  | { op: 'answer'; id: string; ask: number; output?: string; error?: string }
  /** Requests that the call reports an activity again. */
  | { op: 'resync'; id: string; type: string }
  /** A part was sent to the server. The bridge may send the next one. */
  | { op: 'taken' }
  /** The endings of these calls have reached the server. The bridge can forget them. */
  | { op: 'ack'; ids: readonly string[] }
  /** The plugin's settings have changed. */
  | { op: 'settings'; plugin: string; settings: PluginSettings }
  /** Requests the readiness of the adapter. */
  | { op: 'probe'; plugin: string }
  /** The time of the document's 'wake' is due. */
  | { op: 'wake' }
  /**
   * Announces an adapter with this hash that replaces the current one. The document answers 'armed' once the running
   * calls have ended, after at most waitMs. The entry point accepts the adapter once, with the nonce.
   */
  | { op: 'renew'; plugin: string; hash: string; nonce: string; waitMs: number }
  /**
   * Prepares for an adapter with this hash: the base creates a host with these options (JSON text), or the existing
   * host arms its entry point.
   */
  | { op: 'host'; plugin: string; hash: string; nonce: string; options: string }
  /**
   * Same as 'host' for an isolated world. If the host does not exist yet, it sends its offer in an event of type nonce.
   */
  | { op: 'meet'; plugin: string; hash: string; nonce: string }
  /** The plugin was removed. Its adapter is torn down. */
  | { op: 'remove'; plugin: string };

/** MaxWakeMs is the longest delay of a browser timer. */
const MaxWakeMs = 2 ** 31 - 1;

/** StaleCallMs is how long a call may take to reach a bridge. The worker treats a later call as not started. */
export const StaleCallMs = 4000;

/** charsOf returns the approximate length of a message, in UTF-16 units. */
export function charsOf(message: FromBridge | ToBridge): number {
  switch (message.op) {
    case 'call':
      return message.args.length;
    case 'progress':
      return message.reports.length;
    case 'part':
      return message.text.length;
    case 'result':
      return message.text?.length ?? 0;
    case 'error':
      return message.error.length;
    case 'ask':
      return message.body.length;
    case 'log':
      return message.entries.length;
    case 'answer':
      return (message.output ?? message.error ?? '').length;
    default:
      return 0;
  }
}

/** readEach reads each message of a list and leaves out invalid ones. */
export function readEach<M>(value: unknown, read: (message: unknown) => M | undefined): M[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => read(item) ?? []);
}

/** readFromBridge validates a message from a document. It returns undefined for an invalid one. */
export function readFromBridge(value: unknown): FromBridge | undefined {
  if (!isRecord(value)) return undefined;
  const { op, id } = value;
  if (op === 'live') return readLive(value);
  if (op === 'leaving') return isTexts(value.begun) ? { op, begun: value.begun } : undefined;
  if (op === 'navigating') return typeof value.on === 'boolean' ? { op, on: value.on } : undefined;
  if (op === 'pong') return isCount(value.ping) ? { op, ping: value.ping } : undefined;
  if (op === 'ready' || op === 'log' || op === 'armed' || op === 'renewed') return readOfPlugin(op, value);
  if (op === 'wake') return isCount(value.ms) && value.ms <= MaxWakeMs ? { op, ms: value.ms } : undefined;
  if (typeof id !== 'string' || id === '') return undefined;
  switch (op) {
    case 'progress': {
      const { seq, skipped, reports } = value;
      if (!isCount(seq) || !isCount(skipped) || typeof reports !== 'string') return undefined;
      return { op, id, seq, skipped, reports };
    }
    case 'part': {
      const { seq, text } = value;
      return isCount(seq) && typeof text === 'string' ? { op, id, seq, text } : undefined;
    }
    case 'result': {
      const { text, parts } = value;
      if (typeof text === 'string') return { op, id, text };
      return isCount(parts) ? { op, id, parts } : { op, id };
    }
    case 'error':
      return typeof value.error === 'string' ? { op, id, error: value.error } : undefined;
    case 'cancelled': {
      const { outcome } = value;
      if (outcome !== 'aborted' && outcome !== 'finished' && outcome !== 'ignored') return undefined;
      return { op, id, outcome };
    }
    case 'ask': {
      const { ask, body } = value;
      return isCount(ask) && typeof body === 'string' ? { op, id, ask, body } : undefined;
    }
    case 'answered': {
      const { ask, taken } = value;
      return isCount(ask) && typeof taken === 'boolean' ? { op, id, ask, taken } : undefined;
    }
    default:
      return undefined;
  }
}

function readOfPlugin(
  op: 'ready' | 'log' | 'armed' | 'renewed',
  value: Readonly<Record<string, unknown>>,
): FromBridge | undefined {
  const { plugin, ready, entries, dropped, nonce, hash, problem } = value;
  if (typeof plugin !== 'string' || plugin === '') return undefined;
  switch (op) {
    case 'ready':
      return typeof ready === 'boolean' ? { op, plugin, ready } : undefined;
    case 'log':
      return typeof entries === 'string' && isCount(dropped) ? { op, plugin, entries, dropped } : undefined;
    case 'armed':
      if (typeof nonce !== 'string') return undefined;
      return { op, plugin, nonce, based: value.based === true, ...(value.late === true ? { late: true } : {}) };
    case 'renewed':
      if (typeof hash !== 'string') return undefined;
      return typeof problem === 'string' ? { op, plugin, hash, problem } : { op, plugin, hash };
  }
}

function readLive(value: Readonly<Record<string, unknown>>): FromBridge | undefined {
  if (!Array.isArray(value.plugins) || !Array.isArray(value.running)) return undefined;
  const plugins: Live[] = [];
  for (const item of value.plugins) {
    if (!isRecord(item) || typeof item.name !== 'string' || typeof item.hash !== 'string') return undefined;
    const live: Live = { name: item.name, hash: item.hash };
    if (typeof item.base === 'string') live.base = item.base;
    if (typeof item.problem === 'string') live.problem = item.problem;
    if (typeof item.ready === 'boolean') live.ready = item.ready;
    plugins.push(live);
  }
  const vacant: Vacant[] = [];
  for (const item of Array.isArray(value.vacant) ? value.vacant : []) {
    if (!isRecord(item) || typeof item.name !== 'string') return undefined;
    vacant.push(typeof item.base === 'string' ? { name: item.name, base: item.base } : { name: item.name });
  }
  const started: Started[] = [];
  for (const item of Array.isArray(value.started) ? value.started : []) {
    if (!isRecord(item) || typeof item.name !== 'string' || typeof item.hash !== 'string') return undefined;
    started.push({ name: item.name, hash: item.hash, empty: item.empty === true });
  }
  const running: { id: string; plugin: string }[] = [];
  for (const item of value.running) {
    if (!isRecord(item) || typeof item.id !== 'string' || typeof item.plugin !== 'string') return undefined;
    running.push({ id: item.id, plugin: item.plugin });
  }
  const message: FromBridge = { op: 'live', plugins, running };
  if (vacant.length > 0) message.vacant = vacant;
  if (started.length > 0) message.started = started;
  if (value.based === true) message.based = true;
  return message;
}

/**
 * readToBridge validates a message from the worker. It returns undefined for an invalid one, such as one of another
 * version.
 */
export function readToBridge(value: unknown): ToBridge | undefined {
  if (!isRecord(value)) return undefined;
  const { op, id, ids, plugin } = value;
  if (op === 'taken' || op === 'wake') return { op };
  if (op === 'ping') return isCount(value.ping) ? { op, ping: value.ping } : undefined;
  if (op === 'ack') return isTexts(ids) ? { op, ids } : undefined;
  if (op === 'settings' || op === 'probe' || op === 'renew' || op === 'host' || op === 'meet' || op === 'remove') {
    return typeof plugin === 'string' ? readForPlugin(op, plugin, value) : undefined;
  }
  if (typeof id !== 'string') return undefined;
  switch (op) {
    case 'call':
      return readCall(id, value);
    case 'cancel':
      return { op, id, reason: typeof value.reason === 'string' ? value.reason : '' };
    case 'answer': {
      const { ask, output, error } = value;
      if (!isCount(ask)) return undefined;
      if (typeof error === 'string') return { op, id, ask, error };
      return typeof output === 'string' ? { op, id, ask, output } : { op, id, ask };
    }
    case 'resync':
      return typeof value.type === 'string' ? { op, id, type: value.type } : undefined;
    default:
      return undefined;
  }
}

function readForPlugin(
  op: 'settings' | 'probe' | 'renew' | 'host' | 'meet' | 'remove',
  plugin: string,
  value: Readonly<Record<string, unknown>>,
): ToBridge | undefined {
  const { settings, hash, nonce, options, waitMs } = value;
  switch (op) {
    case 'settings':
      return isRecord(settings) ? { op, plugin, settings } : undefined;
    case 'host':
      if (typeof hash !== 'string' || typeof nonce !== 'string' || typeof options !== 'string') return undefined;
      return { op, plugin, hash, nonce, options };
    case 'meet':
      return typeof hash === 'string' && typeof nonce === 'string' ? { op, plugin, hash, nonce } : undefined;
    case 'renew':
      if (typeof hash !== 'string' || typeof nonce !== 'string' || !isCount(waitMs)) return undefined;
      return { op, plugin, hash, nonce, waitMs };
    default:
      return { op, plugin };
  }
}

function readCall(id: string, value: Readonly<Record<string, unknown>>): ToBridge | undefined {
  const { plugin, tool, maxBytes, args, prompt, decision, atMs } = value;
  if (typeof plugin !== 'string' || typeof tool !== 'string' || typeof args !== 'string') return undefined;
  if (!isCount(maxBytes)) return undefined;
  const message: ToBridge = { op: 'call', id, plugin, tool, maxBytes, args };
  if (typeof atMs === 'number') message.atMs = atMs;
  if (prompt === true) message.prompt = true;
  if (typeof decision === 'string') message.decision = decision;
  return message;
}

/** isRecord reports whether value is an object, so that its fields can be read. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

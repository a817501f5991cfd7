// What crosses the chrome.runtime port between a document's bridge and the
// service worker, as lists of messages (batch.ts). The worker checks all that
// comes from a document: its process may be broken into.

import type { CancelOutcome, PluginSettings, TabPlugin } from '../../wire/wire.gen.ts';

/** BRIDGE_PORT and PANEL_PORT are the names that ports are connected with. */
export const BRIDGE_PORT = 'bridge';
export const PANEL_PORT = 'panel';

/** BRIDGE_MARK is set in the isolated world of a document that has a bridge: while one is registered anew, Chrome may run two. */
export const BRIDGE_MARK = 'opentabsBridge';

/** Live is an adapter in a document; problem says why it did not start, base what another one can't change there. */
export interface Live extends TabPlugin {
  base?: string;
  problem?: string;
}

/** Vacant is a plugin whose adapter was removed from a document, and that can get another one. */
export interface Vacant {
  name: string;
  base?: string;
}

/** Started is a plugin whose host is in a document and which is not live there yet. */
export interface Started {
  readonly name: string;
  readonly hash: string;
  /** empty is set if its adapter has to come through the entry point. */
  readonly empty: boolean;
}

/** FromBridge is a message of a document. */
export type FromBridge =
  /**
   * First on every port, and again when a plugin has come: all plugins, those whose adapter was removed, those that have started
   * and are not live, whether others can come (the base is there), and the calls that run.
   */
  | {
      op: 'live';
      plugins: Live[];
      vacant?: Vacant[];
      started?: Started[];
      based?: boolean;
      running: { id: string; plugin: string }[];
    }
  /** reports is the JSON text of an array of wire.Report, seq how many reports of the call came before them. */
  | { op: 'progress'; id: string; seq: number; skipped: number; reports: string }
  /** A piece of a large result; 'result' with their number follows. */
  | { op: 'part'; id: string; seq: number; text: string }
  /** text is the result's JSON text; absent with parts, and for undefined. */
  | { op: 'result'; id: string; text?: string; parts?: number }
  /** error is the JSON text of a wire.CallError. */
  | { op: 'error'; id: string; error: string }
  | { op: 'cancelled'; id: string; outcome: CancelOutcome }
  /** body is the JSON text of a wire.ToolAskParams without its ids. */
  | { op: 'ask'; id: string; ask: number; body: string }
  /** An answer has come; taken reports whether something waited for it. */
  | { op: 'answered'; id: string; ask: number; taken: boolean }
  /** Last, when the document is left: the calls that reached a host and whose ending was not confirmed. No other began and is still awaited. */
  | { op: 'leaving'; begun: readonly string[] }
  /** The document has begun to navigate to another one, or stays after all. */
  | { op: 'navigating'; on: boolean }
  /** A live adapter says that it is ready, or is not any more; Live has it as well. */
  | { op: 'ready'; plugin: string; ready: boolean }
  /** entries is the JSON text of an array of at most MaxLogEntries wire.LogEntry, dropped how many before them were lost. */
  | { op: 'log'; plugin: string; entries: string; dropped: number }
  /** The document is hidden and has a timer: it should be woken in ms milliseconds, at most 2^31 - 1. Replaces the one before. */
  | { op: 'wake'; ms: number }
  /** Answers a 'ping' at once. */
  | { op: 'pong'; ping: number }
  /**
   * Answers a 'renew', 'host' or 'meet': no call runs in an old adapter any more, and the plugin's entry point, or that of the base,
   * waits for the nonce; or with late the bridge waits for the host itself.
   */
  | { op: 'armed'; plugin: string; nonce: string; based: boolean; late?: true }
  /** Ends a 'renew': the adapter with this hash is live, as the next 'live' says; or the one before is, and problem says why. */
  | { op: 'renewed'; plugin: string; hash: string; problem?: string };

/** ToBridge is a message of the worker. */
export type ToBridge =
  /** args is the JSON text of an object, decision JSON text. */
  | {
      op: 'call';
      id: string;
      plugin: string;
      tool: string;
      maxBytes: number;
      args: string;
      prompt?: true;
      decision?: string;
      /** atMs is when it was sent, in milliseconds since 1970. A call that arrives more than StaleCallMs later does not begin. */
      atMs?: number;
    }
  /** The bridge answers at once, unless a script occupies the page. */
  | { op: 'ping'; ping: number }
  | { op: 'cancel'; id: string; reason: string }
  /** output is JSON text, error that of a wire.CallError; neither means undefined. */
  | { op: 'answer'; id: string; ask: number; output?: string; error?: string }
  /** The call should report an activity anew. */
  | { op: 'resync'; id: string; type: string }
  /** A part has gone on to the server; there is room for another. */
  | { op: 'taken' }
  /** The endings of these calls have reached the server; the bridge may forget them. */
  | { op: 'ack'; ids: readonly string[] }
  /** The plugin's settings have changed. */
  | { op: 'settings'; plugin: string; settings: PluginSettings }
  /** The adapter should be asked whether it is ready. */
  | { op: 'probe'; plugin: string }
  /** The time of the document's 'wake' has come. */
  | { op: 'wake' }
  /**
   * An adapter with this hash is to replace the one that is there: 'armed' follows once the calls that run have ended, at the
   * latest after waitMs. The entry point takes it once, with the nonce.
   */
  | { op: 'renew'; plugin: string; hash: string; nonce: string; waitMs: number }
  /** The base shall make a host with these options (JSON text), or the one that is there arm its entry point, for an adapter with this hash. */
  | { op: 'host'; plugin: string; hash: string; nonce: string; options: string }
  /** The same in a world that the page has no part in: a host that is not there will offer itself in an event of the type nonce. */
  | { op: 'meet'; plugin: string; hash: string; nonce: string }
  /** The plugin is gone; its adapter is torn down and is not live any more. */
  | { op: 'remove'; plugin: string };

/** MaxWakeMs is the longest time of a timer of the browser. */
const MaxWakeMs = 2 ** 31 - 1;

/** StaleCallMs is how long a call may be on its way to a bridge; one that arrives later has not begun for the worker. */
export const StaleCallMs = 4000;

/** charsOf returns about how long a message is, in UTF-16 units. */
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

/** readEach checks the messages of a list one by one; what is none is left out. */
export function readEach<M>(value: unknown, read: (message: unknown) => M | undefined): M[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => read(item) ?? []);
}

/** readFromBridge checks a message of a document; nothing means that it is not one. */
export function readFromBridge(value: unknown): FromBridge | undefined {
  if (!isBag(value)) return undefined;
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
    if (!isBag(item) || typeof item.name !== 'string' || typeof item.hash !== 'string') return undefined;
    const live: Live = { name: item.name, hash: item.hash };
    if (typeof item.base === 'string') live.base = item.base;
    if (typeof item.problem === 'string') live.problem = item.problem;
    if (typeof item.ready === 'boolean') live.ready = item.ready;
    plugins.push(live);
  }
  const vacant: Vacant[] = [];
  for (const item of Array.isArray(value.vacant) ? value.vacant : []) {
    if (!isBag(item) || typeof item.name !== 'string') return undefined;
    vacant.push(typeof item.base === 'string' ? { name: item.name, base: item.base } : { name: item.name });
  }
  const started: Started[] = [];
  for (const item of Array.isArray(value.started) ? value.started : []) {
    if (!isBag(item) || typeof item.name !== 'string' || typeof item.hash !== 'string') return undefined;
    started.push({ name: item.name, hash: item.hash, empty: item.empty === true });
  }
  const running: { id: string; plugin: string }[] = [];
  for (const item of value.running) {
    if (!isBag(item) || typeof item.id !== 'string' || typeof item.plugin !== 'string') return undefined;
    running.push({ id: item.id, plugin: item.plugin });
  }
  const message: FromBridge = { op: 'live', plugins, running };
  if (vacant.length > 0) message.vacant = vacant;
  if (started.length > 0) message.started = started;
  if (value.based === true) message.based = true;
  return message;
}

/** readToBridge checks a message of the worker; nothing means that it is of another version. */
export function readToBridge(value: unknown): ToBridge | undefined {
  if (!isBag(value)) return undefined;
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
      return isBag(settings) ? { op, plugin, settings } : undefined;
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

/** isBag narrows to an object whose fields may be asked for. */
export function isBag(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

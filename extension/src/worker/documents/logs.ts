import { checkType } from '../../../../wire/frame.ts';
import { MaxLogEntries, type PluginLogParams } from '../../../../wire/wire.gen.ts';
import type { FromBridge } from '../../port-message.ts';
import type { Doc } from './docs.ts';

/** MaxFrames limits the log frames of a document within WindowMs milliseconds. */
const MaxFrames = 20;
const WindowMs = 1000;
/** MaxChars limits the text of entries that is parsed, in UTF-16 units. A bridge never sends a longer text. */
const MaxChars = 4 * 1024 * 1024;

type Log = Extract<FromBridge, { op: 'log' }>;

export interface LogsOptions {
  /** runs reports whether a plugin runs in a document. */
  runs(documentId: string, plugin: string): boolean;
  send(params: PluginLogParams): void;
}

/**
 * Logs forwards the log entries of adapters. If a document sends entries too fast, the excess entries are dropped and
 * counted.
 */
export interface Logs {
  add(doc: Doc, message: Log): void;
}

/** makeLogs returns a Logs. */
export function makeLogs(options: LogsOptions): Logs {
  /**
   * pace maps each document to the start of its current time window, the number of frames in the window, and the
   * dropped entries per plugin.
   */
  const pace = new WeakMap<Doc, { began: number; frames: number; readonly dropped: Map<string, number> }>();

  return {
    add: (doc, { plugin, entries, dropped }) => {
      if (!options.runs(doc.documentId, plugin)) return;
      const now = Date.now();
      const known = pace.get(doc) ?? { began: now, frames: 0, dropped: new Map() };
      pace.set(doc, known);
      if (now - known.began >= WindowMs) {
        known.began = now;
        known.frames = 0;
      }
      known.frames++;
      const before = (known.dropped.get(plugin) ?? 0) + dropped;
      const params = known.frames > MaxFrames ? undefined : readParams(doc.tabId, plugin, entries, before);
      if (params) {
        known.dropped.delete(plugin);
        options.send(params);
      } else known.dropped.set(plugin, before + countEntries(entries));
    },
  };
}

/** countEntries returns the number of entries in a text. countEntries counts invalid text as one entry. */
function countEntries(entries: string): number {
  const list = entries.length <= MaxChars ? parse(entries) : undefined;
  return Array.isArray(list) ? list.length : 1;
}

function readParams(tabId: number, plugin: string, text: string, dropped: number): PluginLogParams | undefined {
  const entries = text.length <= MaxChars ? parse(text) : undefined;
  if (!Array.isArray(entries) || entries.length > MaxLogEntries) return undefined;
  const read = checkType('PluginLogParams', { tabId, plugin, entries, ...(dropped > 0 ? { dropped } : {}) });
  return read.ok ? read.value : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

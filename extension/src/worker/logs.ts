import { readAs } from '../../../wire/frame.ts';
import { MaxLogEntries, type PluginLogParams } from '../../../wire/wire.gen.ts';
import type { FromBridge } from '../port-message.ts';
import type { Doc } from './docs.ts';

/** MaxFrames is how many frames of logs a document may have sent in WindowMs, in milliseconds. */
const MaxFrames = 20;
const WindowMs = 1000;
/** MaxChars is the longest text of entries that is read, in UTF-16 units: as long as a document of ours makes them. */
const MaxChars = 4 * 1024 * 1024;

type Log = Extract<FromBridge, { op: 'log' }>;

export interface LogsOptions {
  /** runs reports whether a plugin runs in a document. */
  runs(documentId: string, plugin: string): boolean;
  send(params: PluginLogParams): void;
}

/** Logs passes on what adapters log. Of what a document sends too fast it counts the entries. */
export interface Logs {
  add(doc: Doc, message: Log): void;
}

/** makeLogs returns a Logs. */
export function makeLogs(options: LogsOptions): Logs {
  /** pace holds, by document, how much it has sent in the window that began last, and what was dropped by plugin. */
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
      } else known.dropped.set(plugin, before + countOf(entries));
    },
  };
}

/** countOf returns how many entries there are in a text, at least one: that of a document which is out of step is not read. */
function countOf(entries: string): number {
  const list = entries.length <= MaxChars ? parse(entries) : undefined;
  return Array.isArray(list) ? list.length : 1;
}

function readParams(tabId: number, plugin: string, text: string, dropped: number): PluginLogParams | undefined {
  const entries = text.length <= MaxChars ? parse(text) : undefined;
  if (!Array.isArray(entries) || entries.length > MaxLogEntries) return undefined;
  const read = readAs('PluginLogParams', { tabId, plugin, entries, ...(dropped > 0 ? { dropped } : {}) });
  return read.ok ? read.value : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

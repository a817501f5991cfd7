import { checkType } from '../../../../wire/frame.ts';
import { MaxLogEntries, type PluginLogParams } from '../../../../wire/wire.gen.ts';
import type { BridgeToWorkerMessage } from '../../port-message.ts';
import type { Doc } from './docs.ts';

/** MaxFramesPerRateWindow limits the log messages that one document may send within RateWindowMs milliseconds. */
const MaxFramesPerRateWindow = 20;
const RateWindowMs = 1000;
/**
 * Log messages longer than MaxParsedChars are dropped without parsing, because a genuine bridge never sends such long
 * messages.
 */
const MaxParsedChars = 4 * 1024 * 1024;

type LogMessage = Extract<BridgeToWorkerMessage, { op: 'log' }>;

export interface LogsOptions {
  isRunning(documentId: string, plugin: string): boolean;
  send(params: PluginLogParams): void;
}

/**
 * DocumentLogs forwards the log entries of adapters to the server. If a document sends log messages too fast,
 * DocumentLogs drops the excess entries and reports their number to the server.
 */
export interface DocumentLogs {
  add(doc: Doc, message: LogMessage): void;
}

export function makeLogs(options: LogsOptions): DocumentLogs {
  const windows = new WeakMap<Doc, { startedAt: number; frames: number; readonly dropped: Map<string, number> }>();

  return {
    add: (doc, { plugin, entries: entriesText, dropped }) => {
      if (!options.isRunning(doc.documentId, plugin)) return;
      const nowMs = Date.now();
      const window = windows.get(doc) ?? { startedAt: nowMs, frames: 0, dropped: new Map() };
      windows.set(doc, window);
      if (nowMs - window.startedAt >= RateWindowMs) {
        window.startedAt = nowMs;
        window.frames = 0;
      }
      window.frames++;
      const droppedCount = (window.dropped.get(plugin) ?? 0) + dropped;
      const params =
        window.frames > MaxFramesPerRateWindow
          ? undefined
          : readLogParams(doc.tabId, plugin, entriesText, droppedCount);
      if (params) {
        window.dropped.delete(plugin);
        options.send(params);
      } else window.dropped.set(plugin, droppedCount + countLogEntries(entriesText));
    },
  };
}

/** A text that is not a JSON array counts as one log entry. */
function countLogEntries(entriesText: string): number {
  const list = entriesText.length <= MaxParsedChars ? parseJsonOrUndefined(entriesText) : undefined;
  return Array.isArray(list) ? list.length : 1;
}

function readLogParams(tabId: number, plugin: string, text: string, droppedCount: number): PluginLogParams | undefined {
  const entriesText = text.length <= MaxParsedChars ? parseJsonOrUndefined(text) : undefined;
  if (!Array.isArray(entriesText) || entriesText.length > MaxLogEntries) return undefined;
  const checkedParams = checkType('PluginLogParams', {
    tabId,
    plugin,
    entries: entriesText,
    ...(droppedCount > 0 ? { dropped: droppedCount } : {}),
  });
  return checkedParams.ok ? checkedParams.value : undefined;
}

function parseJsonOrUndefined(entriesText: string): unknown {
  try {
    return JSON.parse(entriesText);
  } catch {
    return undefined;
  }
}

import { makeBatcher, makeTaskScheduler } from '../../batch.ts';
import type { Port } from '../../chrome.ts';
import { type BridgeToWorkerMessage, readMessageFromBridge, type WorkerToBridgeMessage } from '../../port-message.ts';
import { type PortHandlers, routeMessage } from '../../port-router.ts';
import { countMessageChars, decodeMessages, encodeMessages } from '../../port-text.ts';
import type { CallMessage, Calls } from '../calls/calls.ts';
import type { RunningCalls } from '../calls/running.ts';
import type { AdapterDelivery } from '../delivery/delivery.ts';
import type { HotReload } from '../delivery/hot-reload.ts';
import type { SettingsSync } from '../plugins/settings-sync.ts';
import type { Doc, DocumentTable } from './docs.ts';
import type { HealthMonitor } from './health.ts';
import type { DocumentLogs } from './logs.ts';
import type { WakeTimers } from './wakes.ts';

export interface BridgePortsOptions {
  readonly calls: Pick<Calls, 'onDocumentConnected' | 'receive' | 'onDocumentDisconnected'>;
  readonly runningCalls: Pick<RunningCalls, 'size'>;
  readonly docs: DocumentTable;
  readonly health: Pick<HealthMonitor, 'onDocumentConnected' | 'recordMessage' | 'onDocumentDisconnected'>;
  readonly logs: DocumentLogs;
  readonly wakeTimers: WakeTimers;
  readonly settingsSync: SettingsSync;
  readonly hotReload: Pick<HotReload, 'onDocumentReported' | 'handleEntryPoint' | 'handleAdapterReplaced'>;
  readonly delivery: Pick<AdapterDelivery, 'onDocumentReported' | 'entryPointReady'>;
}

export function makeBridgePorts(options: BridgePortsOptions): (port: Port, portSender: Omit<Doc, 'post'>) => void {
  const { calls, runningCalls, docs, health, wakeTimers } = options;
  const handlers = makeBridgeHandlers(options);
  const scheduleTask = makeTaskScheduler();
  const isLikelyLastMessage = () => runningCalls.size <= 1;
  return (port, portSender) => {
    const sendMessages = (bridgeMessages: readonly WorkerToBridgeMessage[]): boolean => {
      try {
        port.postMessage(encodeMessages(bridgeMessages));
      } catch {
        // If the port's document no longer exists, the function postMessage throws. The port of a document that no
        // longer exists fires onDisconnect, which removes the document.
      }
      return true;
    };
    const doc: Doc = {
      ...portSender,
      post: makeBatcher({ sendMessages, countChars: countMessageChars, scheduleTask, isLikelyLastMessage }).post,
    };
    calls.onDocumentConnected(doc);
    health.onDocumentConnected(doc);
    port.onMessage((rawMessage) => {
      const arrivedMs = performance.now();
      for (const message of decodeMessages(rawMessage, readMessageFromBridge)) {
        health.recordMessage(doc, message.op === 'pong' ? message.ping : undefined);
        routeMessage(handlers, message.op, message, doc, arrivedMs);
      }
    });
    port.onDisconnect(() => {
      wakeTimers.onDocumentDisconnected(doc);
      if (docs.get(doc.documentId) === doc) health.onDocumentDisconnected(doc.documentId);
      calls.onDocumentDisconnected(doc);
    });
  };
}

function makeBridgeHandlers(
  options: BridgePortsOptions,
): PortHandlers<BridgeToWorkerMessage, [doc: Doc, arrivedMs: number]> {
  const { calls, docs, logs, wakeTimers, settingsSync, hotReload, delivery } = options;
  const receiveCall = (message: CallMessage, doc: Doc, arrivedMs: number) => calls.receive(doc, message, arrivedMs);
  return {
    documentState: (message, doc) => {
      docs.setStarted(doc.documentId, message.startedPlugins ?? [], message.hasBase === true);
      calls.receive(doc, message);
      settingsSync.onDocumentReported(doc.documentId);
      hotReload.onDocumentReported(doc);
      delivery.onDocumentReported(doc);
    },
    progress: receiveCall,
    part: receiveCall,
    result: receiveCall,
    error: receiveCall,
    cancelled: receiveCall,
    toolRequest: receiveCall,
    answerReceived: receiveCall,
    leaving: receiveCall,
    navigating: receiveCall,
    ready: receiveCall,
    log: (message, doc) => logs.add(doc, message),
    scheduleWake: ({ ms }, doc) => wakeTimers.scheduleWake(doc, ms),
    pong: () => undefined, // health.recordMessage handles the answer to a ping
    entryPointReady: (message, doc) => {
      delivery.entryPointReady(doc, message);
      hotReload.handleEntryPoint(doc, message);
    },
    adapterReplaced: (message, doc) => hotReload.handleAdapterReplaced(doc, message),
  };
}

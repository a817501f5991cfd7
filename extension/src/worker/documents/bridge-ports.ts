import { makeBatcher, makeTaskScheduler } from '../../batch.ts';
import type { Port } from '../../chrome.ts';
import { type FromBridge, readFromBridge, type ToBridge } from '../../port-message.ts';
import { type PortHandlers, routeMessage } from '../../port-router.ts';
import { countMessageChars, decodeMessages, encodeMessages } from '../../port-text.ts';
import type { CallMessage, Calls } from '../calls/calls.ts';
import type { RunningCalls } from '../calls/running.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { HotReload } from '../delivery/hot-reload.ts';
import type { SettingsSync } from '../plugins/settings-sync.ts';
import type { Doc, Docs } from './docs.ts';
import type { Health } from './health.ts';
import type { Logs } from './logs.ts';
import type { WakeTimers } from './wakes.ts';

export interface BridgePortsOptions {
  readonly calls: Pick<Calls, 'onDocumentConnected' | 'receive' | 'onDocumentDisconnected'>;
  readonly running: Pick<RunningCalls, 'size'>;
  readonly docs: Docs;
  readonly health: Pick<Health, 'onDocumentConnected' | 'recordMessage' | 'onDocumentDisconnected'>;
  readonly logs: Logs;
  readonly wakes: WakeTimers;
  readonly settingsSync: SettingsSync;
  readonly hotReload: Pick<HotReload, 'onDocumentReported' | 'handleEntryPoint' | 'handleReplaced'>;
  readonly delivery: Pick<Delivery, 'onDocumentReported' | 'entryPointReady'>;
}

export function makeBridgePorts(options: BridgePortsOptions): (port: Port, sender: Omit<Doc, 'post'>) => void {
  const { calls, running, docs, health, wakes } = options;
  const handlers = makeBridgeHandlers(options);
  const runSoon = makeTaskScheduler();
  const isLikelyLastMessage = () => running.size <= 1;
  return (port, sender) => {
    const send = (messages: readonly ToBridge[]): boolean => {
      try {
        port.postMessage(encodeMessages(messages));
      } catch {
        // If the port's document no longer exists, the function postMessage throws. The port of a document that no
        // longer exists fires onDisconnect, which removes the document.
      }
      return true;
    };
    const doc: Doc = {
      ...sender,
      post: makeBatcher({ send, countChars: countMessageChars, runSoon, isLikelyLastMessage }).post,
    };
    calls.onDocumentConnected(doc);
    health.onDocumentConnected(doc);
    port.onMessage((raw) => {
      const arrivedMs = performance.now();
      for (const message of decodeMessages(raw, readFromBridge)) {
        health.recordMessage(doc, message.op === 'pong' ? message.ping : undefined);
        routeMessage(handlers, message.op, message, doc, arrivedMs);
      }
    });
    port.onDisconnect(() => {
      wakes.onDocumentDisconnected(doc);
      if (docs.get(doc.documentId) === doc) health.onDocumentDisconnected(doc.documentId);
      calls.onDocumentDisconnected(doc);
    });
  };
}

function makeBridgeHandlers(options: BridgePortsOptions): PortHandlers<FromBridge, [doc: Doc, arrivedMs: number]> {
  const { calls, docs, logs, wakes, settingsSync, hotReload, delivery } = options;
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
    scheduleWake: ({ ms }, doc) => wakes.schedule(doc, ms),
    pong: () => undefined, // The method health.recordMessage handles the answer to a ping.
    entryPointReady: (message, doc) => {
      delivery.entryPointReady(doc, message);
      hotReload.handleEntryPoint(doc, message);
    },
    adapterReplaced: (message, doc) => hotReload.handleReplaced(doc, message),
  };
}

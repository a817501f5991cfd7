import type { CallView, StateBrowserParams, StatePluginsParams, StateSyncParams } from '../../../../wire/wire.gen.ts';
import type { Port } from '../../chrome.ts';
import {
  type Action,
  type ActionResult,
  type PanelState,
  readPanelMessage,
  type WorkerToPanelMessage,
} from '../../panel-message.ts';
import { PANEL_PORT } from '../../port-message.ts';
import { Signal } from '../signal.ts';

const PanelUpdateDelayMs = 50;
const MaxEndedCalls = 200;

type CallState = Pick<PanelState, 'calls' | 'callsAt' | 'running' | 'clients'>;

const EmptyCallState: CallState = { calls: [], callsAt: 0, running: 0, clients: [] };

export interface PanelsOptions {
  state(): Omit<PanelState, keyof CallState>;
  setStateWatching(isWatching: boolean): void;
  /** If runAction rejects, the panel shows the error message. */
  runAction(action: Action): Promise<ActionResult>;
}

/** Panels sends updates to open side panels and to the popup. Each window can have one side panel. */
export interface Panels {
  /** An open popup does not count as a side panel, because Chrome closes the popup at the next click. */
  readonly isPanelOpen: boolean;
  readonly changed: Signal;
  addPanel(port: Port): void;
  setCalls(callState: StateSyncParams): void;
  setPlugins(all: StatePluginsParams): void;
  setBrowserTools(browser: StateBrowserParams): void;
  scheduleUpdate(): void;
  /** clearCalls removes all calls that have not ended, because their status is unknown without a link. */
  clearCalls(): void;
}

export function makePanels(options: PanelsOptions): Panels {
  const ports = new Set<Port>();
  const changeSignal = new Signal();
  let calls = EmptyCallState;
  /** endedCalls contains the latest ended calls, newest first, for panels that open later. */
  let endedCalls: readonly CallView[] = [];
  let unsentEndedCalls: readonly CallView[] = [];
  /** savedMessages contains the last message of each kind, for panels that open later. */
  const savedMessages = new Map<WorkerToPanelMessage['op'], WorkerToPanelMessage>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const broadcastMessage = (message: WorkerToPanelMessage) => {
    for (const port of ports) port.postMessage(message);
  };
  const saveAndSendMessage = (message: WorkerToPanelMessage) => {
    savedMessages.set(message.op, message);
    broadcastMessage(message);
  };
  const makeState = (newEndedCalls: readonly CallView[]): WorkerToPanelMessage => ({
    op: 'state',
    state: { ...options.state(), ...calls },
    ended: newEndedCalls,
  });
  const scheduleUpdate = () => {
    if (ports.size === 0 || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      const newEndedCalls = unsentEndedCalls;
      unsentEndedCalls = [];
      broadcastMessage(makeState(newEndedCalls));
    }, PanelUpdateDelayMs);
  };
  const answerRequest = async (port: Port, message: unknown) => {
    const request = readPanelMessage(message);
    if (!request) return;
    const actionResult = await options
      .runAction(request.action)
      .catch((error: unknown) => ({ error: formatErrorMessage(error) }));
    const reply: WorkerToPanelMessage = { op: 'done', requestId: request.requestId, done: actionResult };
    if (ports.has(port)) port.postMessage(reply);
  };
  const addPort = (port: Port) => {
    ports.add(port);
    port.onMessage((message) => void answerRequest(port, message));
    port.onDisconnect(() => {
      ports.delete(port);
      changeSignal.emit();
      if (ports.size > 0) return;
      savedMessages.clear(); // without an open panel, the server sends no updates
      endedCalls = [];
      unsentEndedCalls = [];
      options.setStateWatching(false);
    });
    changeSignal.emit();
    if (ports.size === 1) options.setStateWatching(true);
    port.postMessage(makeState(endedCalls));
    for (const message of savedMessages.values()) port.postMessage(message);
  };
  return {
    get isPanelOpen() {
      return [...ports].some((port) => port.name === PANEL_PORT);
    },
    changed: changeSignal,
    addPanel: addPort,
    setCalls: (callState) => {
      calls = {
        calls: callState.calls ?? [],
        callsAt: Date.now(),
        running: callState.running,
        clients: callState.clients ?? [],
      };
      endedCalls = prependCalls(callState.ended ?? [], endedCalls);
      unsentEndedCalls = prependCalls(callState.ended ?? [], unsentEndedCalls);
      scheduleUpdate();
    },
    setPlugins: (all) => saveAndSendMessage({ op: 'plugins', plugins: all.plugins ?? [], failed: all.failed ?? [] }),
    setBrowserTools: (browser) => saveAndSendMessage({ op: 'browser', browser }),
    scheduleUpdate,
    clearCalls: () => {
      calls = EmptyCallState;
      scheduleUpdate();
    },
  };
}

/** If a call is in both newCalls and calls, prependCalls returns only the copy in newCalls. */
function prependCalls(newCalls: readonly CallView[], calls: readonly CallView[]): readonly CallView[] {
  if (newCalls.length === 0) return calls;
  const newIds = new Set(newCalls.map((call) => call.callId));
  return [...newCalls, ...calls.filter((call) => !newIds.has(call.callId))].slice(0, MaxEndedCalls);
}

function formatErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

import type { CallView, StateBrowserParams, StatePluginsParams, StateSyncParams } from '../../../../wire/wire.gen.ts';
import type { Port } from '../../chrome.ts';
import { type Action, type ActionResult, type PanelState, readFromPanel, type ToPanel } from '../../panel-message.ts';
import { PANEL_PORT } from '../../port-message.ts';
import { Signal } from '../signal.ts';

/** UpdateDelayMs is the minimum time between two states that are sent to panels, in milliseconds. */
const UpdateDelayMs = 50;
/** MaxEndedCalls is the maximum number of ended calls that a newly opened panel receives. */
const MaxEndedCalls = 200;

/** CallState is the part of the server's state that contains calls. */
type CallState = Pick<PanelState, 'calls' | 'callsAt' | 'running' | 'clients'>;

const NoCalls: CallState = { calls: [], callsAt: 0, running: 0, clients: [] };

export interface PanelsOptions {
  /** state returns the content that panels show, except the calls. */
  state(): Omit<PanelState, keyof CallState>;
  /** setWatching turns the server's messages state.sync and state.plugins on or off. */
  setWatching(isWatching: boolean): void;
  /**
   * runAction runs an action of the user. If runAction rejects, the panel that sent the action shows the error message.
   */
  runAction(action: Action): Promise<ActionResult>;
}

/** Panels sends messages to the open side panels, one per window, and to the open popup. */
export interface Panels {
  /** isPanelOpen is true if a side panel is open. An open popup does not count, because Chrome closes popups soon. */
  readonly isPanelOpen: boolean;
  /** changed reports that a panel or popup has opened or closed. */
  readonly changed: Signal;
  addPanel(port: Port): void;
  /** setCalls handles the lists of calls that the server sent. */
  setCalls(state: StateSyncParams): void;
  /** setPlugins handles the server's list of plugins. */
  setPlugins(all: StatePluginsParams): void;
  /** setBrowserTools handles the permissions of browser tools that the server sent. */
  setBrowserTools(browser: StateBrowserParams): void;
  /** scheduleUpdate sends the changed state to the panels soon. */
  scheduleUpdate(): void;
  /** clearCalls drops the calls that have not ended, because their status is unknown without a link. */
  clearCalls(): void;
}

/** makePanels returns a Panels without open panels. */
export function makePanels(options: PanelsOptions): Panels {
  const ports = new Set<Port>();
  const changed = new Signal();
  let calls = NoCalls;
  /** endedCalls are the newest ended calls, newest first, for panels that open later. */
  let endedCalls: readonly CallView[] = [];
  /** unsentCalls are the ended calls that the panels have not received yet, newest first. */
  let unsentCalls: readonly CallView[] = [];
  /** savedMessages are the last messages of each kind, for panels that open later. */
  const savedMessages = new Map<ToPanel['op'], ToPanel>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const broadcast = (message: ToPanel) => {
    for (const port of ports) port.postMessage(message);
  };
  const saveAndSend = (message: ToPanel) => {
    savedMessages.set(message.op, message);
    broadcast(message);
  };
  const makeState = (ended: readonly CallView[]): ToPanel => ({
    op: 'state',
    state: { ...options.state(), ...calls },
    ended,
  });
  const scheduleUpdate = () => {
    if (ports.size === 0 || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      const ended = unsentCalls;
      unsentCalls = [];
      broadcast(makeState(ended));
    }, UpdateDelayMs);
  };
  const answerRequest = async (port: Port, message: unknown) => {
    const request = readFromPanel(message);
    if (!request) return;
    const done = await options.runAction(request.action).catch((error: unknown) => ({ error: errorMessage(error) }));
    const reply: ToPanel = { op: 'done', requestId: request.requestId, done };
    if (ports.has(port)) port.postMessage(reply);
  };
  const joined = (port: Port) => {
    ports.add(port);
    port.onMessage((message) => void answerRequest(port, message));
    port.onDisconnect(() => {
      ports.delete(port);
      changed.emit();
      if (ports.size > 0) return;
      savedMessages.clear(); // without a panel, the server sends no changes
      endedCalls = [];
      unsentCalls = [];
      options.setWatching(false);
    });
    changed.emit();
    if (ports.size === 1) options.setWatching(true);
    port.postMessage(makeState(endedCalls));
    for (const message of savedMessages.values()) port.postMessage(message);
  };
  return {
    get isPanelOpen() {
      return [...ports].some((port) => port.name === PANEL_PORT);
    },
    changed,
    addPanel: joined,
    setCalls: (state) => {
      calls = {
        calls: state.calls ?? [],
        callsAt: Date.now(),
        running: state.running,
        clients: state.clients ?? [],
      };
      endedCalls = prependCalls(state.ended ?? [], endedCalls);
      unsentCalls = prependCalls(state.ended ?? [], unsentCalls);
      scheduleUpdate();
    },
    setPlugins: (all) => saveAndSend({ op: 'plugins', plugins: all.plugins ?? [], failed: all.failed ?? [] }),
    setBrowserTools: (browser) => saveAndSend({ op: 'browser', browser }),
    scheduleUpdate,
    clearCalls: () => {
      calls = NoCalls;
      scheduleUpdate();
    },
  };
}

/**
 * prependCalls puts newer calls before older calls, and keeps a limited number. A call in both lists appears once
 * in the result.
 */
function prependCalls(newCalls: readonly CallView[], calls: readonly CallView[]): readonly CallView[] {
  if (newCalls.length === 0) return calls;
  const newIds = new Set(newCalls.map((call) => call.callId));
  return [...newCalls, ...calls.filter((call) => !newIds.has(call.callId))].slice(0, MaxEndedCalls);
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

import type { StatePluginsParams, StateSyncParams } from '../../../../wire/wire.gen.ts';
import type { Port } from '../../chrome.ts';
import { type Action, type ActionResult, type PanelState, readFromPanel, type ToPanel } from '../../panel-message.ts';

/** UpdateDelayMs is the minimum time between two states that are sent to panels, in milliseconds. */
const UpdateDelayMs = 50;

export interface PanelsOptions {
  /** state returns the content that panels show, except the calls. */
  state(): Omit<PanelState, 'calls' | 'callsAt' | 'running'>;
  /** setWatching turns the server's messages state.sync and state.plugins on or off. */
  setWatching(isWatching: boolean): void;
  /**
   * runAction runs an action of the user. If runAction rejects, the panel that sent the action shows the error message.
   */
  runAction(action: Action): Promise<ActionResult>;
}

/** Panels are the open side panels, one per window. */
export interface Panels {
  readonly openCount: number;
  addPanel(port: Port): void;
  /** setCalls handles the server's list of calls. */
  setCalls(state: StateSyncParams): void;
  /** setPlugins handles the server's list of plugins. */
  setPlugins(all: StatePluginsParams): void;
  /** scheduleUpdate sends the changed state to the panels soon. */
  scheduleUpdate(): void;
  /** clearCalls drops the calls, because their state is unknown without a link. */
  clearCalls(): void;
}

/** makePanels returns a Panels without open panels. */
export function makePanels(options: PanelsOptions): Panels {
  const ports = new Set<Port>();
  let calls: Pick<PanelState, 'calls' | 'callsAt' | 'running'> = { calls: [], callsAt: 0, running: 0 };
  let pluginsMessage: ToPanel | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const broadcast = (message: ToPanel) => {
    for (const port of ports) port.postMessage(message);
  };
  const currentState = (): ToPanel => ({ op: 'state', state: { ...options.state(), ...calls } });
  const scheduleUpdate = () => {
    if (ports.size === 0 || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      broadcast(currentState());
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
      if (ports.size > 0) return;
      pluginsMessage = undefined; // without panels, the server sends no changes
      options.setWatching(false);
    });
    if (ports.size === 1) options.setWatching(true);
    port.postMessage(currentState());
    if (pluginsMessage) port.postMessage(pluginsMessage);
  };
  return {
    get openCount() {
      return ports.size;
    },
    addPanel: joined,
    setCalls: (state) => {
      calls = { calls: state.calls ?? [], callsAt: Date.now(), running: state.running };
      scheduleUpdate();
    },
    setPlugins: (all) => {
      pluginsMessage = { op: 'plugins', plugins: all.plugins ?? [], failed: all.failed ?? [] };
      broadcast(pluginsMessage);
    },
    scheduleUpdate,
    clearCalls: () => {
      calls = { calls: [], callsAt: 0, running: 0 };
      scheduleUpdate();
    },
  };
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

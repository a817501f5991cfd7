import type { StatePluginsParams, StateSyncParams } from '../../../../wire/wire.gen.ts';
import type { Port } from '../../chrome.ts';
import { type Action, type Done, type PanelState, readFromPanel, type ToPanel } from '../../panel-message.ts';

/** CoalesceMs is the minimum time between two states sent to panels, in milliseconds. */
const CoalesceMs = 50;

export interface PanelsOptions {
  /** state returns the content that panels show, except the calls. */
  state(): Omit<PanelState, 'calls' | 'callsAt' | 'running'>;
  /** watch switches the server's state.sync and state.plugins on or off. */
  watch(on: boolean): void;
  /**
   * runAction runs an action of the user. If runAction rejects, the panel that sent the action shows the error's
   * message.
   */
  runAction(action: Action): Promise<Done>;
}

/** Panels are the open side panels, one per window. */
export interface Panels {
  readonly open: number;
  joined(port: Port): void;
  /** synced handles the server's list of calls. */
  synced(state: StateSyncParams): void;
  /** plugins handles the server's list of plugins. */
  plugins(all: StatePluginsParams): void;
  /** scheduleUpdate sends the changed state to the panels soon. */
  scheduleUpdate(): void;
  /** clearCalls drops the calls, because the state of calls is unknown without a link. */
  clearCalls(): void;
}

/** makePanels returns a Panels without open panels. */
export function makePanels(options: PanelsOptions): Panels {
  const ports = new Set<Port>();
  let calls: Pick<PanelState, 'calls' | 'callsAt' | 'running'> = { calls: [], callsAt: 0, running: 0 };
  let plugins: ToPanel | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const broadcast = (message: ToPanel) => {
    for (const port of ports) port.postMessage(message);
  };
  const now = (): ToPanel => ({ op: 'state', state: { ...options.state(), ...calls } });
  const touch = () => {
    if (ports.size === 0 || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      broadcast(now());
    }, CoalesceMs);
  };
  const answer = async (port: Port, message: unknown) => {
    const request = readFromPanel(message);
    if (!request) return;
    const done = await options.runAction(request.action).catch((error: unknown) => ({ error: errorMessage(error) }));
    const reply: ToPanel = { op: 'done', requestId: request.requestId, done };
    if (ports.has(port)) port.postMessage(reply);
  };
  const joined = (port: Port) => {
    ports.add(port);
    port.onMessage((message) => void answer(port, message));
    port.onDisconnect(() => {
      ports.delete(port);
      if (ports.size > 0) return;
      plugins = undefined; // without panels, the server sends no changes
      options.watch(false);
    });
    if (ports.size === 1) options.watch(true);
    port.postMessage(now());
    if (plugins) port.postMessage(plugins);
  };
  return {
    get open() {
      return ports.size;
    },
    joined,
    synced: (state) => {
      calls = { calls: state.calls ?? [], callsAt: Date.now(), running: state.running };
      touch();
    },
    plugins: (all) => {
      plugins = { op: 'plugins', plugins: all.plugins ?? [], failed: all.failed ?? [] };
      broadcast(plugins);
    },
    scheduleUpdate: touch,
    clearCalls: () => {
      calls = { calls: [], callsAt: 0, running: 0 };
      touch();
    },
  };
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

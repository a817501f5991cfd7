import type { StateSyncParams } from '../../../wire/wire.gen.ts';
import type { Port } from '../chrome.ts';
import { type FromPanel, type PanelState, readFromPanel } from '../panel-message.ts';

/** CoalesceMs is the least time between two states that are sent to panels, in milliseconds. */
const CoalesceMs = 50;

export interface PanelsOptions {
  /** state builds what panels show, but for the calls. */
  state(): Omit<PanelState, 'calls' | 'callsAt' | 'running'>;
  /** watch switches the server's state.sync on or off. */
  watch(on: boolean): void;
  did(action: FromPanel): void;
}

/** Panels are the open side panels, one per window. */
export interface Panels {
  readonly open: number;
  joined(port: Port): void;
  /** synced takes the server's list of calls. */
  synced(state: StateSyncParams): void;
  /** touch has the panels told soon that something changed. */
  touch(): void;
  /** lost forgets the calls: without a link nobody knows how they stand. */
  lost(): void;
}

/** makePanels returns a Panels without any. */
export function makePanels(options: PanelsOptions): Panels {
  const ports = new Set<Port>();
  let calls: Pick<PanelState, 'calls' | 'callsAt' | 'running'> = { calls: [], callsAt: 0, running: 0 };
  let timer: ReturnType<typeof setTimeout> | undefined;

  const now = (): PanelState => ({ ...options.state(), ...calls });
  const tell = () => {
    timer = undefined;
    for (const port of ports) port.postMessage(now());
  };
  const touch = () => {
    if (ports.size > 0 && timer === undefined) timer = setTimeout(tell, CoalesceMs);
  };
  const joined = (port: Port) => {
    ports.add(port);
    port.onMessage((message) => {
      const action = readFromPanel(message);
      if (action) options.did(action);
    });
    port.onDisconnect(() => {
      ports.delete(port);
      if (ports.size === 0) options.watch(false);
    });
    if (ports.size === 1) options.watch(true);
    port.postMessage(now());
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
    touch,
    lost: () => {
      calls = { calls: [], callsAt: 0, running: 0 };
      touch();
    },
  };
}

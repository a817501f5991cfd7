// What crosses the port between the side panel and the service worker.

import type { CallView, InjectMode } from '../../wire/wire.gen.ts';
import { isBag } from './port-message.ts';
import type { LinkState } from './worker/link.ts';

/** PanelPlugin is one plugin in one tab. */
export interface PanelPlugin {
  readonly name: string;
  readonly displayName: string;
  /** live: it works. reload: it works after a reload of the tab. broken: its adapter failed; problem says how. */
  readonly status: 'live' | 'reload' | 'broken';
  readonly problem?: string;
}

/** PanelTab is a tab that plugins match. */
export interface PanelTab {
  readonly tabId: number;
  readonly title: string;
  readonly url: string;
  readonly plugins: readonly PanelPlugin[];
}

/** PanelState is all that the panel shows; each replaces the last. */
export interface PanelState {
  readonly link: LinkState;
  readonly browserName: string;
  readonly extensionVersion: string;
  readonly mode: InjectMode;
  readonly plugins: readonly { readonly name: string; readonly displayName: string }[];
  readonly tabs: readonly PanelTab[];
  readonly calls: readonly CallView[];
  /** callsAt is when calls came, in milliseconds since 1970; running calls have run on since. */
  readonly callsAt: number;
  readonly running: number;
}

/** FromPanel is what a person did. */
export type FromPanel =
  | { op: 'stop'; callId: string }
  | { op: 'reload'; tabId: number }
  | { op: 'show'; tabId: number }
  | { op: 'rename'; name: string }
  | { op: 'retry' }
  | { op: 'details' };

/** readFromPanel checks a message of the panel. */
export function readFromPanel(value: unknown): FromPanel | undefined {
  if (!isBag(value)) return undefined;
  const { op, callId, tabId, name } = value;
  switch (op) {
    case 'stop':
      return typeof callId === 'string' ? { op, callId } : undefined;
    case 'reload':
    case 'show':
      return typeof tabId === 'number' ? { op, tabId } : undefined;
    case 'rename':
      return typeof name === 'string' ? { op, name } : undefined;
    case 'retry':
    case 'details':
      return { op };
    default:
      return undefined;
  }
}

/** isPanelState checks a state as far as it needs: it comes from the same extension. */
export function isPanelState(value: unknown): value is PanelState {
  return isBag(value) && isBag(value.link) && Array.isArray(value.tabs) && Array.isArray(value.calls);
}

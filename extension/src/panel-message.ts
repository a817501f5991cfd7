// What crosses the port between the side panel and the service worker.

import {
  type CallDecideParams,
  type CallDecideResult,
  type CallView,
  type ConfigCallsParams,
  type ConfigLateAccessParams,
  type ConfigOpeningParams,
  type ConfigPermissionParams,
  type ConfigReviewParams,
  type ConfigSettingsParams,
  type FailedView,
  type InjectMode,
  Permissions,
  type PluginView,
  Scopes,
} from '../../wire/wire.gen.ts';
import { isBag } from './port-message.ts';
import type { LinkState } from './worker/link.ts';

/** PanelPlugin is one plugin in one tab. */
export interface PanelPlugin {
  readonly name: string;
  readonly displayName: string;
  /**
   * live: it works. reload: it works after a reload of the tab. silent: the page does not answer. broken: its adapter failed;
   * problem says how.
   */
  readonly status: 'live' | 'reload' | 'silent' | 'broken';
  readonly problem?: string;
  /** ready is what a live adapter last said of itself; absent before it was asked. */
  readonly ready?: boolean;
}

/** PanelTab is a tab that plugins match. */
export interface PanelTab {
  readonly tabId: number;
  readonly title: string;
  readonly url: string;
  readonly plugins: readonly PanelPlugin[];
}

/** PanelState is all that the panel shows but for the plugins; each replaces the last. */
export interface PanelState {
  readonly link: LinkState;
  readonly browserName: string;
  readonly extensionVersion: string;
  readonly mode: InjectMode;
  readonly tabs: readonly PanelTab[];
  readonly calls: readonly CallView[];
  /** callsAt is when calls came, in milliseconds since 1970; running calls have run on since. */
  readonly callsAt: number;
  readonly running: number;
}

/** Done is what became of an action: error is a sentence that says why nothing did; decided answers the action "decide". */
export interface Done {
  readonly error?: string;
  readonly decided?: CallDecideResult;
}

/** ToPanel is a message to a panel. Plugins are many and change rarely, so they don't come with each state. */
export type ToPanel =
  | { readonly op: 'state'; readonly state: PanelState }
  /** plugins and those that can't be loaded replace the last; they are not known before the first. */
  | { readonly op: 'plugins'; readonly plugins: readonly PluginView[]; readonly failed: readonly FailedView[] }
  | { readonly op: 'done'; readonly ask: number; readonly done: Done };

/** Action is what a person did. */
export type Action =
  | { readonly op: 'stop'; readonly callId: string }
  | { readonly op: 'decide'; readonly params: CallDecideParams }
  | { readonly op: 'permission'; readonly params: ConfigPermissionParams }
  | { readonly op: 'review'; readonly params: ConfigReviewParams }
  | { readonly op: 'settings'; readonly params: ConfigSettingsParams }
  | { readonly op: 'opening'; readonly params: ConfigOpeningParams }
  | { readonly op: 'calls'; readonly params: ConfigCallsParams }
  | { readonly op: 'lateAccess'; readonly params: ConfigLateAccessParams }
  | { readonly op: 'reload'; readonly tabId: number }
  | { readonly op: 'show'; readonly tabId: number }
  | { readonly op: 'rename'; readonly name: string }
  | { readonly op: 'retry' }
  | { readonly op: 'details' };

/** FromPanel is an action under the number that its Done carries. */
export interface FromPanel {
  readonly ask: number;
  readonly action: Action;
}

/** readFromPanel checks a message of the panel. */
export function readFromPanel(value: unknown): FromPanel | undefined {
  if (!isBag(value) || typeof value.ask !== 'number' || !isBag(value.action)) return undefined;
  const action = readAction(value.action);
  return action && { ask: value.ask, action };
}

type Bag = Readonly<Record<string, unknown>>;

function readAction(value: Bag): Action | undefined {
  const { op, callId, tabId, name, params } = value;
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
      return isBag(params) ? readRequest(op, params) : undefined;
  }
}

/** readRequest reads an action that is a request to the server. */
function readRequest(op: unknown, params: Bag): Action | undefined {
  const { callId, ticketId, allow, forMs, plugin, tool, hash } = params;
  const scope = Scopes.find((known) => known === params.scope);
  const permission = Permissions.find((known) => known === params.permission);
  if (params.permission !== undefined && !permission) return undefined;
  if (op === 'decide') {
    if (typeof callId !== 'string' || typeof ticketId !== 'string' || typeof allow !== 'boolean') return undefined;
    const until = typeof forMs === 'number' ? { forMs } : {};
    return { op, params: { callId, ticketId, allow, ...(scope ? { scope } : {}), ...until } };
  }
  if (typeof plugin !== 'string') return undefined;
  if (op === 'settings') return isBag(params.values) ? { op, params: { plugin, values: params.values } } : undefined;
  if (op === 'opening' || op === 'lateAccess') {
    const { allowed } = params;
    return typeof allowed === 'boolean' ? { op, params: { plugin, allowed } } : undefined;
  }
  if (op === 'calls') {
    const { other, allowed } = params;
    return typeof other === 'string' && typeof allowed === 'boolean'
      ? { op, params: { plugin, other, allowed } }
      : undefined;
  }
  if (op === 'review') {
    return typeof hash === 'string' && permission ? { op, params: { plugin, hash, permission } } : undefined;
  }
  if (op !== 'permission') return undefined;
  return {
    op,
    params: { plugin, ...(typeof tool === 'string' ? { tool } : {}), ...(permission ? { permission } : {}) },
  };
}

/** isToPanel checks a message as far as it needs: it comes from the same extension. */
export function isToPanel(value: unknown): value is ToPanel {
  if (!isBag(value)) return false;
  switch (value.op) {
    case 'state':
      return isBag(value.state) && isBag(value.state.link) && Array.isArray(value.state.calls);
    case 'plugins':
      return Array.isArray(value.plugins) && Array.isArray(value.failed);
    case 'done':
      return typeof value.ask === 'number' && isBag(value.done);
    default:
      return false;
  }
}

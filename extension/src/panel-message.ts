// Messages on the port between the side panel and the service worker.

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
  type FailedPluginView,
  type InjectMode,
  Permissions,
  type PluginView,
  Scopes,
} from '../../wire/wire.gen.ts';
import { isRecord } from './port-message.ts';
import type { LinkState } from './worker/link/link.ts';

/** PanelPlugin is one plugin in one tab. */
export interface PanelPlugin {
  readonly name: string;
  readonly displayName: string;
  /**
   * live: works. reload: works after a reload of the tab. silent: the page does not answer. broken: the adapter failed, and
   * problem is its error.
   */
  readonly status: 'live' | 'reload' | 'silent' | 'broken';
  readonly problem?: string;
  /** ready is the last readiness that a live adapter reported. Absent before the first report. */
  readonly ready?: boolean;
}

/** PanelTab is a tab that matches plugins. */
export interface PanelTab {
  readonly tabId: number;
  readonly title: string;
  readonly url: string;
  readonly plugins: readonly PanelPlugin[];
}

/** PanelState is everything that the panel shows except the plugins. Each state replaces the last one. */
export interface PanelState {
  readonly link: LinkState;
  readonly browserName: string;
  readonly extensionVersion: string;
  readonly mode: InjectMode;
  readonly tabs: readonly PanelTab[];
  readonly calls: readonly CallView[];
  /** callsAt is when calls arrived, in milliseconds since 1970. Running calls have continued since. */
  readonly callsAt: number;
  readonly running: number;
}

/** Done is the answer to an action. error is set if it failed; decided is the result of the action "decide". */
export interface Done {
  readonly error?: string;
  readonly decided?: CallDecideResult;
}

/** ToPanel is a message to a panel. The plugins have a separate message because they are many and change rarely. */
export type ToPanel =
  | { readonly op: 'state'; readonly state: PanelState }
  /** plugins, and failed for those that could not be loaded, replace the last lists. */
  | { readonly op: 'plugins'; readonly plugins: readonly PluginView[]; readonly failed: readonly FailedPluginView[] }
  | { readonly op: 'done'; readonly requestId: number; readonly done: Done };

/** Action is a user action in the panel. */
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

/** FromPanel is an action with the ID that its answer repeats. */
export interface FromPanel {
  readonly requestId: number;
  readonly action: Action;
}

/** readFromPanel validates a message from a panel. */
export function readFromPanel(value: unknown): FromPanel | undefined {
  if (!isRecord(value) || typeof value.requestId !== 'number' || !isRecord(value.action)) return undefined;
  const action = readAction(value.action);
  return action && { requestId: value.requestId, action };
}

type Fields = Readonly<Record<string, unknown>>;

function readAction(value: Fields): Action | undefined {
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
      return isRecord(params) ? readRequest(op, params) : undefined;
  }
}

/** readRequest reads an action that becomes a request to the server. */
function readRequest(op: unknown, params: Fields): Action | undefined {
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
  if (op === 'settings') return isRecord(params.values) ? { op, params: { plugin, values: params.values } } : undefined;
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

/** isToPanel checks the parts of a message that the panel reads first. The sender is the same extension. */
export function isToPanel(value: unknown): value is ToPanel {
  if (!isRecord(value)) return false;
  switch (value.op) {
    case 'state':
      return isRecord(value.state) && isRecord(value.state.link) && Array.isArray(value.state.calls);
    case 'plugins':
      return Array.isArray(value.plugins) && Array.isArray(value.failed);
    case 'done':
      return typeof value.requestId === 'number' && isRecord(value.done);
    default:
      return false;
  }
}

// Defines the messages on the port between the side panel and the service worker.

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
  type Permission,
  Permissions,
  type PluginView,
  Scopes,
} from '../../wire/wire.gen.ts';
import { type PortReaders, readMessage } from './port-router.ts';
import { type Fields, isRecord } from './record.ts';
import type { LinkState } from './worker/link/link.ts';

/** PanelPlugin is one plugin in one tab. */
export interface PanelPlugin {
  readonly name: string;
  readonly displayName: string;
  /**
   * The status "live" means that the plugin works. The status "reload" means that the plugin works after a reload of
   * the tab. The status "silent" means that the page does not answer. The status "broken" means that the adapter
   * failed, and problem is the error.
   */
  readonly status: 'live' | 'reload' | 'silent' | 'broken';
  readonly problem?: string;
  /** ready is the last readiness that a live adapter reported; undefined before the first report. */
  readonly ready?: boolean;
}

/** PanelTab is a tab that matches plugins. */
export interface PanelTab {
  readonly tabId: number;
  readonly title: string;
  readonly url: string;
  readonly plugins: readonly PanelPlugin[];
}

/** PanelState is everything that the panel shows except the plugins. Each PanelState replaces the previous state. */
export interface PanelState {
  readonly link: LinkState;
  readonly browserName: string;
  readonly extensionVersion: string;
  readonly mode: InjectMode;
  /** isDebuggerRefused is true if the user pressed Cancel in Chrome's bar of the debugger. */
  readonly isDebuggerRefused?: boolean;
  readonly tabs: readonly PanelTab[];
  readonly calls: readonly CallView[];
  /**
   * callsAt is when the worker received calls, in milliseconds since 1970. The panel adds the time since callsAt to the
   * durations of running calls.
   */
  readonly callsAt: number;
  readonly running: number;
}

/**
 * ActionResult is the worker's answer to an action of the panel. error is set if the action failed. decided is the
 * result of the action "decide".
 */
export interface ActionResult {
  readonly error?: string;
  readonly decided?: CallDecideResult;
}

/**
 * ToPanel is a message to a panel. The list of plugins is a separate message, because the list is long and rarely
 * changes.
 */
export type ToPanel =
  | { readonly op: 'state'; readonly state: PanelState }
  /** plugins is the new list of plugins, and failed is the new list of plugins that could not be loaded. */
  | { readonly op: 'plugins'; readonly plugins: readonly PluginView[]; readonly failed: readonly FailedPluginView[] }
  | { readonly op: 'done'; readonly requestId: number; readonly done: ActionResult };

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
  | { readonly op: 'details' }
  | { readonly op: 'allowDebugger' };

/** FromPanel is an action with the ID that its answer repeats. */
export interface FromPanel {
  readonly requestId: number;
  readonly action: Action;
}

/** readFromPanel validates a message from a panel. */
export function readFromPanel(value: unknown): FromPanel | undefined {
  if (!isRecord(value) || typeof value.requestId !== 'number') return undefined;
  const action = readMessage(actions, value.action);
  return action && { requestId: value.requestId, action };
}

const actions: PortReaders<Action> = {
  stop: ({ callId }) => (typeof callId === 'string' ? { op: 'stop', callId } : undefined),
  decide: ({ params }) => {
    if (!isRecord(params)) return undefined;
    const { callId, ticketId, allow, forMs } = params;
    const scope = Scopes.find((knownScope) => knownScope === params.scope);
    if (typeof callId !== 'string' || typeof ticketId !== 'string' || typeof allow !== 'boolean') return undefined;
    const duration = typeof forMs === 'number' ? { forMs } : {};
    return { op: 'decide', params: { callId, ticketId, allow, ...(scope ? { scope } : {}), ...duration } };
  },
  permission: withPlugin((plugin, { tool, permission: permissionField }) => {
    const permission = findPermission(permissionField);
    if (permissionField !== undefined && !permission) return undefined;
    const toolField = typeof tool === 'string' ? { tool } : {};
    return { op: 'permission', params: { plugin, ...toolField, ...(permission ? { permission } : {}) } };
  }),
  review: withPlugin((plugin, { hash, permission: permissionField }) => {
    const permission = findPermission(permissionField);
    return typeof hash === 'string' && permission ? { op: 'review', params: { plugin, hash, permission } } : undefined;
  }),
  settings: withPlugin((plugin, { values }) =>
    isRecord(values) ? { op: 'settings', params: { plugin, values } } : undefined,
  ),
  opening: withPlugin((plugin, { allowed }) =>
    typeof allowed === 'boolean' ? { op: 'opening', params: { plugin, allowed } } : undefined,
  ),
  calls: withPlugin((plugin, { other, allowed }) =>
    typeof other === 'string' && typeof allowed === 'boolean'
      ? { op: 'calls', params: { plugin, other, allowed } }
      : undefined,
  ),
  lateAccess: withPlugin((plugin, { allowed }) =>
    typeof allowed === 'boolean' ? { op: 'lateAccess', params: { plugin, allowed } } : undefined,
  ),
  reload: ({ tabId }) => (typeof tabId === 'number' ? { op: 'reload', tabId } : undefined),
  show: ({ tabId }) => (typeof tabId === 'number' ? { op: 'show', tabId } : undefined),
  rename: ({ name }) => (typeof name === 'string' ? { op: 'rename', name } : undefined),
  retry: () => ({ op: 'retry' }),
  details: () => ({ op: 'details' }),
  allowDebugger: () => ({ op: 'allowDebugger' }),
};

/** withPlugin returns a reader for an action whose params name a plugin. */
function withPlugin<A>(read: (plugin: string, params: Fields) => A | undefined): (fields: Fields) => A | undefined {
  return ({ params }) =>
    isRecord(params) && typeof params.plugin === 'string' ? read(params.plugin, params) : undefined;
}

function findPermission(value: unknown): Permission | undefined {
  return Permissions.find((permission) => permission === value);
}

/**
 * isToPanel checks the parts of a message that the panel reads first. isToPanel needs no more checks, because the
 * sender of the message is the extension's worker.
 */
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

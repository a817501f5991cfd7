// Defines the messages on the port between the side panel and the service worker.

import {
  type CallDecideParams,
  type CallDecideResult,
  type CallInspectResult,
  type CallsFilter,
  type CallsHistoryParams,
  type CallsHistoryResult,
  type CallView,
  type ConfigBrowserToolsParams,
  type ConfigCallsParams,
  type ConfigLateAccessParams,
  type ConfigOpeningParams,
  type ConfigPermissionParams,
  type ConfigReviewParams,
  type ConfigSettingsParams,
  type ConfigSiteParams,
  type FailedPluginView,
  type InjectMode,
  type Permission,
  Permissions,
  type PluginInspectResult,
  type PluginInstallResult,
  type PluginPageParams,
  type PluginPageResult,
  type PluginUpdateResult,
  type PluginView,
  Scopes,
  SectionNames,
  type StateBrowserParams,
  Surfaces,
  type TabHold,
  type ToolPermission,
} from '../../wire/wire.gen.ts';
import { type PortReaders, readMessage } from './port-router.ts';
import { type Fields, isRecord } from './record.ts';
import type { DebuggerState } from './worker/browser/debugger/debuggers.ts';
import type { LinkState } from './worker/link/link.ts';
import type { PairingState } from './worker/link/pairing.ts';

export interface PanelPlugin {
  readonly name: string;
  readonly displayName: string;
  /**
   * The status "live" means that the adapter of the plugin runs in the tab. The status "reload" means that the plugin
   * works after a reload of the tab. The status "silent" means that the page does not answer. The status "broken" means
   * that the plugin's adapter failed, and the field `problem` contains the error. The status "noAccess" means that
   * Chrome gives the extension no access to the site.
   */
  readonly status: 'live' | 'reload' | 'silent' | 'broken' | 'noAccess';
  readonly problem?: string;
  readonly ready?: boolean;
}

export interface PanelTab {
  readonly tabId: number;
  readonly title: string;
  readonly url: string;
  readonly plugins: readonly PanelPlugin[];
}

export interface PanelTabHold extends Omit<TabHold, 'leftMs'> {
  /** endMs is when the panel stops listing the tab as used by an agent, in milliseconds since 1970. */
  readonly endMs: number;
}

/** PanelState is everything that the panel shows except the plugins. Each PanelState replaces the previous state. */
export interface PanelState {
  readonly link: LinkState;
  /**
   * The field `pairing` is absent if the extension has the file connection.json of an opentabs installation, so that no
   * pairing is needed.
   */
  readonly pairing?: PairingState;
  readonly browserName: string;
  readonly extensionVersion: string;
  readonly injectMode: InjectMode;
  /** debuggerState is "refused" if the user pressed Cancel in Chrome's debugger bar. */
  readonly debuggerState: DebuggerState;
  readonly holds: readonly PanelTabHold[];
  readonly tabs: readonly PanelTab[];
  /**
   * neededHosts are the hosts that calls needed but to which Chrome gives the extension no access, the most recent
   * first.
   */
  readonly neededHosts: readonly string[];
  readonly calls: readonly CallView[];
  /**
   * callsAt is when the worker received the daemon's list of calls, in milliseconds since 1970. The panel adds the time
   * since callsAt to the durations of running calls.
   */
  readonly callsAt: number;
  readonly running: number;
  readonly clients: readonly string[];
}

/** ActionResult is the worker's answer to a user action in the panel; `error` is set if the action failed. */
export interface ActionResult {
  readonly error?: string;
  readonly decided?: CallDecideResult;
  readonly history?: CallsHistoryResult;
  readonly call?: CallInspectResult;
  readonly inspected?: PluginInspectResult;
  readonly page?: PluginPageResult;
  readonly installed?: PluginInstallResult;
  readonly updated?: PluginUpdateResult;
}

/**
 * WorkerToPanelMessage is a message from the worker to a side panel or a popup. The list of plugins is a separate
 * message, because the list is long and rarely changes.
 */
export type WorkerToPanelMessage =
  /** `ended` contains the calls that have ended since the previous state message, newest first. */
  | { readonly op: 'state'; readonly state: PanelState; readonly ended: readonly CallView[] }
  | { readonly op: 'plugins'; readonly plugins: readonly PluginView[]; readonly failed: readonly FailedPluginView[] }
  | { readonly op: 'browser'; readonly browser: StateBrowserParams }
  | { readonly op: 'done'; readonly requestId: number; readonly done: ActionResult };

export type Action =
  | { readonly op: 'stop'; readonly callId: string }
  | { readonly op: 'decide'; readonly params: CallDecideParams }
  | { readonly op: 'history'; readonly params: CallsHistoryParams }
  | { readonly op: 'inspectCall'; readonly callId: string }
  | { readonly op: 'repeat'; readonly callId: string }
  | { readonly op: 'undo'; readonly callId: string }
  | { readonly op: 'permission'; readonly params: ConfigPermissionParams }
  | { readonly op: 'review'; readonly params: ConfigReviewParams }
  | { readonly op: 'inspectPlugin'; readonly plugin: string }
  | { readonly op: 'pluginPage'; readonly params: PluginPageParams }
  | { readonly op: 'installPlugin'; readonly package: string }
  | { readonly op: 'updatePlugin'; readonly plugin: string }
  | { readonly op: 'removePlugin'; readonly plugin: string }
  | { readonly op: 'settings'; readonly params: ConfigSettingsParams }
  | { readonly op: 'opening'; readonly params: ConfigOpeningParams }
  | { readonly op: 'calls'; readonly params: ConfigCallsParams }
  | { readonly op: 'lateAccess'; readonly params: ConfigLateAccessParams }
  | { readonly op: 'browserTools'; readonly params: ConfigBrowserToolsParams }
  | { readonly op: 'site'; readonly params: ConfigSiteParams }
  | { readonly op: 'release'; readonly tabId: number }
  | { readonly op: 'reload'; readonly tabId: number }
  | { readonly op: 'show'; readonly tabId: number }
  | { readonly op: 'rename'; readonly name: string }
  | { readonly op: 'pairAgain' }
  | { readonly op: 'port'; readonly port: number }
  | { readonly op: 'retry' }
  | { readonly op: 'details' }
  | { readonly op: 'allowDebugger' };

/** PanelToWorkerMessage is a user action with a request ID, which the worker repeats in its answer. */
export interface PanelToWorkerMessage {
  readonly requestId: number;
  readonly action: Action;
}

export function readPanelMessage(value: unknown): PanelToWorkerMessage | undefined {
  if (!isRecord(value) || typeof value.requestId !== 'number') return undefined;
  const action = readMessage(actionReaders, value.action);
  return action && { requestId: value.requestId, action };
}

function readCallsFilter({ tool, client, text: searchText, failed: failedOnly }: Fields): CallsFilter {
  return {
    ...(typeof tool === 'string' ? { tool } : {}),
    ...(typeof client === 'string' ? { client } : {}),
    ...(typeof searchText === 'string' ? { text: searchText } : {}),
    ...(failedOnly === true ? { failed: failedOnly } : {}),
  };
}

const actionReaders: PortReaders<Action> = {
  stop: ({ callId }) => (typeof callId === 'string' ? { op: 'stop', callId } : undefined),
  decide: ({ params }) => {
    if (!isRecord(params)) return undefined;
    const { callId, ticketId, allow: isAllowed, forMs } = params;
    const grantScope = Scopes.find((knownScope) => knownScope === params.scope);
    const decisionSurface = Surfaces.find((knownSurface) => knownSurface === params.surface);
    if (typeof callId !== 'string' || typeof ticketId !== 'string' || typeof isAllowed !== 'boolean') return undefined;
    const timeLimitParams = typeof forMs === 'number' ? { forMs } : {};
    const options = {
      ...(grantScope ? { scope: grantScope } : {}),
      ...timeLimitParams,
      ...(decisionSurface ? { surface: decisionSurface } : {}),
    };
    return { op: 'decide', params: { callId, ticketId, allow: isAllowed, ...options } };
  },
  history: ({ params }) => {
    if (!isRecord(params) || typeof params.limit !== 'number') return undefined;
    const beforeParam = typeof params.before === 'string' ? { before: params.before } : {};
    const filter = isRecord(params.filter) ? { filter: readCallsFilter(params.filter) } : {};
    return { op: 'history', params: { limit: params.limit, ...beforeParam, ...filter } };
  },
  inspectCall: ({ callId }) => (typeof callId === 'string' ? { op: 'inspectCall', callId } : undefined),
  repeat: ({ callId }) => (typeof callId === 'string' ? { op: 'repeat', callId } : undefined),
  undo: ({ callId }) => (typeof callId === 'string' ? { op: 'undo', callId } : undefined),
  permission: makePluginActionReader((plugin, { tool, permission: permissionField }) => {
    const permission = toPermission(permissionField);
    if (permissionField !== undefined && !permission) return undefined;
    const toolField = typeof tool === 'string' ? { tool } : {};
    return { op: 'permission', params: { plugin, ...toolField, ...(permission ? { permission } : {}) } };
  }),
  review: makePluginActionReader((plugin, { hash, permission: permissionField, tools: toolPermissionsField }) => {
    const permission = toPermission(permissionField);
    const tools = toolPermissionsField === undefined ? [] : readToolPermissions(toolPermissionsField);
    if (typeof hash !== 'string' || !permission || !tools) return undefined;
    return { op: 'review', params: { plugin, hash, permission, ...(tools.length > 0 ? { tools } : {}) } };
  }),
  inspectPlugin: ({ plugin }) => (typeof plugin === 'string' ? { op: 'inspectPlugin', plugin } : undefined),
  pluginPage: makePluginActionReader((plugin, { hash, section: sectionField, page }) => {
    const section = SectionNames.find((knownSection) => knownSection === sectionField);
    if (typeof hash !== 'string' || !section || typeof page !== 'number') return undefined;
    return { op: 'pluginPage', params: { plugin, hash, section, page } };
  }),
  installPlugin: (fields) =>
    typeof fields.package === 'string' ? { op: 'installPlugin', package: fields.package } : undefined,
  updatePlugin: ({ plugin }) => (typeof plugin === 'string' ? { op: 'updatePlugin', plugin } : undefined),
  removePlugin: ({ plugin }) => (typeof plugin === 'string' ? { op: 'removePlugin', plugin } : undefined),
  settings: makePluginActionReader((plugin, { values }) =>
    isRecord(values) ? { op: 'settings', params: { plugin, values } } : undefined,
  ),
  opening: makePluginActionReader((plugin, { allowed: isAllowed }) =>
    typeof isAllowed === 'boolean' ? { op: 'opening', params: { plugin, allowed: isAllowed } } : undefined,
  ),
  calls: makePluginActionReader((plugin, { other: otherPlugin, allowed: isAllowed }) =>
    typeof otherPlugin === 'string' && typeof isAllowed === 'boolean'
      ? { op: 'calls', params: { plugin, other: otherPlugin, allowed: isAllowed } }
      : undefined,
  ),
  lateAccess: makePluginActionReader((plugin, { allowed: isAllowed }) =>
    typeof isAllowed === 'boolean' ? { op: 'lateAccess', params: { plugin, allowed: isAllowed } } : undefined,
  ),
  browserTools: ({ params }) => {
    if (!isRecord(params) || typeof params.on !== 'boolean') return undefined;
    const names = readStringArray(params.names);
    return names === undefined && params.names !== undefined
      ? undefined
      : { op: 'browserTools', params: { on: params.on, ...(names ? { names } : {}) } };
  },
  site: ({ params }) => {
    if (!isRecord(params) || typeof params.site !== 'string') return undefined;
    const { site, permission } = params;
    if (permission !== undefined && typeof permission !== 'string') return undefined;
    return { op: 'site', params: { site, ...(permission === undefined ? {} : { permission }) } };
  },
  release: ({ tabId }) => (typeof tabId === 'number' ? { op: 'release', tabId } : undefined),
  reload: ({ tabId }) => (typeof tabId === 'number' ? { op: 'reload', tabId } : undefined),
  show: ({ tabId }) => (typeof tabId === 'number' ? { op: 'show', tabId } : undefined),
  rename: ({ name }) => (typeof name === 'string' ? { op: 'rename', name } : undefined),
  pairAgain: () => ({ op: 'pairAgain' }),
  port: ({ port }) => (typeof port === 'number' ? { op: 'port', port } : undefined),
  retry: () => ({ op: 'retry' }),
  details: () => ({ op: 'details' }),
  allowDebugger: () => ({ op: 'allowDebugger' }),
};

function makePluginActionReader<A>(
  readAction: (plugin: string, params: Fields) => A | undefined,
): (fields: Fields) => A | undefined {
  return ({ params }) =>
    isRecord(params) && typeof params.plugin === 'string' ? readAction(params.plugin, params) : undefined;
}

function readStringArray(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const names = value.filter((name) => typeof name === 'string');
  return names.length === value.length ? names : undefined;
}

function readToolPermissions(value: unknown): ToolPermission[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const tools = value.flatMap((toolFields: unknown): ToolPermission[] => {
    if (!isRecord(toolFields) || typeof toolFields.tool !== 'string') return [];
    const permission = toPermission(toolFields.permission);
    if (toolFields.permission !== undefined && !permission) return [];
    return [{ tool: toolFields.tool, ...(permission ? { permission } : {}) }];
  });
  return tools.length === value.length ? tools : undefined;
}

function toPermission(value: unknown): Permission | undefined {
  return Permissions.find((permission) => permission === value);
}

/**
 * isWorkerToPanelMessage checks only a few fields of a message, because only the extension's worker sends messages to
 * the panel.
 */
export function isWorkerToPanelMessage(value: unknown): value is WorkerToPanelMessage {
  if (!isRecord(value)) return false;
  switch (value.op) {
    case 'state':
      return (
        isRecord(value.state) &&
        isRecord(value.state.link) &&
        Array.isArray(value.state.calls) &&
        Array.isArray(value.ended)
      );
    case 'plugins':
      return Array.isArray(value.plugins) && Array.isArray(value.failed);
    case 'browser':
      return isRecord(value.browser);
    case 'done':
      return typeof value.requestId === 'number' && isRecord(value.done);
    default:
      return false;
  }
}

// Renders the side panel from the state that the service worker sends, and sends the user's actions to the worker. The
// panel itself stores only unsaved input, the switch "Show everything", and whether a call has ever succeeded.

import { render } from 'preact';
import type { CallView, FailedPluginView, PluginView, StateBrowserParams } from '../../../wire/wire.gen.ts';
import { connectPanel, onCapabilitiesChange, type Port, readSetting, writeSetting } from '../chrome.ts';
import {
  AllSitesPattern,
  grantPermission,
  grantSite,
  listOptionalPermissions,
  onActiveTabChange,
  readActiveTabHost,
  readSitePermissions,
  revokePermission,
  revokeSite,
} from '../chrome-permissions.ts';
import { isWorkerToPanelMessage, type PanelState, type WorkerToPanelMessage } from '../panel-message.ts';
import { type PortHandlers, routeMessage } from '../port-router.ts';
import { hasSuccessfulCall } from './checklist.ts';
import type { ChromePermissionsProps } from './chrome-permissions.tsx';
import { makeHistory } from './history.ts';
import { type OpenCall, updateOpenCalls } from './open-calls.ts';
import { Panel } from './panel.tsx';
import { addRecords, mergeRecentCalls, type RecentCall } from './recent.ts';
import { makeRequests } from './requests.ts';
import { reuseIfEqual, reuseItems } from './reuse.ts';
import type { SiteAccessProps } from './site-access.tsx';
import { makeThrottledRender } from './throttled-render.ts';

const ReconnectDelayMs = 250;
const RenderIntervalMs = 1000;
const ShowsEverythingSettingKey = 'showEverything';
const HadSuccessfulCallSettingKey = 'hadSuccess';

let port: Port | undefined;
let panelState: PanelState | undefined;
let openCalls: readonly OpenCall[] = [];
let recentCalls: readonly RecentCall[] = [];
let plugins: readonly PluginView[] | undefined;
let failedPlugins: readonly FailedPluginView[] = [];
let browserTools: StateBrowserParams | undefined;
let chromePermissions: ChromePermissionsProps = {
  permissions: [],
  grantPermission,
  revokePermission,
};
/**
 * siteAccess assumes access to all sites until Chrome has returned the granted sites, so that the panel does not offer
 * needless buttons.
 */
let siteAccess: SiteAccessProps = {
  patterns: [AllSitesPattern],
  isOptional: false,
  shownHost: undefined,
  grant: grantSite,
  revoke: revokeSite,
};
let showsEverything = false;
let hasHadSuccessfulCall: boolean | undefined;

const requests = makeRequests((panelMessage) => {
  port?.postMessage(panelMessage);
  return port !== undefined;
});

const history = makeHistory(requests.sendAction, (page) => {
  const oldCallCount = recentCalls.length;
  recentCalls = addRecords(recentCalls, page);
  recordSuccessfulCall();
  renderPanel();
  return recentCalls.length > oldCallCount;
});

function setShowsEverything(isOn: boolean): void {
  showsEverything = isOn;
  renderPanel();
  void writeSetting(ShowsEverythingSettingKey, isOn ? 'yes' : 'no');
}

function renderPanel(): void {
  const rootElement = document.getElementById('panel');
  const panelProps = {
    panelState,
    openCalls,
    recentCalls,
    history,
    hasOlderCalls: history.hasOlderCalls,
    plugins,
    failedPlugins,
    browserTools,
    chromePermissions,
    siteAccess,
    showsEverything,
    setShowsEverything,
    needsOnboarding: hasHadSuccessfulCall === false,
    nowMs: Date.now(),
    sendAction: requests.sendAction,
  };
  if (rootElement) render(<Panel {...panelProps} />, rootElement);
}

/** renderState renders a new state of the server, which sends up to five states per second. */
const renderState = makeThrottledRender(renderPanel);

/** Unchanged calls and plugins keep their previous objects, so that their components do not render again. */
function receiveState(nextState: PanelState, endedCalls: readonly CallView[]): void {
  const oldTicketIds = listTicketIds();
  openCalls = updateOpenCalls(openCalls, nextState.calls, nextState.callsAt);
  recentCalls = mergeRecentCalls(
    reuseItems(recentCalls, endedCalls, (call) => call.callId),
    recentCalls,
  );
  const wasConnected = panelState?.link.kind === 'open';
  panelState = {
    ...nextState,
    link: reuseIfEqual(panelState?.link, nextState.link),
    holds: reuseItems(panelState?.holds, nextState.holds, (tabHold) => tabHold.tabId),
    tabs: reuseItems(panelState?.tabs, nextState.tabs, (tab) => tab.tabId),
    clients: reuseIfEqual(panelState?.clients, nextState.clients),
  };
  if (nextState.link.kind === 'open' && !wasConnected) void history.onConnected().then(renderPanel);
  recordSuccessfulCall();
  // The user must see immediately that a call waits for approval.
  renderState(listTicketIds() !== oldTicketIds);
}

function listTicketIds(): string {
  return openCalls.map(({ call }) => call.waiting?.ticketId ?? '').join(' ');
}

function recordSuccessfulCall(): void {
  if (hasHadSuccessfulCall !== false || !hasSuccessfulCall(recentCalls)) return;
  hasHadSuccessfulCall = true;
  void writeSetting(HadSuccessfulCallSettingKey, 'yes');
}

const handlers: PortHandlers<WorkerToPanelMessage> = {
  state: (panelMessage) => receiveState(panelMessage.state, panelMessage.ended),
  plugins: (panelMessage) => {
    plugins = reuseItems(plugins, panelMessage.plugins, (plugin) => plugin.name);
    failedPlugins = reuseIfEqual(failedPlugins, panelMessage.failed);
    renderPanel();
  },
  browser: (panelMessage) => {
    browserTools = reuseIfEqual(browserTools, panelMessage.browser);
    renderPanel();
  },
  done: ({ requestId, done: actionResult }) => requests.settleRequest(requestId, actionResult),
};

/** Chrome closes the port when it stops the worker; reopening the port restarts the worker. */
function connectToWorker(): void {
  const openedPort = connectPanel();
  port = openedPort;
  openedPort.onMessage((panelMessage) => {
    if (isWorkerToPanelMessage(panelMessage)) routeMessage(handlers, panelMessage.op, panelMessage);
  });
  openedPort.onDisconnect(() => {
    port = undefined;
    requests.failPendingRequests();
    setTimeout(connectToWorker, ReconnectDelayMs);
  });
}

async function readPermissions(): Promise<void> {
  const [permissions, sites] = await Promise.all([listOptionalPermissions(), readSitePermissions()]);
  chromePermissions = { ...chromePermissions, permissions };
  siteAccess = { ...siteAccess, ...sites };
  renderPanel();
}

async function readActiveTab(): Promise<void> {
  siteAccess = { ...siteAccess, shownHost: await readActiveTabHost() };
  renderPanel();
}

connectToWorker();
renderPanel();
onCapabilitiesChange(() => void readPermissions());
void readPermissions();
onActiveTabChange(() => void readActiveTab());
void readActiveTab();
setInterval(() => renderState(false), RenderIntervalMs);
void readSetting(ShowsEverythingSettingKey).then((storedValue) => {
  showsEverything = storedValue === 'yes';
  renderPanel();
});
void readSetting(HadSuccessfulCallSettingKey).then((storedValue) => {
  hasHadSuccessfulCall = storedValue === 'yes';
  recordSuccessfulCall();
  renderPanel();
});

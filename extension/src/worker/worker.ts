// This service worker owns the WebSocket to the server and forwards calls to documents. Chrome may stop a service
// worker at any time. A restarted worker restores its state from messages of documents and the server.
//
// worker.ts creates the parts of the worker in order of dependency: the constructor of a part receives earlier parts. A
// part of the worker emits signals to notify parts that are created later. worker.ts adds the listeners of all signals
// at its end.

import type { PluginInfo } from '../../../wire/wire.gen.ts';
import * as browser from '../chrome.ts';
import * as chromeDebugger from '../chrome-debugger.ts';
import * as chromeDownloads from '../chrome-downloads.ts';
import * as chromeNotifications from '../chrome-notifications.ts';
import * as chromePages from '../chrome-pages.ts';
import * as chromePermissions from '../chrome-permissions.ts';
import * as scripts from '../chrome-scripts.ts';
import * as chromeSiteData from '../chrome-site-data.ts';
import * as chromeTabs from '../chrome-tabs.ts';
import * as chromeUserData from '../chrome-user-data.ts';
import * as chromeWindows from '../chrome-windows.ts';
import { BRIDGE_PORT, PANEL_PORT, POPUP_PORT } from '../port-message.ts';
import { BrowserCalls, BrowserPlugin } from './browser/browser-calls.ts';
import { makeBrowserTools } from './browser/browser-tools.ts';
import { Debuggers } from './browser/debugger/debuggers.ts';
import { UserInput } from './browser/user-input.ts';
import { Calls } from './calls/calls.ts';
import { Outbox } from './calls/outbox.ts';
import { RunningCalls } from './calls/running.ts';
import { AdapterDelivery } from './delivery/delivery.ts';
import { makeEntryPoints } from './delivery/entry-points.ts';
import { HotReload } from './delivery/hot-reload.ts';
import { LivePlugins } from './delivery/live-plugins.ts';
import { makeSyntaxChecker, SYNTAX_CHECK_WORLD } from './delivery/syntax.ts';
import { makeBridgePorts } from './documents/bridge-ports.ts';
import { type Doc, makeDocs } from './documents/docs.ts';
import { HealthMonitor } from './documents/health.ts';
import { makeLogs } from './documents/logs.ts';
import { makeWakeTimers } from './documents/wakes.ts';
import { answerRequest, handleNotification, type NotificationHandlers, type RequestHandlers } from './link/handlers.ts';
import { findListener, makeHandshake } from './link/handshake.ts';
import { BrowserIdentity } from './link/identity.ts';
import { ServerLink } from './link/link.ts';
import { Pairing } from './link/pairing.ts';
import { openSocket } from './link/socket.ts';
import { ApprovalNotifications, makeDecideWhenLinked } from './panels/approval-notifications.ts';
import { Badge } from './panels/badge.ts';
import { makePanelActions } from './panels/panel-actions.ts';
import { makePanelTabs } from './panels/panel-tabs.ts';
import { makePanels } from './panels/panels.ts';
import { StateWatch } from './panels/state-watch.ts';
import * as cache from './plugins/cache.ts';
import { makeIsolatedWorldId, Plugins } from './plugins/plugins.ts';
import { RegistrationTracker } from './plugins/registering.ts';
import { makeSettingsSync } from './plugins/settings-sync.ts';
import { makeCodeStore } from './plugins/store.ts';
import { PluginUsage } from './plugins/usage.ts';
import { TabLoadErrors } from './tabs/load-errors.ts';
import { makeTabOpener } from './tabs/opening.ts';
import { TabReloader } from './tabs/reload.ts';
import { SiteAccess } from './tabs/site-access.ts';
import { Tabs } from './tabs/tabs.ts';
import { makeUserReload } from './tabs/user-reload.ts';

const OrphanPingTimeoutMs = 1000;
/** MaxPreregistrationDelayMs is how long scripts of new documents wait for hot reloads of open documents. */
const MaxPreregistrationDelayMs = 400;

// ---- link ----

const identity = new BrowserIdentity(browser);
const pairing = new Pairing(browser);
const link = new ServerLink({
  readConnection: () => pairing.readConnection(),
  savePairedKey: (key) => pairing.savePairedKey(key),
  readIdentity: () => identity.makeHello(),
  receiveBrowserName: (server) => void identity.receiveBrowserName(server),
  openSocket,
  makeHandshake,
  findListener: (connection) => findListener(connection, fetch),
  random: Math.random,
});
const sendFrame = (text: string) => link.send(text);

// ---- plugins ----

const store = makeCodeStore({ ...cache, fetch: (params) => link.request('plugin.fetch', params) });
const fetchPluginCode = ({ name, script }: PluginInfo) => store.get(name, script);
const entryPoints = makeEntryPoints(() => identity.readEntryPointSecret());
const usage = new PluginUsage({
  readUsage: () => browser.readSetting('usedPlugins'),
  write: (text) => browser.writeSetting('usedPlugins', text),
});
const registrationTracker = new RegistrationTracker();
const plugins = new Plugins(
  { ...scripts, ...registrationTracker.wrapRegistrationFunctions(scripts) },
  {
    entryPoints,
    fetchCode: store.get,
    listRecentlyUsedPlugins: () => usage.readNames(),
    readBootId: () => identity.readBootId(),
  },
);
const docs = makeDocs();
const settingsSync = makeSettingsSync({
  docs,
  listWantedPlugins: () => (plugins.isSynced ? plugins.wantedPlugins : undefined),
});
const logs = makeLogs({ isRunning: docs.isRunning, send: (params) => link.notify('plugin.log', params) });
const injection = {
  docs,
  entryPoints,
  plugins: () => plugins.injectablePlugins,
  code: fetchPluginCode,
  syntax: makeSyntaxChecker((doc, codes) => scripts.runInPage(doc, codes, SYNTAX_CHECK_WORLD)),
  run: (doc: Doc, plugin: PluginInfo, code: string) =>
    scripts.runInPage(doc, [code], plugin.world === 'isolated' ? makeIsolatedWorldId(plugin) : undefined),
  nonce: () => crypto.randomUUID(),
};
const hotReload = new HotReload(injection);
const delivery = new AdapterDelivery({
  ...injection,
  canInjectAfterLoad: (plugin) => plugins.canInjectAfterLoad(plugin),
  host: async () => (await store.get('', plugins.hostHash)).code,
  recordPluginUse: (plugin) => void usage.recordPluginUse(plugin),
});
const livePlugins = new LivePlugins({ docs, plugins, hotReload, delivery });

// ---- tabs ----

const frozenTabs = new Set<number>();
const runningCalls = new RunningCalls();
const health = new HealthMonitor({ isBusy: (id) => runningCalls.isBusy(id), isFrozen: browser.isTabFrozen });
const tabLoadErrors = new TabLoadErrors();
const siteAccess = new SiteAccess(chromePermissions.listAllowedSites);
const tabOpener = makeTabOpener({
  plugins: () => plugins.wantedPlugins,
  open: browser.openBackgroundTab,
  tabExists: async (tabId) => (await browser.readTabState(tabId)) !== 'closed',
  urlOf: async (tabId) => (await browser.queryTabs()).find((tab) => tab.id === tabId)?.url,
  loadError: (tabId) => tabLoadErrors.getError(tabId),
  isTabBlank: browser.isTabBlank,
  navigate: browser.navigateTab,
});
const tabReloader = new TabReloader({
  // Skip tabs on sites that the extension cannot access, because a reload cannot give a plugin access.
  query: async () => (await browser.queryTabs()).filter((tab) => siteAccess.hasAccess(tab.url)),
  tabState: browser.readTabState,
  readPage: browser.readPage,
  reloadTab: browser.reloadTab,
  plugins: () => plugins.wantedPlugins,
  listFrames: browser.listFrames,
  readFrames: browser.readFrames,
  reloadFrame: browser.reloadFrame,
  isLive: (tabId, plugin, frame) => livePlugins.isSettled(tabId, plugin, frame),
  liveDocument: (tabId) => docs.findTopDoc(tabId)?.doc.documentId,
  answersPing: async (documentId) => {
    const doc = docs.get(documentId);
    return doc !== undefined && (await health.waitForAnswer(doc, OrphanPingTimeoutMs));
  },
  isConnected: (documentId) => docs.findReported(documentId) !== undefined,
  isRegistered: (plugin) =>
    !registrationTracker.isActive || (plugins.mode === 'userScripts' && plugins.canInjectAfterLoad(plugin)),
  // Fetch the code of missing plugins before a reload, so that the reloaded document can receive the code at once.
  beforeReload: (missingPlugins) => {
    if (plugins.mode !== 'userScripts') return;
    for (const plugin of missingPlugins) void fetchPluginCode(plugin).catch(() => undefined);
  },
  canRun: (plugin) => plugins.mode !== 'none' && plugins.canRun(plugin),
});
const reloadForUser = makeUserReload({ docs, health, unloadTab: browser.discardTab, reloadTab: browser.reloadTab });
const tabs = new Tabs({
  query: browser.queryTabs,
  focusedWindow: browser.readFocusedWindow,
  plugins: () => plugins.wantedPlugins,
  findLiveDoc: (tabId) => livePlugins.top(tabId),
  frames: (tabId) => livePlugins.frames(tabId),
  expects: (tabId, name) => hotReload.expects(tabId, name),
  isSilent: (documentId) => health.isSilent(documentId),
  isArriving: (tabId, plugin) =>
    livePlugins.isArriving(tabId, plugin) ||
    (plugins.mode !== 'none' && registrationTracker.isActive) ||
    tabReloader.expectsReload(tabId),
  loadError: (tabId) => tabLoadErrors.getError(tabId),
  hasAccess: (url) => siteAccess.hasAccess(url),
  startResponseTimer: (tabId) => tabLoadErrors.startResponseTimer(tabId),
  getInitialUrl: tabOpener.getInitialUrl,
  onUrlChanged: (tabId, url) => delivery.onUrlChanged(tabId, url),
  sendAll: (all) => link.notify('tab.sync', { tabs: all }),
  sendTabChange: (tabId, tab) => link.notify('tab.changed', tab ? { tabId, tab } : { tabId }),
});

// ---- calls ----

const outbox = new Outbox({ send: sendFrame, requestConfirmation: () => link.request('ping', {}) });
const calls = new Calls({
  health,
  outbox,
  docs,
  runningCalls,
  send: sendFrame,
  reportResumedCalls: (ids) => link.notify('call.resumed', { dispatchIds: ids }),
  readTabState: browser.readTabState,
  isTabLoading: browser.isTabLoading,
  // Assume that an active tab is not frozen unless Chrome has reported so, because Chrome freezes only background tabs.
  isTabFrozen: (tabId) =>
    tabs.sentTabs.some((tab) => tab.tabId === tabId && tab.active) && !frozenTabs.has(tabId)
      ? false
      : browser.isTabFrozen(tabId).catch(() => false), // the promise of isTabFrozen rejects if the tab is closed
  isDocumentGone: browser.isDocumentGone,
  findAccessProblem: (documentId) => siteAccess.findProblem(docs.get(documentId)?.url ?? ''),
  getPartDelayMs: () => link.getPartDelayMs(),
  onDocumentMissing: (tabId) => tabs.resendTab(tabId),
});
const userInput = new UserInput({
  watchInput: chromePages.watchInput,
  sendToDebugger: chromeDebugger.sendToDebugger,
  report: (tabId) => link.notify('tab.userInput', { tabId }),
});
const debuggers = new Debuggers({
  ...browser,
  ...chromePages,
  ...chromeTabs,
  ...chromeDebugger,
  sendToDebugger: userInput.sendToDebugger,
});
const browserTools = makeBrowserTools(
  {
    ...browser,
    ...scripts,
    ...chromePages,
    ...chromePermissions,
    ...chromeSiteData,
    ...chromeTabs,
    ...chromeUserData,
    ...chromeDownloads,
    ...chromeWindows,
    findAccessProblem: (url) => siteAccess.findProblem(url),
  },
  debuggers,
  userInput,
);
const browserCalls = new BrowserCalls({
  outbox,
  tools: browserTools.toolsByName,
  readTabState: browser.readTabState,
  readTopDocument: chromePages.readTopDocument,
  readPage: chromeTabs.describeTab,
  getPartDelayMs: () => link.getPartDelayMs(),
});
const wakeTimers = makeWakeTimers();
const pageServices = { calls, runningCalls, docs, health, logs, wakeTimers };
const connectBridgePort = makeBridgePorts({ ...pageServices, settingsSync, hotReload, delivery });

// ---- panels ----

/** checkScriptMode restarts the link if the user turned user scripts on or off, so that the server syncs plugins. */
async function checkScriptMode(): Promise<void> {
  if (link.state.kind === 'open' && (await plugins.hasInjectModeChanged())) link.restart();
}

// Restart the link, because the server receives the browser's capabilities only when a link opens.
browser.onCapabilitiesChange(() => {
  void siteAccess.refreshPatterns();
  if (link.state.kind === 'open') link.restart();
});

const stateWatch = new StateWatch((on) => link.notify('state.watch', { on }));
const panels = makePanels({
  state: () => ({
    link: link.state,
    ...(pairing.state ? { pairing: pairing.state } : {}),
    browserName: identity.name,
    extensionVersion: browser.readExtensionVersion(),
    injectMode: plugins.mode,
    debuggerState: debuggers.state,
    holds: userInput.tabHolds,
    neededHosts: siteAccess.neededHosts,
    tabs: makePanelTabs({ tabs: tabs.sentTabs, wantedPlugins: plugins.wantedPlugins, docs, livePlugins }),
  }),
  setStateWatching: (on) => {
    stateWatch.setConsumerActive('panels', on);
    if (on) void checkScriptMode();
  },
  runAction: makePanelActions({
    link,
    reloadTab: reloadForUser,
    activateTab: browser.activateTab,
    openDetails: () => browser.openTab(browser.makeDetailsPageUrl()),
    allowDebugger: () => debuggers.allowDebugger(),
    stopSuspendedTools: (tabId) => debuggers.dialogs.stopSuspendedTools(tabId),
    renameBrowser: (name) => identity.rename(name),
    pairAgain: () => pairing.restart(),
    setPort: (port) => pairing.setPort(port),
  }),
});
const notifications = new ApprovalNotifications({
  ...browser,
  ...chromeNotifications,
  isPanelOpen: () => panels.isPanelOpen,
  setStateWatching: (on) => stateWatch.setConsumerActive('notifications', on),
  decide: makeDecideWhenLinked(link),
});
const badge = new Badge({
  state: () => ({ isLinked: link.state.kind === 'open', runningCount: runningCalls.size + browserCalls.size }),
  holds: () => userInput.tabHolds,
  drawBadge: ({ text, color, title }) => void browser.setBadge(text, color, title),
  // Ignore errors, because Chrome rejects setting the badge of a closed tab.
  drawTabBadge: (tabId, text, title) => void browser.setTabBadge(tabId, text, title).catch(() => undefined),
});

// ---- requests ----

/** preregisterPlugins registers scripts that should start without delay, and deletes the code of removed plugins. */
async function preregisterPlugins(): Promise<void> {
  try {
    await plugins.registerEarlyScripts();
    await store.removeOtherScripts([{ name: '', script: plugins.hostHash }, ...plugins.wantedPlugins]);
  } catch (error) {
    console.warn(`opentabs: adapters can't be registered: ${String(error)}`);
  }
  registrationTracker.recordAllRegistered();
  delivery.onPluginsSynced();
  tabs.scheduleUpdate();
}

const requestHandlers: RequestHandlers = {
  ping: async () => ({}),
  'tool.dispatch': async (params) => {
    if (params.plugin === BrowserPlugin) browserCalls.dispatch(params);
    else calls.dispatch(params, link.lastReceivedAtMs);
    return undefined;
  },
  'tool.cancel': async (params) => ({
    outcome: await (browserCalls.has(params.dispatchId) ? browserCalls : calls).cancel(params),
  }),
  'tool.answer': async (params) => ({ taken: !browserCalls.has(params.dispatchId) && (await calls.answer(params)) }),
  'plugin.sync': async (params) => {
    const injectMode = await plugins.sync(params).finally(() => hotReload.onPluginsSynced());
    registrationTracker.recordBaseScriptsRegistered();
    delivery.onPluginsSynced();
    settingsSync.onPluginsSynced();
    tabs.sync();
    panels.scheduleUpdate();
    // Chrome runs one script operation after the other, and open documents need their new adapters first.
    void hotReload.waitForReplacements(MaxPreregistrationDelayMs).then(preregisterPlugins);
    return { mode: injectMode };
  },
  'plugin.settings': async ({ name, settings }) => {
    settingsSync.setSettings(name, settings);
    return {};
  },
  'tab.load': async ({ tabId, force: isForced }) => {
    const tab = (await browser.queryTabs()).find(({ id }) => id === tabId);
    if (tab && siteAccess.findProblem(tab.url) !== undefined) return { loading: false };
    if (!isForced) return { loading: (await tabOpener.reopen(tabId)) || (await tabReloader.load(tabId)) };
    await reloadForUser(tabId);
    return { loading: true };
  },
  'tab.open': async ({ url }) => ({ tabId: await tabOpener.open(url) }),
  'tab.describe': async ({ tabId, inspect: inspectsTab }) => {
    const tab = siteAccess.checkTab(await chromeTabs.describeTab(tabId));
    if (!tab) return {};
    const secrets = inspectsTab && (await browserTools.inspect(tab, inspectsTab));
    return { tab: secrets ? { ...tab, secrets } : tab };
  },
};

const notificationHandlers: NotificationHandlers = {
  'tool.resync': (params) => calls.resync(params),
  'state.sync': (params) => {
    panels.setCalls(params);
    notifications.setCalls(params.calls ?? []);
  },
  'state.plugins': (params) => panels.setPlugins(params),
  'state.browser': (params) => panels.setBrowserTools(params),
  'state.waiting': ({ count }) => {
    badge.setWaitingCount(count);
    notifications.setWaitingCount(count);
  },
  'tab.holds': ({ tabs: holds = [] }) => userInput.setTabHolds(holds),
  'session.ended': ({ sessions = [] }) => void browserTools.sessions.end(sessions),
};

// ---- signals ----

link.frameSignal.addListener((frame) => {
  if (frame.kind === 'request') void answerRequest(requestHandlers, frame, sendFrame);
  else handleNotification(notificationHandlers, frame);
});
link.opened.addListener(() => {
  link.notify('call.resumed', { dispatchIds: [...runningCalls.ids, ...browserCalls.ids] });
  const { sessionIds: sessions } = browserTools.sessions;
  if (sessions.length > 0) link.notify('session.used', { sessions });
  outbox.resume();
  calls.resume();
  tabs.sync();
  stateWatch.resend();
});
link.lostSignal.addListener(() => {
  badge.setWaitingCount(0);
  notifications.onLinkLost();
  panels.clearCalls();
  userInput.forgetTabHolds();
});
link.changed.addListener(() => {
  badge.scheduleRedraw();
  panels.scheduleUpdate();
});
panels.changed.addListener(() => notifications.scheduleUpdate());
usage.changed.addListener(() => void preregisterPlugins());
registrationTracker.registrationSignal.addListener((registrations) => tabReloader.recordRegistration(registrations));
for (const source of [hotReload, delivery, tabLoadErrors, tabReloader, siteAccess])
  source.changed.addListener(() => tabs.scheduleUpdate());
for (const source of [hotReload, siteAccess, pairing]) source.changed.addListener(() => panels.scheduleUpdate());
tabReloader.orphanSignal.addListener((documentId) => {
  calls.onDocumentOrphaned(documentId);
  health.onDocumentDisconnected(documentId);
});
tabReloader.crashSignal.addListener((tabId) => calls.onTabCrashed(tabId));
health.changed.addListener(async ({ documentId }) => {
  panels.scheduleUpdate();
  // Send the state of a tab before its calls fail, so that the server does not choose an unresponsive document again.
  await tabs.sendNow();
  if (health.isSilent(documentId)) calls.onDocumentSilent(documentId);
});
for (const signal of [tabs.reported, debuggers.changed, userInput.changed])
  signal.addListener(() => panels.scheduleUpdate());
outbox.deliverySignal.addListener((ids) => calls.confirmDelivery(ids));
for (const table of [runningCalls, browserCalls, userInput]) table.changed.addListener(() => badge.scheduleRedraw());
calls.docsChanged.addListener(() => {
  tabs.scheduleSend();
  panels.scheduleUpdate();
});

// ---- browser ----

browser.listenToPorts((port) => {
  if ((port.name === PANEL_PORT || port.name === POPUP_PORT) && port.isExtensionPage) {
    panels.addPanel(port);
    link.start();
  } else if (port.name === BRIDGE_PORT && port.sender) {
    connectBridgePort(port, port.sender);
    link.start();
  }
});
browser.onTabsChanged(
  () => tabs.scheduleUpdate(),
  (tabId) => {
    frozenTabs.delete(tabId);
    tabLoadErrors.recordPageShown(tabId);
    calls.onTabRemoved(tabId);
  },
  (tabId) => calls.onTabDiscarded(tabId),
  (tabId, on) => {
    if (on) frozenTabs.add(tabId);
    else frozenTabs.delete(tabId);
  },
);
chromePages.onInput((tabId, kind) => userInput.receive(tabId, kind));
chromePages.onCommitted((tabId, documentId) => {
  userInput.recordDocument(tabId, documentId);
  badge.forgetTab(tabId);
});
browser.listenToPageLoads({
  onLoadStarted: (tabId) => tabLoadErrors.recordRequest(tabId),
  onDocumentShown: (tabId, atMs) => {
    tabReloader.recordDocumentStart(tabId, atMs);
    tabLoadErrors.recordPageShown(tabId);
  },
  onLoadFailed: (tabId, error) => tabLoadErrors.recordFailure(tabId, error),
});
browser.onWorkerStart(() => {
  link.start();
  void checkScriptMode();
});
browser.onInstalled(async () => {
  registrationTracker.recordScriptsCleared();
  if (await plugins.clear()) link.restart();
});
/** Session storage survives a restart of the worker, but not of the browser or the extension. */
void browser.readSessionValue('began').then(async (sessionStartMark) => {
  if (sessionStartMark !== undefined) return;
  registrationTracker.recordBrowserStart();
  await browser.writeSessionValue('began', 'yes');
});
chromeNotifications.listenToNotifications(notifications.listeners);
void browser.openPopupOnClick();
void browser.createWakeAlarm();
void browser.queryTabs().then((all) => {
  for (const tab of all) if (tab.frozen) frozenTabs.add(tab.id);
});
void siteAccess.refreshPatterns();
badge.scheduleRedraw();
link.start();

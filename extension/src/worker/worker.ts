// The service worker. It owns the socket to the server and forwards calls to
// documents. Chrome may stop the worker at any time. A new worker restores its
// state from what documents and the server send.

import type { PluginInfo } from '../../../wire/wire.gen.ts';
import * as browser from '../chrome.ts';
import * as scripts from '../chrome-scripts.ts';
import type { PanelPlugin, PanelTab } from '../panel-message.ts';
import { BRIDGE_PORT, PANEL_PORT } from '../port-message.ts';
import { makeBadge } from './badge.ts';
import { makeBridgePorts } from './bridge-ports.ts';
import * as cache from './cache.ts';
import { Calls } from './calls.ts';
import { Delivery } from './delivery.ts';
import { type Doc, type LiveDoc, makeDocs } from './docs.ts';
import { makeEntryPoints } from './entry-points.ts';
import { type Handlers, serve } from './handlers.ts';
import { findListener, makeHandshake } from './handshake.ts';
import { makeHealth } from './health.ts';
import { HotReload } from './hot-reload.ts';
import { bootId, entryPointSecret, helloParams, readConnection, renameBrowser } from './identity.ts';
import { Link } from './link.ts';
import { makeLoadErrors } from './load-errors.ts';
import { makeLogs } from './logs.ts';
import { makeOpening } from './opening.ts';
import { Outbox } from './outbox.ts';
import { makePanelActions } from './panel-actions.ts';
import { makePanels } from './panels.ts';
import { isolatedWorld, Plugins } from './plugins.ts';
import { makeRegistering } from './registering.ts';
import { Reload } from './reload.ts';
import { makeSettingsSync } from './settings-sync.ts';
import { openSocket } from './socket.ts';
import { makeStore } from './store.ts';
import { makeSyntax, WORLD as SYNTAX_WORLD } from './syntax.ts';
import { makeTabs } from './tabs.ts';
import { makeUsage } from './usage.ts';
import { makeUserReload } from './user-reload.ts';
import { makeWakes } from './wakes.ts';

let browserName = '';
/** syncing is set when the first sync of plugins begins, synced when it has ended. */
let syncing = false;
let synced = false;
/** waiting is the number of calls waiting for approval. The server sends it after hello if it is not 0. */
let waiting = 0;
/** AnswerMs is how long a document that may be orphaned has to answer, in milliseconds. */
const AnswerMs = 1000;
/** frozenTabs are the tabs that Chrome has frozen since this worker started. */
const frozenTabs = new Set<number>();

const registering = makeRegistering((registrations) => reload.registered(registrations));
const entryPoints = makeEntryPoints(() => entryPointSecret(browser));
const store = makeStore({ ...cache, fetch: (params) => link.request('plugin.fetch', params) });
const usage = makeUsage({
  read: () => browser.readSetting('usedPlugins'),
  write: (text) => browser.writeSetting('usedPlugins', text),
  changed: () => prepare(),
});
const plugins = new Plugins(
  {
    ...scripts,
    registerUserScripts: registering.track(scripts.registerUserScripts),
    updateUserScript: registering.track(scripts.updateUserScript),
    registerFiles: registering.track(scripts.registerFiles),
    updateFile: registering.track(scripts.updateFile),
  },
  { entryPoints, code: store.get, used: usage.names, boot: () => bootId(browser) },
);

const handlers: Handlers = {
  ping: async () => ({}),
  'tool.dispatch': async (params) => {
    calls.dispatch(params);
    return undefined;
  },
  'tool.cancel': async (params) => ({ outcome: await calls.cancel(params) }),
  'tool.answer': async (params) => ({ taken: await calls.answer(params) }),
  'plugin.sync': async (params) => {
    syncing = true;
    const mode = await plugins.sync(params);
    synced = true;
    // Documents with an older adapter need the code at once.
    const missing = mode === 'userScripts' ? [...new Set(hotReload.outdated())] : [];
    hotReload.synced(missing);
    registering.basesRegistered();
    delivery.synced();
    settingsSync.synced();
    tabs.sync();
    panels.touch();
    prepare();
    return missing.length > 0 ? { mode, missing } : { mode };
  },
  'plugin.code': async (params) => {
    void hotReload.code(params);
    return {};
  },
  'plugin.settings': async ({ name, settings }) => {
    settingsSync.settings(name, settings);
    return {};
  },
  'tab.load': async ({ tabId, force }) => {
    if (!force) return { loading: (await opening.reopen(tabId)) || (await reload.load(tabId)) };
    await reloadForUser(tabId);
    return { loading: true };
  },
  'tab.open': async ({ url }) => ({ tabId: await opening.open(url) }),
};

const link = new Link({
  connection: () => readConnection(browser),
  hello: async () => {
    const hello = await helloParams(browser);
    browserName = hello.browserName;
    return hello;
  },
  open: openSocket,
  handshake: makeHandshake,
  listener: (connection) => findListener(connection, fetch),
  opened: () => {
    link.notify('call.resumed', { dispatchIds: calls.running() });
    outbox.resume();
    calls.resume();
    tabs.sync();
    if (panels.open > 0) link.notify('state.watch', { on: true });
  },
  lost: () => {
    waiting = 0;
    panels.lost();
  },
  request: (frame) => void serve(handlers, frame, (text) => link.send(text)),
  notification: (frame) => {
    if (frame.method === 'tool.resync') calls.resync(frame.params);
    if (frame.method === 'state.sync') panels.synced(frame.params);
    if (frame.method === 'state.plugins') panels.plugins(frame.params);
    if (frame.method === 'state.waiting') {
      waiting = frame.params.count;
      showBadge();
    }
  },
  changed: () => {
    showBadge();
    panels.touch();
  },
  random: Math.random,
});

const outbox = new Outbox({
  send: (text) => link.send(text),
  confirm: () => link.request('ping', {}),
  delivered: (ids) => calls.delivered(ids),
});

const docs = makeDocs();
const settingsSync = makeSettingsSync({ docs, wanted: () => (synced ? plugins.wanted : undefined) });
const logs = makeLogs({ runs: docs.runs, send: (params) => link.notify('plugin.log', params) });
const syntax = makeSyntax((doc, codes) => scripts.runInPage(doc, codes, SYNTAX_WORLD));
/** runPlugin runs code in the world of a plugin in a document and returns its value. */
const runPlugin = (doc: Doc, plugin: PluginInfo, code: string): Promise<unknown> =>
  scripts.runInPage(doc, [code], plugin.world === 'isolated' ? isolatedWorld(plugin) : undefined);
/** deliverable returns the plugins that can be injected into documents now. */
const deliverable = () => (synced && plugins.mode === 'userScripts' ? plugins.wanted : []);
const pluginCode = ({ name, script }: PluginInfo) => store.get(name, script);
const hotReload = new HotReload({
  docs,
  entryPoints,
  plugins: deliverable,
  code: pluginCode,
  syntax,
  run: runPlugin,
  nonce: () => crypto.randomUUID(),
  changed: () => {
    tabs.touch();
    panels.touch();
  },
});
const delivery = new Delivery({
  docs,
  entryPoints,
  plugins: deliverable,
  canStartLate: (plugin) => plugins.canStartLate(plugin),
  code: pluginCode,
  syntax,
  host: async () => (await store.get('', plugins.host)).code,
  run: runPlugin,
  nonce: () => crypto.randomUUID(),
  changed: () => tabs.touch(),
  used: usage.used,
});

/** prepare preregisters scripts, and drops the code of plugins that are gone. */
function prepare(): void {
  void plugins
    .prepare()
    .then(() => store.keep([{ name: '', script: plugins.host }, ...plugins.wanted]))
    .catch((error: unknown) => console.warn(`opentabs: adapters can't be registered: ${String(error)}`))
    .finally(() => {
      registering.settled();
      delivery.synced();
      tabs.touch();
    });
}

const opening = makeOpening({
  plugins: () => plugins.wanted,
  open: browser.openInBackground,
  exists: async (tabId) => (await browser.tabState(tabId)) !== 'closed',
  urlOf: async (tabId) => (await browser.queryTabs()).find((tab) => tab.id === tabId)?.url,
  loadError: (tabId) => loadErrors.of(tabId),
  isBlank: browser.isBlank,
  navigate: browser.navigateTab,
});

const wakes = makeWakes();
const health = makeHealth({
  isBusy: (documentId) => calls.isBusy(documentId),
  isFrozen: browser.tabFrozen,
  changed: (doc) => {
    // The server receives the tab's state before the ends of its calls.
    void tabs.sendNow().then(() => {
      if (health.isSilent(doc.documentId)) calls.silent(doc.documentId);
    });
    panels.touch();
  },
});

const reloadForUser = makeUserReload({
  docs,
  health,
  unloadTab: browser.unloadTab,
  reloadTab: browser.reloadTab,
});

const calls = new Calls({
  health,
  outbox,
  docs,
  send: (text) => link.send(text),
  resumed: (ids) => link.notify('call.resumed', { dispatchIds: ids }),
  tabState: browser.tabState,
  tabLoading: browser.tabLoading,
  // Chrome freezes only background tabs, and reports when it does.
  tabFrozen: (tabId) =>
    tabs.known.some((tab) => tab.tabId === tabId && tab.active) && !frozenTabs.has(tabId)
      ? false
      : browser.tabFrozen(tabId).catch(() => false), // closed
  documentGone: browser.documentGone,
  roomIn: () => link.roomIn(),
  countChanged: () => showBadge(),
  docMissing: (tabId) => tabs.forget(tabId),
  docsChanged: () => {
    tabs.hurry();
    panels.touch();
  },
});

const tabs = makeTabs({
  query: browser.queryTabs,
  focusedWindow: browser.focusedWindow,
  plugins: () => plugins.wanted,
  live: (tabId) => {
    const live = docs.live(tabId);
    return live && withPossible(live);
  },
  frames: (tabId) => docs.frames(tabId).map(withPossible),
  expects: (tabId, name) => hotReload.expects(tabId, name),
  isSilent: (documentId) => health.isSilent(documentId),
  arrives: (tabId, plugin) => {
    const live = docs.live(tabId);
    const isRegistering = plugins.mode !== 'none' && registering.pending;
    return (live && delivery.expects(live.doc.documentId, plugin)) === true || isRegistering || reload.expects(tabId);
  },
  loadError: (tabId) => loadErrors.of(tabId),
  waits: (tabId) => loadErrors.waits(tabId),
  openedWith: opening.openedWith,
  urlChanged: delivery.urlChanged.bind(delivery),
  synced: (all) => {
    link.notify('tab.sync', { tabs: all });
    panels.touch();
  },
  changed: (tabId, tab) => {
    link.notify('tab.changed', tab ? { tabId, tab } : { tabId });
    panels.touch();
  },
});

/** loadErrors are the load errors of tabs. */
const loadErrors = makeLoadErrors(tabs.touch);

const reload = new Reload({
  query: browser.queryTabs,
  tabState: browser.tabState,
  readPage: browser.readPage,
  reloadTab: browser.reloadTab,
  plugins: () => plugins.wanted,
  listFrames: browser.listFrames,
  readFrames: browser.readFrames,
  reloadFrame: browser.reloadFrame,
  isLive: (tabId, plugin, frame) => {
    const { name, hash } = plugin;
    const live = frame === undefined ? docs.live(tabId) : docs.reported(frame);
    if (live?.plugins.some((p) => p.name === name && p.hash === hash)) return true;
    if (live && (delivery.isBroken(live.doc.documentId, name) || hotReload.canReplace(live.doc, plugin))) return true;
    return (live && delivery.expects(live.doc.documentId, name)) === true || hotReload.expects(tabId, name);
  },
  changed: () => tabs.touch(),
  liveDocument: (tabId) => docs.live(tabId)?.doc.documentId,
  answers: async (documentId) => {
    const doc = docs.get(documentId);
    return doc !== undefined && (await health.answers(doc, AnswerMs));
  },
  isConnected: (documentId) => docs.reported(documentId) !== undefined,
  isRegistered: (plugin) => !registering.pending || (plugins.mode === 'userScripts' && plugins.canStartLate(plugin)),
  // Fetch the code before the next document needs it.
  reloading: (missing) => {
    if (plugins.mode !== 'userScripts') return;
    for (const { name, script } of missing) void store.get(name, script).catch(() => undefined);
  },
  canRun: (plugin) => plugins.mode !== 'none' && plugins.canRun(plugin),
  orphaned: (documentId) => {
    calls.orphaned(documentId);
    health.left(documentId);
  },
});

const panels = makePanels({
  state: () => ({
    link: link.state,
    browserName,
    extensionVersion: browser.version(),
    mode: plugins.mode,
    tabs: panelTabs(),
  }),
  watch: (on) => {
    link.notify('state.watch', { on });
    if (on) void checkMode();
  },
  runAction: makePanelActions({
    link,
    reloadTab: reloadForUser,
    showTab: browser.showTab,
    openDetails: () => browser.openTab(browser.detailsPage()),
    rename: (name) => renameBrowser(browser, name),
  }),
});

/**
 * withPossible removes plugins from a document's report that cannot run there, have another pre-script or world than
 * wanted, or are being replaced. It adds the problems of wanted adapters that are not live.
 */
function withPossible({ doc, plugins: live }: LiveDoc): LiveDoc {
  const possible = plugins.wanted.filter((plugin) => plugins.canRun(plugin));
  const usable = live.filter(
    ({ name, base }) =>
      possible.some((plugin) => plugin.name === name && plugin.base === base) && !hotReload.expects(doc.tabId, name),
  );
  const failed = plugins.wanted.flatMap((plugin) => {
    const { name, hash } = plugin;
    const problem = problemIn(doc, plugin);
    if (problem === undefined || usable.some((p) => p.name === name && p.hash === hash)) return [];
    return [{ name, hash, problem }];
  });
  return { doc, plugins: [...usable, ...failed] };
}

/** problemIn returns why the wanted adapter is not live in a document. */
function problemIn({ documentId }: Doc, plugin: PluginInfo): string | undefined {
  return delivery.problem(documentId, plugin.name) ?? hotReload.problem(documentId, plugin);
}

/** panelTabs returns the state of the plugins in each tab and its frames. */
function panelTabs(): PanelTab[] {
  return tabs.known.map((tab) => {
    const doc = docs.live(tab.tabId)?.doc;
    const top = docs.live(tab.tabId)?.plugins ?? [];
    const framed = (tab.frames ?? []).flatMap((frame) => frame.plugins ?? []);
    const matching = plugins.wanted.flatMap((plugin): PanelPlugin[] => {
      const { name, displayName, hash } = plugin;
      const live = top.find((p) => p.name === name);
      const here = [...top, ...framed].filter((p) => p.name === name && p.hash === hash);
      if (tab.unresponsive) return [{ name, displayName, status: 'silent' }];
      const problem = live?.problem ?? (doc && problemIn(doc, plugin));
      if (problem !== undefined) return [{ name, displayName, status: 'broken', problem }];
      if (here.length > 0) return [{ name, displayName, status: 'live', ready: here.some((p) => p.ready === true) }];
      if (live || tab.needsReload?.includes(name)) return [{ name, displayName, status: 'reload' }];
      return [];
    });
    return { tabId: tab.tabId, title: tab.title, url: tab.url, plugins: matching };
  });
}

/** checkMode restarts the link if the user has allowed or revoked user scripts, so that the server syncs again. */
async function checkMode(): Promise<void> {
  const before = plugins.mode;
  if (link.state.kind === 'open' && (await plugins.detect()) !== before) link.restart();
}

const joinBridge = makeBridgePorts({ calls, docs, health, logs, wakes, settingsSync, hotReload, delivery });

const showBadge = makeBadge({
  state: () => ({ linked: link.state.kind === 'open', waiting, running: calls.running().length }),
  draw: (text, color, title) => void browser.setBadge(text, color, title),
});

browser.onPort((port) => {
  if (port.name === PANEL_PORT && port.ownPage) {
    panels.joined(port);
    link.start();
  } else if (port.name === BRIDGE_PORT && port.sender) {
    joinBridge(port, port.sender);
    link.start();
  }
});
browser.onTabsChanged(
  tabs.touch,
  (tabId) => {
    frozenTabs.delete(tabId);
    loadErrors.shown(tabId);
    calls.tabRemoved(tabId);
  },
  (tabId) => calls.tabDiscarded(tabId),
  (tabId, on) => {
    if (on) frozenTabs.add(tabId);
    else frozenTabs.delete(tabId);
  },
);
browser.onLoads({
  begun: loadErrors.begun,
  shown: (tabId, atMs) => {
    reload.began(tabId, atMs);
    loadErrors.shown(tabId);
  },
  failed: loadErrors.failed,
});
browser.onWake(() => {
  link.start();
  void checkMode();
});
browser.onInstalled(() => {
  // Registrations of an older version may use another protocol.
  registering.cleared();
  const cleared = plugins.clear();
  // A running sync may have registered scripts that are then cleared.
  if (syncing) void cleared.then(() => link.restart());
});
/** The session storage is empty after a start of the browser or the extension. */
void browser.readUntilRestart('began').then(async (began) => {
  if (began !== undefined) return;
  registering.browserStarted();
  await browser.writeUntilRestart('began', 'yes');
});
void browser.openPanelOnClick();
void browser.setAlarm();
void browser.queryTabs().then((all) => {
  for (const tab of all) if (tab.frozen) frozenTabs.add(tab.id);
});
showBadge();
link.start();

// Only chrome.ts and the files chrome-*.ts use the API chrome.*, so that tests can replace Chrome with a fake browser.

import type { Port as BridgeSidePort } from './bridge/link.ts';
import { optionalPermissionNames } from './chrome-permissions.ts';
import { BRIDGE_MARK_KEY, BRIDGE_PORT, PANEL_PORT, POPUP_PORT } from './port-message.ts';

/** ChromeTab contains the fields of a chrome.tabs.Tab that the worker reads. */
export interface ChromeTab {
  readonly id: number;
  readonly windowId: number;
  readonly url: string;
  readonly title: string;
  readonly active: boolean;
  readonly loading: boolean;
  /**
   * pending is true while a tab that loads a page has received no response from the site. Chrome does not set `pending`
   * for every tab that waits for a site.
   */
  readonly pending?: boolean;
  /**
   * discarded is true for a tab that Chrome unloaded to save memory. `frozen` is true for a tab that is in memory, but
   * in which Chrome runs no code.
   */
  readonly discarded: boolean;
  readonly frozen: boolean;
  readonly lastAccessed: number;
}

/** Sender is the document at the other end of a port. */
export interface Sender {
  readonly tabId: number;
  /** frameId is 0 for the top document of a tab. */
  readonly frameId: number;
  readonly documentId: string;
  readonly url: string;
}

/** Port is a connection between the worker and a document, a side panel or a popup. */
export interface Port {
  readonly name: string;
  /** sender is set for the top document of a tab and for its same-origin frames. */
  readonly sender: Sender | undefined;
  /** isOwnPage is true if the other end of the port is a page of the extension itself. */
  readonly isOwnPage: boolean;
  postMessage(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  onDisconnect(listener: () => void): void;
  disconnect(): void;
}

// ---- ports ----

/** connectBridge connects a document's bridge to the worker, and throws if the extension was removed or reloaded. */
export function connectBridge(): BridgeSidePort {
  return wrapPort(chrome.runtime.connect({ name: BRIDGE_PORT }));
}

/** connectPanel connects the side panel to the worker. */
export function connectPanel(): Port {
  return wrapPort(chrome.runtime.connect({ name: PANEL_PORT }));
}

/** connectPopup connects the popup to the worker. */
export function connectPopup(): Port {
  return wrapPort(chrome.runtime.connect({ name: POPUP_PORT }));
}

/**
 * isExtensionAlive reports whether the extension that injected the running script is still loaded. After an extension
 * was reloaded or removed, the content scripts that it had injected continue to run.
 */
export function isExtensionAlive(): boolean {
  return typeof chrome === 'object' && chrome.runtime?.id !== undefined;
}

function wrapPort(port: chrome.runtime.Port): Port {
  return {
    name: port.name,
    sender: toSender(port.sender ?? {}),
    isOwnPage: port.sender?.url?.startsWith(chrome.runtime.getURL('')) === true,
    postMessage: (message) => port.postMessage(message),
    onMessage: (listener) => port.onMessage.addListener((message: unknown) => listener(message)),
    onDisconnect: (listener) =>
      port.onDisconnect.addListener(() => {
        // Reading lastError prevents Chrome from logging the error as unchecked.
        void chrome.runtime.lastError;
        listener();
      }),
    disconnect: () => port.disconnect(),
  };
}

/**
 * toSender returns the document at the other end of a port. For a cross-origin frame, toSender returns undefined, so
 * that no plugin runs in the frame.
 */
function toSender({ tab, frameId, documentId, url, origin }: chrome.runtime.MessageSender): Sender | undefined {
  if (tab?.id === undefined || frameId === undefined || !documentId) return undefined;
  if (frameId !== 0 && (origin === undefined || !tab.url || new URL(tab.url).origin !== origin)) return undefined;
  return { tabId: tab.id, frameId, documentId, url: url ?? '' };
}

// ---- events ----

/** onPort calls the listener for each port that a document, a side panel or a popup opens. */
export function onPort(listener: (port: Port) => void): void {
  chrome.runtime.onConnect.addListener((port) => listener(wrapPort(port)));
}

/** onWorkerStart listens for the events that start the worker: browser start, and the alarm of createWakeAlarm. */
export function onWorkerStart(listener: () => void): void {
  chrome.runtime.onStartup.addListener(listener);
  chrome.alarms.onAlarm.addListener(listener);
}

/** onInstalled listens for the extension's installation, update and reload. */
export function onInstalled(listener: () => void): void {
  chrome.runtime.onInstalled.addListener(listener);
}

/**
 * createWakeAlarm creates an alarm that triggers onWorkerStart every 30 s, the shortest period that Chrome allows. The
 * alarm restarts the service worker if Chrome has stopped it.
 */
export async function createWakeAlarm(): Promise<void> {
  await chrome.alarms.create('wake', { periodInMinutes: 0.5 });
}

/**
 * onTabsChanged listens for all events that change the list of tabs. `onRemove` is called for a closed tab, before
 * `onChange`. `onDiscard` is called with the old ID of a tab that Chrome unloaded, because unloading a tab changes its
 * ID. `onFreeze` is called when Chrome freezes or thaws a tab.
 */
export function onTabsChanged(
  onChange: () => void,
  onRemove: (tabId: number) => void,
  onDiscard: (tabId: number) => void,
  onFreeze: (tabId: number, isFrozen: boolean) => void,
): void {
  chrome.tabs.onUpdated.addListener((id, changes) => {
    if (changes.frozen !== undefined) onFreeze(id, changes.frozen);
    const relevantChanges = [changes.url, changes.title, changes.status, changes.discarded, changes.frozen];
    if (relevantChanges.some((value) => value !== undefined)) onChange();
  });
  chrome.tabs.onCreated.addListener(onChange);
  chrome.tabs.onActivated.addListener(onChange);
  chrome.tabs.onAttached.addListener(onChange);
  chrome.tabs.onRemoved.addListener((tabId) => {
    onRemove(tabId);
    onChange();
  });
  chrome.tabs.onReplaced.addListener((_added, oldTabId) => {
    onDiscard(oldTabId);
    onChange();
  });
  chrome.windows.onFocusChanged.addListener(onChange);
}

/** LoadListeners are listeners for page loads of top documents. */
export interface LoadListeners {
  /** onLoadStarted is called when a tab sends the request for a new document. */
  onLoadStarted(tabId: number): void;
  /**
   * onDocumentShown is called when a tab shows a new document. `atMs` is when Chrome committed the navigation, in
   * milliseconds since 1970.
   */
  onDocumentShown(tabId: number, atMs: number): void;
  /**
   * onLoadFailed is called when a document fails to load. `error` is Chrome's name for the error, such as
   * net::ERR_ABORTED.
   */
  onLoadFailed(tabId: number, error: string): void;
}

/** onPageLoads listens for page loads of top documents. */
export function onPageLoads({ onLoadStarted, onDocumentShown, onLoadFailed }: LoadListeners): void {
  // Ignore prerendered pages, because no tab shows a prerendered page.
  chrome.webNavigation.onBeforeNavigate.addListener(
    (e) => e.frameId === 0 && e.documentLifecycle !== 'prerender' && onLoadStarted(e.tabId),
  );
  chrome.webNavigation.onCommitted.addListener((e) => e.frameId === 0 && onDocumentShown(e.tabId, e.timeStamp));
  chrome.webNavigation.onErrorOccurred.addListener((e) => e.frameId === 0 && onLoadFailed(e.tabId, e.error));
}

// ---- tabs ----

/** queryTabs returns all tabs whose URL Chrome reports. */
export async function queryTabs(): Promise<ChromeTab[]> {
  const tabs: ChromeTab[] = [];
  for (const tab of await chrome.tabs.query({})) {
    if (tab.id === undefined || tab.id < 0 || tab.url === undefined) continue;
    tabs.push({
      id: tab.id,
      windowId: tab.windowId,
      // Before the site responds, a new tab has only a pending URL.
      url: tab.url || (tab.pendingUrl ?? ''),
      title: tab.title ?? '',
      active: tab.active,
      loading: tab.status === 'loading',
      pending: tab.status === 'loading' && tab.pendingUrl !== undefined,
      discarded: tab.discarded,
      frozen: tab.frozen,
      lastAccessed: tab.lastAccessed ?? 0,
    });
  }
  return tabs;
}

/** TabState describes whether a tab exists and whether the tab has a page. */
export type TabState = 'open' | 'closed' | 'crashed' | 'discarded';

/** readTabState reports whether a tab is open, closed, discarded or crashed. */
export async function readTabState(tabId: number): Promise<TabState> {
  try {
    const tab = await chrome.tabs.get(tabId);
    if (tab.discarded) return 'discarded';
    return tab.status === 'unloaded' ? 'crashed' : 'open';
  } catch {
    return 'closed';
  }
}

/** isTabLoading reports whether a tab is loading a document, even if the tab still shows the old document. */
export async function isTabLoading(tabId: number): Promise<boolean> {
  try {
    return (await chrome.tabs.get(tabId)).status === 'loading';
  } catch {
    return false; // chrome.tabs.get rejects for a closed tab
  }
}

/**
 * isDocumentGone reports whether a document no longer exists. The result of isDocumentGone is delayed while a script
 * blocks the page.
 */
export async function isDocumentGone(tabId: number, documentId: string): Promise<boolean> {
  try {
    const target = { tabId, documentIds: [documentId] };
    await chrome.scripting.executeScript({ target, func: () => undefined, injectImmediately: true });
    return false;
  } catch {
    return true;
  }
}

/** PageState is the state of a tab's top document. */
export interface PageState {
  /** hasUserInteracted is true if the user has clicked or typed in the document. */
  readonly hasUserInteracted: boolean;
  /** startedAtMs is when the document started to load, in milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly audible: boolean;
  readonly documentId: string;
  /**
   * hasBridge is true if the document runs a bridge of the current instance of the extension. hasBridge is false if the
   * only bridge in the document is from before the last reload of the extension.
   */
  readonly hasBridge: boolean;
}

/**
 * readPage returns the state of a tab's document, 'error' for Chrome's error page, or undefined if the document cannot
 * be read.
 */
export async function readPage(tabId: number): Promise<PageState | 'error' | undefined> {
  try {
    const { audible = false } = await chrome.tabs.get(tabId);
    const [frame] = await chrome.scripting.executeScript({
      target: { tabId },
      injectImmediately: true,
      func: (mark: string) =>
        [navigator.userActivation.hasBeenActive, performance.timing.domLoading, Reflect.has(globalThis, mark)] as const,
      args: [BRIDGE_MARK_KEY],
    });
    if (!frame?.result) return undefined;
    const [touched, startedMs, bridged] = frame.result;
    return {
      hasUserInteracted: touched,
      startedAtMs: startedMs,
      audible,
      hasBridge: bridged,
      documentId: frame.documentId,
    };
  } catch (error) {
    return String(error).includes('showing error page') ? 'error' : undefined;
  }
}

/** isTabBlank reports whether a tab has no page to lose, because the tab is empty or shows an error page. */
export async function isTabBlank(tabId: number): Promise<boolean> {
  const tab = await chrome.tabs.get(tabId).catch(() => undefined); // chrome.tabs.get rejects for a closed tab
  return tab !== undefined && (tab.url === '' || (await readPage(tabId)) === 'error');
}

/** isTabFrozen reports whether Chrome has frozen a tab. */
export async function isTabFrozen(tabId: number): Promise<boolean> {
  return (await chrome.tabs.get(tabId)).frozen;
}

/** discardTab unloads the page of a tab, even if the page does not respond, and returns the tab's new ID. */
export async function discardTab(tabId: number): Promise<number> {
  return (await chrome.tabs.discard(tabId))?.id ?? tabId;
}

/** Frame is a frame of a tab's page. */
export interface Frame {
  readonly documentId: string;
  readonly url: string;
}

/** FrameState is the state of a frame's document. */
export interface FrameState extends Frame {
  readonly startedAtMs: number;
  readonly hasUserInteracted: boolean;
}

/** listFrames returns the frames of a tab except the top frame, without running a script in the page. */
export async function listFrames(tabId: number): Promise<Frame[]> {
  const frames = (await chrome.webNavigation.getAllFrames({ tabId })) ?? [];
  return frames.filter((frame) => frame.frameId !== 0).map(({ documentId, url }) => ({ documentId, url }));
}

/** readFrames runs a script to read the state of each loaded frame with the same origin as the tab's page. */
export async function readFrames(tabId: number): Promise<FrameState[]> {
  const results = await chrome.scripting.executeScript({
    target: { tabId, allFrames: true },
    injectImmediately: true,
    func: () => [location.href, origin, performance.timing.domLoading, navigator.userActivation.hasBeenActive] as const,
  });
  const topOrigin = results.find((frame) => frame.frameId === 0)?.result?.[1];
  return results.flatMap(({ frameId, documentId, result }) => {
    if (frameId === 0 || !result || result[1] !== topOrigin) return [];
    return [{ documentId, url: result[0], startedAtMs: result[2], hasUserInteracted: result[3] }];
  });
}

/** reloadFrame reloads one frame of a tab. */
export async function reloadFrame(tabId: number, documentId: string): Promise<void> {
  const target = { tabId, documentIds: [documentId] };
  await chrome.scripting.executeScript({ target, injectImmediately: true, func: () => location.reload() });
}

/** reloadTab reloads a tab. */
export async function reloadTab(tabId: number): Promise<void> {
  await chrome.tabs.reload(tabId);
}

/** navigateTab navigates a tab to a URL. */
export async function navigateTab(tabId: number, url: string): Promise<void> {
  await chrome.tabs.update(tabId, { url });
}

/** activateTab brings a tab and its window to the front. */
export async function activateTab(tabId: number): Promise<void> {
  const tab = await chrome.tabs.update(tabId, { active: true });
  if (tab) await chrome.windows.update(tab.windowId, { focused: true });
}

/**
 * openBackgroundTab opens an inactive tab in the last focused window, and returns the ID of the tab. openBackgroundTab
 * throws if no normal window is open.
 */
export async function openBackgroundTab(url: string): Promise<number> {
  const windows = (await chrome.windows.getAll({ windowTypes: ['normal'] })).filter((window) => !window.incognito);
  const lastFocused = await chrome.windows.getLastFocused({ windowTypes: ['normal'] }).catch(() => undefined);
  const window = windows.find((w) => w.id === lastFocused?.id) ?? windows[0];
  if (window?.id === undefined) throw new Error('no window is open in this browser; the user has to open one');
  const tab = await chrome.tabs.create({ url, active: false, windowId: window.id });
  if (tab.id === undefined) throw new Error('the browser opened no tab');
  return tab.id;
}

/** readFocusedWindow returns the ID of the focused window, or -1 if no window has the focus. */
export async function readFocusedWindow(): Promise<number> {
  const windows = await chrome.windows.getAll();
  return windows.find((w) => w.focused)?.id ?? -1;
}

// ---- extension ----

/** readExtensionVersion returns the version in the extension's manifest. */
export function readExtensionVersion(): string {
  return chrome.runtime.getManifest().version;
}

/**
 * listCapabilities returns the Chrome permissions of the extension that browser tools use. The permission `debugger` is
 * in the manifest only if the user chose the debugger during the installation.
 */
export async function listCapabilities(): Promise<string[]> {
  const { permissions = [] } = await chrome.permissions.getAll();
  return ['debugger', ...optionalPermissionNames].filter((name) =>
    permissions.some((permission) => permission === name),
  );
}

/** onCapabilitiesChange calls listener after the user has granted or revoked an optional permission. */
export function onCapabilitiesChange(listener: () => void): void {
  chrome.permissions.onAdded.addListener(listener);
  chrome.permissions.onRemoved.addListener(listener);
}

/** readOwnFile returns the text of a file in the extension's folder, or undefined if the file does not exist. */
export async function readOwnFile(name: string): Promise<string | undefined> {
  try {
    const response = await fetch(chrome.runtime.getURL(name), { cache: 'no-store' });
    return response.ok ? await response.text() : undefined;
  } catch {
    return undefined;
  }
}

/** readPlatformName returns the display name of the operating system. */
export async function readPlatformName(): Promise<string> {
  const { os } = await chrome.runtime.getPlatformInfo();
  const names: Readonly<Record<string, string>> = { mac: 'macOS', win: 'Windows', linux: 'Linux', cros: 'ChromeOS' };
  return names[os] ?? os;
}

/** readProductName returns the display name of the browser. */
export function readProductName(): string {
  if (navigator.userAgent.includes(' Edg/')) return 'Edge';
  return navigator.userAgent.includes(' OPR/') ? 'Opera' : 'Chrome';
}

/** readSetting returns a string that was stored for this browser profile, or undefined. */
export async function readSetting(key: string): Promise<string | undefined> {
  return toTextOrUndefined((await chrome.storage.local.get(key))[key]);
}

/** writeSetting stores a string for this browser profile. */
export async function writeSetting(key: string, value: string): Promise<void> {
  await chrome.storage.local.set({ [key]: value });
}

/** readSessionValue returns a string that Chrome stores until the browser or the extension restarts, or undefined. */
export async function readSessionValue(key: string): Promise<string | undefined> {
  return toTextOrUndefined((await chrome.storage.session.get(key))[key]);
}

/** writeSessionValue stores a string until the browser or the extension restarts. */
export async function writeSessionValue(key: string, value: string): Promise<void> {
  await chrome.storage.session.set({ [key]: value });
}

function toTextOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/**
 * setBadge shows a short text on the toolbar icon. `title` is the tooltip of the icon, and its text for screen readers.
 */
export async function setBadge(text: string, color: string, title: string): Promise<void> {
  await chrome.action.setBadgeBackgroundColor({ color });
  await chrome.action.setBadgeText({ text });
  await chrome.action.setTitle({ title });
}

/**
 * setTabBadge sets the toolbar badge that Chrome shows while a tab is active. Without a text, the tab shows the badge
 * text that setBadge set.
 */
export async function setTabBadge(tabId: number, text: string | undefined, title: string): Promise<void> {
  await chrome.action.setBadgeText(text === undefined ? { tabId } : { tabId, text });
  await chrome.action.setTitle({ tabId, title });
}

/**
 * openPopupOnClick makes a click on the toolbar icon open the popup. In earlier versions of the extension, a click on
 * the toolbar icon opened the side panel.
 */
export async function openPopupOnClick(): Promise<void> {
  await chrome.sidePanel.setPanelBehavior({ openPanelOnActionClick: false });
}

/**
 * openPanel opens the side panel of a window. Chrome allows openPanel only while the extension handles a click or a key
 * press of the user.
 */
export async function openPanel(windowId: number): Promise<void> {
  await chrome.sidePanel.open({ windowId });
}

/** readCurrentWindow returns the ID of the window that contains this extension page. */
export async function readCurrentWindow(): Promise<number | undefined> {
  return (await chrome.windows.getCurrent()).id;
}

/** makeDetailsPageUrl returns the URL of the Chrome page where the user allows user scripts. */
export function makeDetailsPageUrl(): string {
  return `chrome://extensions/?id=${chrome.runtime.id}`;
}

/** openTab opens a URL in a new active tab. */
export async function openTab(url: string): Promise<void> {
  await chrome.tabs.create({ url });
}

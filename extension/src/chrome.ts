// Only chrome.ts and the files chrome-*.ts use the API chrome.*, so that tests can replace Chrome with a fake browser.

import type { WorkerPort as BridgeSidePort } from './bridge/link.ts';
import { optionalPermissionNames } from './chrome-permissions.ts';
import { BRIDGE_MARK_KEY, BRIDGE_PORT, PANEL_PORT, POPUP_PORT } from './port-message.ts';

export interface ChromeTab {
  readonly id: number;
  readonly windowId: number;
  readonly url: string;
  readonly title: string;
  readonly active: boolean;
  readonly loading: boolean;
  /** The field `pending` is true while a tab that loads a page has received no response from the site. */
  readonly pending?: boolean;
  /**
   * The field `discarded` is true for a tab that Chrome unloaded; `frozen` is true for a tab in which Chrome runs no
   * code.
   */
  readonly discarded: boolean;
  readonly frozen: boolean;
  readonly lastAccessed: number;
}

export interface MessageSender {
  readonly tabId: number;
  /** frameId is 0 for the top document of a tab. */
  readonly frameId: number;
  readonly documentId: string;
  readonly url: string;
}

export interface Port {
  readonly name: string;
  /** sender is set for the top document of a tab and for its same-origin frames. */
  readonly sender: MessageSender | undefined;
  /** isExtensionPage is true if the other end of the port is a page of the extension itself. */
  readonly isExtensionPage: boolean;
  postMessage(portMessage: unknown): void;
  onMessage(listener: (portMessage: unknown) => void): void;
  onDisconnect(listener: () => void): void;
  disconnect(): void;
}

// ---- ports ----

export function connectBridge(): BridgeSidePort {
  return wrapPort(chrome.runtime.connect({ name: BRIDGE_PORT }));
}

export function connectPanel(): Port {
  return wrapPort(chrome.runtime.connect({ name: PANEL_PORT }));
}

export function connectPopup(): Port {
  return wrapPort(chrome.runtime.connect({ name: POPUP_PORT }));
}

/** After an extension was reloaded or removed, the content scripts that it had injected continue to run. */
export function isExtensionAlive(): boolean {
  return typeof chrome === 'object' && chrome.runtime?.id !== undefined;
}

function wrapPort(port: chrome.runtime.Port): Port {
  return {
    name: port.name,
    sender: toMessageSender(port.sender ?? {}),
    isExtensionPage: port.sender?.url?.startsWith(chrome.runtime.getURL('')) === true,
    postMessage: (portMessage) => port.postMessage(portMessage),
    onMessage: (listener) => port.onMessage.addListener((portMessage: unknown) => listener(portMessage)),
    onDisconnect: (listener) =>
      port.onDisconnect.addListener(() => {
        // Reading lastError prevents Chrome from logging the error as unchecked.
        void chrome.runtime.lastError;
        listener();
      }),
    disconnect: () => port.disconnect(),
  };
}

/** For a cross-origin frame, toMessageSender returns undefined, so that no plugin runs in the frame. */
function toMessageSender({
  tab,
  frameId,
  documentId,
  url,
  origin,
}: chrome.runtime.MessageSender): MessageSender | undefined {
  if (tab?.id === undefined || frameId === undefined || !documentId) return undefined;
  if (frameId !== 0 && (origin === undefined || !tab.url || new URL(tab.url).origin !== origin)) return undefined;
  return { tabId: tab.id, frameId, documentId, url: url ?? '' };
}

// ---- events ----

export function listenToPorts(listener: (port: Port) => void): void {
  chrome.runtime.onConnect.addListener((port) => listener(wrapPort(port)));
}

export function onWorkerStart(listener: () => void): void {
  chrome.runtime.onStartup.addListener(listener);
  chrome.alarms.onAlarm.addListener(listener);
}

export function onInstalled(listener: () => void): void {
  chrome.runtime.onInstalled.addListener(listener);
}

/** The alarm of createWakeAlarm restarts a stopped worker every 30 s, the shortest period that Chrome allows. */
export async function createWakeAlarm(): Promise<void> {
  await chrome.alarms.create('wake', { periodInMinutes: 0.5 });
}

/** `onDiscard` receives the old ID of a tab that Chrome unloaded, because unloading a tab changes the tab's ID. */
export function onTabsChanged(
  onChange: () => void,
  onRemove: (tabId: number) => void,
  onDiscard: (tabId: number) => void,
  onFreeze: (tabId: number, isFrozen: boolean) => void,
): void {
  chrome.tabs.onUpdated.addListener((id, tabChanges) => {
    if (tabChanges.frozen !== undefined) onFreeze(id, tabChanges.frozen);
    const relevantChanges = [
      tabChanges.url,
      tabChanges.title,
      tabChanges.status,
      tabChanges.discarded,
      tabChanges.frozen,
    ];
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

export interface PageLoadListeners {
  onLoadStarted(tabId: number): void;
  /** `atMs` is when Chrome committed the navigation, in milliseconds since 1970. */
  onDocumentShown(tabId: number, atMs: number): void;
  /** onLoadFailed is called when a document fails to load. */
  onLoadFailed(tabId: number, error: string): void;
}

export function listenToPageLoads({ onLoadStarted, onDocumentShown, onLoadFailed }: PageLoadListeners): void {
  // Ignore prerendered pages, because no tab shows a prerendered page.
  chrome.webNavigation.onBeforeNavigate.addListener(
    (navigationDetails) =>
      navigationDetails.frameId === 0 &&
      navigationDetails.documentLifecycle !== 'prerender' &&
      onLoadStarted(navigationDetails.tabId),
  );
  chrome.webNavigation.onCommitted.addListener(
    (navigationDetails) =>
      navigationDetails.frameId === 0 && onDocumentShown(navigationDetails.tabId, navigationDetails.timeStamp),
  );
  chrome.webNavigation.onErrorOccurred.addListener(
    (navigationDetails) =>
      navigationDetails.frameId === 0 && onLoadFailed(navigationDetails.tabId, navigationDetails.error),
  );
}

// ---- tabs ----

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

export type TabState = 'open' | 'closed' | 'crashed' | 'discarded';

export async function readTabState(tabId: number): Promise<TabState> {
  try {
    const tab = await chrome.tabs.get(tabId);
    if (tab.discarded) return 'discarded';
    return tab.status === 'unloaded' ? 'crashed' : 'open';
  } catch {
    return 'closed';
  }
}

export async function isTabLoading(tabId: number): Promise<boolean> {
  try {
    return (await chrome.tabs.get(tabId)).status === 'loading';
  } catch {
    return false; // chrome.tabs.get rejects for a closed tab
  }
}

/** The result of isDocumentGone is delayed while a script blocks the page. */
export async function isDocumentGone(tabId: number, documentId: string): Promise<boolean> {
  try {
    const target = { tabId, documentIds: [documentId] };
    await chrome.scripting.executeScript({ target, func: () => undefined, injectImmediately: true });
    return false;
  } catch {
    return true;
  }
}

export interface PageState {
  /** hasUserInteracted is true if the user has clicked or typed in the document. */
  readonly hasUserInteracted: boolean;
  /** startedAtMs is when the document started to load, in milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly audible: boolean;
  readonly documentId: string;
  /**
   * hasBridge is false if the document has no bridge, or only a bridge from before the last reload of the extension.
   */
  readonly hasBridge: boolean;
}

export async function readPage(tabId: number): Promise<PageState | 'error' | undefined> {
  try {
    const { audible = false } = await chrome.tabs.get(tabId);
    const [frame] = await chrome.scripting.executeScript({
      target: { tabId },
      injectImmediately: true,
      func: (bridgeMarkKey: string) =>
        [
          navigator.userActivation.hasBeenActive,
          performance.timing.domLoading,
          Reflect.has(globalThis, bridgeMarkKey),
        ] as const,
      args: [BRIDGE_MARK_KEY],
    });
    if (!frame?.result) return undefined;
    const [hasBeenActive, startedMs, isBridgeMarked] = frame.result;
    return {
      hasUserInteracted: hasBeenActive,
      startedAtMs: startedMs,
      audible,
      hasBridge: isBridgeMarked,
      documentId: frame.documentId,
    };
  } catch (error) {
    return String(error).includes('showing error page') ? 'error' : undefined;
  }
}

/** isTabBlank reports whether a tab is empty or shows an error page, so that a navigation loses no content. */
export async function isTabBlank(tabId: number): Promise<boolean> {
  const tab = await chrome.tabs.get(tabId).catch(() => undefined); // chrome.tabs.get rejects for a closed tab
  return tab !== undefined && (tab.url === '' || (await readPage(tabId)) === 'error');
}

export async function isTabFrozen(tabId: number): Promise<boolean> {
  return (await chrome.tabs.get(tabId)).frozen;
}

export async function discardTab(tabId: number): Promise<number> {
  return (await chrome.tabs.discard(tabId))?.id ?? tabId;
}

export interface TabFrame {
  readonly documentId: string;
  readonly url: string;
}

export interface FrameState extends TabFrame {
  readonly startedAtMs: number;
  readonly hasUserInteracted: boolean;
}

export async function listFrames(tabId: number): Promise<TabFrame[]> {
  const frames = (await chrome.webNavigation.getAllFrames({ tabId })) ?? [];
  return frames.filter((frame) => frame.frameId !== 0).map(({ documentId, url }) => ({ documentId, url }));
}

export async function readFrames(tabId: number): Promise<FrameState[]> {
  const injectionResults = await chrome.scripting.executeScript({
    target: { tabId, allFrames: true },
    injectImmediately: true,
    func: () => [location.href, origin, performance.timing.domLoading, navigator.userActivation.hasBeenActive] as const,
  });
  const topOrigin = injectionResults.find((frame) => frame.frameId === 0)?.result?.[1];
  return injectionResults.flatMap(({ frameId, documentId, result }) => {
    if (frameId === 0 || !result || result[1] !== topOrigin) return [];
    return [{ documentId, url: result[0], startedAtMs: result[2], hasUserInteracted: result[3] }];
  });
}

export async function reloadFrame(tabId: number, documentId: string): Promise<void> {
  const target = { tabId, documentIds: [documentId] };
  await chrome.scripting.executeScript({ target, injectImmediately: true, func: () => location.reload() });
}

export async function reloadTab(tabId: number): Promise<void> {
  await chrome.tabs.reload(tabId);
}

export async function navigateTab(tabId: number, url: string): Promise<void> {
  await chrome.tabs.update(tabId, { url });
}

export async function activateTab(tabId: number): Promise<void> {
  const tab = await chrome.tabs.update(tabId, { active: true });
  if (tab) await chrome.windows.update(tab.windowId, { focused: true });
}

export async function openBackgroundTab(url: string): Promise<number> {
  const windows = (await chrome.windows.getAll({ windowTypes: ['normal'] })).filter((window) => !window.incognito);
  const lastFocused = await chrome.windows.getLastFocused({ windowTypes: ['normal'] }).catch(() => undefined);
  const window = windows.find((chromeWindow) => chromeWindow.id === lastFocused?.id) ?? windows[0];
  if (window?.id === undefined) throw new Error('no window is open in this browser; the user has to open one');
  const tab = await chrome.tabs.create({ url, active: false, windowId: window.id });
  if (tab.id === undefined) throw new Error('the browser opened no tab');
  return tab.id;
}

export async function readFocusedWindow(): Promise<number> {
  const windows = await chrome.windows.getAll();
  return windows.find((chromeWindow) => chromeWindow.focused)?.id ?? -1;
}

// ---- extension ----

export function readExtensionVersion(): string {
  return chrome.runtime.getManifest().version;
}

/** The permission `debugger` is in the manifest only if the user chose the debugger during the installation. */
export async function listCapabilities(): Promise<string[]> {
  const { permissions = [] } = await chrome.permissions.getAll();
  return ['debugger', ...optionalPermissionNames].filter((name) =>
    permissions.some((permission) => permission === name),
  );
}

export function onCapabilitiesChange(listener: () => void): void {
  chrome.permissions.onAdded.addListener(listener);
  chrome.permissions.onRemoved.addListener(listener);
}

export async function readOwnFile(name: string): Promise<string | undefined> {
  try {
    const response = await fetch(chrome.runtime.getURL(name), { cache: 'no-store' });
    return response.ok ? await response.text() : undefined;
  } catch {
    return undefined;
  }
}

export async function readPlatformName(): Promise<string> {
  const { os } = await chrome.runtime.getPlatformInfo();
  const names: Readonly<Record<string, string>> = { mac: 'macOS', win: 'Windows', linux: 'Linux', cros: 'ChromeOS' };
  return names[os] ?? os;
}

export function readProductName(): string {
  if (navigator.userAgent.includes(' Edg/')) return 'Edge';
  return navigator.userAgent.includes(' OPR/') ? 'Opera' : 'Chrome';
}

export async function readSetting(key: string): Promise<string | undefined> {
  return toStringOrUndefined((await chrome.storage.local.get(key))[key]);
}

export async function writeSetting(key: string, value: string): Promise<void> {
  await chrome.storage.local.set({ [key]: value });
}

/** readSessionValue returns a string that Chrome stores until the browser or the extension restarts, or undefined. */
export async function readSessionValue(key: string): Promise<string | undefined> {
  return toStringOrUndefined((await chrome.storage.session.get(key))[key]);
}

export async function writeSessionValue(key: string, value: string): Promise<void> {
  await chrome.storage.session.set({ [key]: value });
}

function toStringOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** `title` is the tooltip of the extension's icon, and the icon's text for screen readers. */
export async function setBadge(badgeText: string, color: string, title: string): Promise<void> {
  await chrome.action.setBadgeBackgroundColor({ color });
  await chrome.action.setBadgeText({ text: badgeText });
  await chrome.action.setTitle({ title });
}

/** A tab for which setTabBadge set no text shows the badge text of setBadge. */
export async function setTabBadge(tabId: number, badgeText: string | undefined, title: string): Promise<void> {
  await chrome.action.setBadgeText(badgeText === undefined ? { tabId } : { tabId, text: badgeText });
  await chrome.action.setTitle({ tabId, title });
}

export async function openPopupOnClick(): Promise<void> {
  await chrome.sidePanel.setPanelBehavior({ openPanelOnActionClick: false });
}

/** Chrome allows openPanel only while the extension handles a click or a key press of the user. */
export async function openPanel(windowId: number): Promise<void> {
  await chrome.sidePanel.open({ windowId });
}

export async function readCurrentWindow(): Promise<number | undefined> {
  return (await chrome.windows.getCurrent()).id;
}

export function makeDetailsPageUrl(): string {
  return `chrome://extensions/?id=${chrome.runtime.id}`;
}

export async function openTab(url: string): Promise<void> {
  await chrome.tabs.create({ url });
}

// Wraps the Chrome functions that browser tools use on documents: frames, page loads, and the injected page script.

import { isRecord } from './record.ts';
import { awaitWithin } from './within.ts';

/** The top frame of a tab has the frameId 0. */
export interface TabFrame {
  readonly frameId: number;
  readonly parentFrameId: number;
  readonly documentId: string;
  readonly url: string;
}

export async function listTabFrames(tabId: number): Promise<TabFrame[]> {
  const frames = (await chrome.webNavigation.getAllFrames({ tabId }).catch(() => null)) ?? [];
  return frames
    .filter((frame) => !frame.errorOccurred)
    .map(({ frameId, parentFrameId, documentId, url }) => ({ frameId, parentFrameId, documentId, url }));
}

export async function readTopDocument(tabId: number): Promise<string | undefined> {
  return (await chrome.webNavigation.getFrame({ tabId, frameId: 0 }).catch(() => null))?.documentId;
}

export type TabEvent =
  /** The event "started": the tab has sent a request for a new document. */
  | { readonly kind: 'started'; readonly url: string }
  /** The event "committed": the tab shows a new document. */
  | { readonly kind: 'committed'; readonly url: string; readonly documentId: string }
  | { readonly kind: 'domcontentloaded'; readonly documentId: string }
  | { readonly kind: 'load'; readonly documentId: string }
  /** The event "failed": a document of the tab failed to load. */
  | { readonly kind: 'failed'; readonly error: string; readonly url: string }
  /** The event "address": the URL of the tab changed without a new document, as with history.pushState. */
  | { readonly kind: 'address'; readonly url: string }
  | { readonly kind: 'closed' }
  /** The event "opened": a document of the tab opened a new tab. */
  | { readonly kind: 'opened'; readonly tabId: number; readonly url: string };

export function watchTabs(listener: (tabId: number, event: TabEvent) => void): () => void {
  const { webNavigation, tabs } = chrome;
  const listenerRemovers: (() => void)[] = [];
  const addListener = <L>(
    event: { addListener(callback: L): void; removeListener(callback: L): void },
    callback: L,
  ) => {
    event.addListener(callback);
    listenerRemovers.push(() => event.removeListener(callback));
  };
  type NavigationDetails = { tabId: number; frameId: number; documentLifecycle?: string };
  const addTopFrameListener = <D extends NavigationDetails>(
    event: {
      addListener(callback: (eventDetails: D) => void): void;
      removeListener(callback: (eventDetails: D) => void): void;
    },
    toTabEvent: (eventDetails: D) => TabEvent,
  ) =>
    addListener(event, (eventDetails) => {
      // A prerendered page is not visible in a tab yet.
      if (eventDetails.frameId === 0 && eventDetails.documentLifecycle !== 'prerender')
        listener(eventDetails.tabId, toTabEvent(eventDetails));
    });
  addTopFrameListener(webNavigation.onBeforeNavigate, ({ url }) => ({ kind: 'started', url }));
  addTopFrameListener(webNavigation.onCommitted, ({ url, documentId }) => ({ kind: 'committed', url, documentId }));
  addTopFrameListener(webNavigation.onDOMContentLoaded, ({ documentId }) => ({ kind: 'domcontentloaded', documentId }));
  addTopFrameListener(webNavigation.onCompleted, ({ documentId }) => ({ kind: 'load', documentId }));
  addTopFrameListener(webNavigation.onErrorOccurred, ({ error, url }) => ({ kind: 'failed', error, url }));
  addTopFrameListener(webNavigation.onHistoryStateUpdated, ({ url }) => ({ kind: 'address', url }));
  addTopFrameListener(webNavigation.onReferenceFragmentUpdated, ({ url }) => ({ kind: 'address', url }));
  addListener(webNavigation.onCreatedNavigationTarget, ({ sourceTabId, tabId, url }) =>
    listener(sourceTabId, { kind: 'opened', tabId, url }),
  );
  addListener(tabs.onRemoved, (tabId: number) => listener(tabId, { kind: 'closed' }));
  return () => {
    for (const removeListener of listenerRemovers.splice(0)) removeListener();
  };
}

export interface LoadedPage {
  readonly url: string;
  readonly title: string;
  readonly readyState: string;
  /** The field `status` is the HTTP status of the document, or 0 if unknown. */
  readonly status: number;
  /** The field `resources` is the number of network requests of the page that Chrome has completed. */
  readonly resources: number;
}

export async function readLoadedPage(tabId: number, limitMs: number): Promise<LoadedPage | undefined> {
  const scriptResults = chrome.scripting.executeScript({
    target: { tabId },
    injectImmediately: true,
    func: () => {
      const [timingEntry] = performance.getEntriesByType('navigation');
      const status: unknown = timingEntry ? Reflect.get(timingEntry, 'responseStatus') : 0;
      return {
        url: location.href,
        title: document.title,
        readyState: document.readyState,
        status: typeof status === 'number' ? status : 0,
        resources: performance.getEntriesByType('resource').length,
      };
    },
  });
  const [frame] = (await awaitWithin(scriptResults, limitMs)) ?? [];
  return frame?.result;
}

export interface PageResource {
  readonly url: string;
  /** The field `type` is the initiator type of the request, such as navigation, fetch or img. */
  readonly type: string;
  /** The field `status` is the HTTP status, or 0 if the browser hides the status from the page. */
  readonly status: number;
  readonly sizeBytes: number;
  readonly durationMs: number;
}

/** By default, Chrome keeps the entries of only the first 250 requests of a document. */
export async function readResources(tabId: number, documentId: string): Promise<readonly PageResource[]> {
  const [frame] = await chrome.scripting.executeScript({
    target: { tabId, documentIds: [documentId] },
    injectImmediately: true,
    func: () =>
      [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].map(
        (timingEntry) => {
          const readTimingMs = (key: string) => Number(Reflect.get(timingEntry, key)) || 0;
          return {
            url: timingEntry.name,
            type: String(Reflect.get(timingEntry, 'initiatorType')),
            status: readTimingMs('responseStatus'),
            sizeBytes: readTimingMs('transferSize'),
            durationMs: Math.round(timingEntry.duration),
          };
        },
      ),
  });
  return frame?.result ?? [];
}

// ---- navigation ----

export async function startNavigation(tabId: number, url: string): Promise<void> {
  await chrome.tabs.update(tabId, { url });
}

/**
 * navigateHistory uses `chrome.tabs.goBack` only where no script can run, because goBack skips pages without user
 * interaction.
 */
export async function navigateHistory(tabId: number, historyStep: -1 | 1): Promise<void> {
  try {
    const traverseHistory = (steps: number) => history.go(steps);
    await chrome.scripting.executeScript({
      target: { tabId },
      func: traverseHistory,
      args: [historyStep],
      injectImmediately: true,
    });
  } catch {
    await (historyStep < 0 ? chrome.tabs.goBack(tabId) : chrome.tabs.goForward(tabId)).catch(() => undefined);
  }
}

/** Callers of runScriptUrl must pass only the URL of a link that the page itself shows. */
export async function runScriptUrl(tabId: number, documentId: string, scriptUrl: string): Promise<void> {
  const target = { tabId, documentIds: [documentId] };
  const setLocation = (href: string) => {
    location.href = href;
  };
  await chrome.scripting.executeScript({
    target,
    func: setLocation,
    args: [scriptUrl],
    world: 'MAIN',
    injectImmediately: true,
  });
}

// ---- scripts ----

const PageScriptFile = 'page.js';
const PagePortName = 'page';

export interface PagePort {
  post(portText: string): void;
  disconnect(): void;
}

export interface PagePortEvents {
  onText(portText: unknown): void;
  onDisconnect(): void;
}

/** If the page is busy or in the back/forward cache, the promise of injectPageScript can stay pending forever. */
export async function injectPageScript(tabId: number, documentIds: readonly string[]): Promise<void> {
  const target = { tabId, documentIds: [...documentIds] };
  await chrome.scripting.executeScript({ target, files: [PageScriptFile], world: 'ISOLATED', injectImmediately: true });
}

export function connectPageScript(tabId: number, documentId: string, events: PagePortEvents): PagePort {
  const port = chrome.tabs.connect(tabId, { documentId, name: PagePortName });
  port.onMessage.addListener((portText: unknown) => events.onText(portText));
  port.onDisconnect.addListener(() => {
    // Reading lastError prevents Chrome from logging the error as unchecked.
    void chrome.runtime.lastError;
    events.onDisconnect();
  });
  return { post: (portText) => port.postMessage(portText), disconnect: () => port.disconnect() };
}

export function listenToPagePorts(
  acceptPort: (port: PagePort) => { onText(portText: unknown): void; onDisconnect(): void },
): void {
  chrome.runtime.onConnect.addListener((port) => {
    if (port.name !== PagePortName) return;
    const events = acceptPort({ post: (portText) => port.postMessage(portText), disconnect: () => port.disconnect() });
    port.onMessage.addListener((portText: unknown) => events.onText(portText));
    port.onDisconnect.addListener(() => {
      events.onDisconnect();
      wakeWorker();
    });
  });
}

/**
 * wakeWorker restarts a stopped service worker at once; otherwise, the worker would restart at the next alarm, up to 30
 * s later.
 */
function wakeWorker(): void {
  try {
    // The worker does not answer a wake message.
    chrome.runtime.sendMessage({}).catch(() => undefined);
  } catch {
    // Sending a message throws if the extension was reloaded or removed.
  }
}

// ---- input ----

export type InputKind = 'pointer' | 'key';

const UserInputMessageType = 'userInput';

/** watchInput ignores events without isTrusted, because page scripts have created them. */
export async function watchInput(tabId: number, documentIds: string[] | undefined, limitMs: number): Promise<void> {
  await chrome.scripting.executeScript({
    target: documentIds ? { tabId, documentIds } : { tabId, allFrames: true },
    world: 'ISOLATED',
    injectImmediately: true,
    func: reportInput,
    args: [limitMs, UserInputMessageType],
  });
}

function reportInput(limitMs: number, name: string): void {
  const key = 'opentabsInputEndMs';
  const isWatching = Reflect.has(globalThis, key);
  Reflect.set(globalThis, key, Date.now() + limitMs);
  if (isWatching) return;
  const inputEventTypes = ['pointerdown', 'keydown'];
  const stopWatching = () => {
    Reflect.deleteProperty(globalThis, key);
    for (const type of inputEventTypes) window.removeEventListener(type, report, true);
  };
  const report = (event: Event) => {
    if (Date.now() > Number(Reflect.get(globalThis, key))) return stopWatching();
    if (!event.isTrusted) return;
    if (event instanceof KeyboardEvent) {
      const modifiers = ['Alt', 'AltGraph', 'CapsLock', 'Control', 'Fn', 'Meta', 'NumLock', 'ScrollLock', 'Shift'];
      if (event.repeat || modifiers.includes(event.key)) return;
    }
    // Sending a message throws if the extension was reloaded or removed.
    try {
      chrome.runtime.sendMessage({ [name]: event.type === 'keydown' ? 'key' : 'pointer' }).catch(stopWatching);
    } catch {
      stopWatching();
    }
  };
  for (const type of inputEventTypes) window.addEventListener(type, report, { capture: true, passive: true });
}

export function onInput(listener: (tabId: number, kind: InputKind) => void): void {
  chrome.runtime.onMessage.addListener((runtimeMessage: unknown, sender) => {
    const kind = isRecord(runtimeMessage) ? runtimeMessage[UserInputMessageType] : undefined;
    if (sender.tab?.id !== undefined && (kind === 'pointer' || kind === 'key')) listener(sender.tab.id, kind);
    return false;
  });
}

export function onCommitted(listener: (tabId: number, documentId: string) => void): void {
  chrome.webNavigation.onCommitted.addListener(({ tabId, documentId, documentLifecycle }) => {
    if (documentLifecycle !== 'prerender') listener(tabId, documentId);
  });
}

// The bridge connects the hosts of a document to the worker. The bridge runs in the isolated world of every document
// that a plugin matches. In a frame, the bridge serves only the plugins that support frames.

import { connectBridge, isExtensionAlive } from '../chrome.ts';
import { BRIDGE_MARK_KEY, readMessageToBridge } from '../port-message.ts';
import { BridgeCalls } from './calls.ts';
import { findProbeFrame, isSameOriginAsTop, mayHaveInheritedWindow } from './frame.ts';
import { awaitLateHost, connectOfferingHosts } from './hosts.ts';
import { BridgeLink, type LinkSession } from './link.ts';
import { watchNavigation } from './navigating.ts';

const isFirstBridge = !Reflect.has(globalThis, BRIDGE_MARK_KEY);
Reflect.set(globalThis, BRIDGE_MARK_KEY, true);

const link = new BridgeLink({ connect: connectBridge, isExtensionAlive, read: readMessageToBridge });
const calls = new BridgeCalls(
  (message) => link.post(message),
  () => document.visibilityState === 'visible',
  (plugin, type, events) => awaitLateHost(document, type, plugin, events),
);
const { plugins } = calls;
const session: LinkSession = {
  onReceived: (message, arrivedMs) => calls.receiveFromWorker(message, arrivedMs),
  makeGreeting: () => calls.makeGreeting(),
  onConnected: () => calls.connected(),
  isLikelyLastMessage: () => calls.runningCount === 0,
  onOrphaned: () => calls.cancelAll('the browser extension was reloaded or removed'),
};

function connectHosts(): void {
  const frame = findProbeFrame();
  // If the document shares its Window with an older page, the bridge connects to hosts only if a probe frame exists,
  // because the page could have replaced the Window's built-in functions. A reload of the page replaces a shared Window
  // with a new Window.
  if (frame !== undefined || !mayHaveInheritedWindow()) {
    connectOfferingHosts(document, { ...calls.hostEvents, frame });
  }
  frame?.remove();
}

/** addTrustedListener calls onEvent for trusted events, and ignores events that scripts of the page dispatch. */
function addTrustedListener(target: EventTarget, type: string, onEvent: (event: Event) => void): void {
  target.addEventListener(
    type,
    (event) => {
      if (event.isTrusted) onEvent(event);
    },
    { capture: true },
  );
}

/**
 * While a document is prerendered, the bridge does not connect. The bridge of a prerendered document connects as soon
 * as the document is shown in a tab.
 */
function connectToWorker(): void {
  if (Reflect.get(document, 'prerendering') === true)
    addTrustedListener(document, 'prerenderingchange', () => link.open(session));
  else link.open(session);
  watchNavigation(navigation, {
    onNavigationChanged: (on) => link.post({ op: 'navigating', on }),
    onUrlChanged: () => plugins.onUrlChanged(),
  });
  addTrustedListener(window, 'DOMContentLoaded', () => plugins.onDocumentParsed());
  addTrustedListener(window, 'load', (event) => {
    if (event.target === document) plugins.onDocumentLoaded();
  });
  addTrustedListener(document, 'visibilitychange', () => plugins.onVisibilityChanged());
  addTrustedListener(window, 'pagehide', () => {
    calls.reportStartedCalls();
    link.closeForNavigation();
  });
  // When a document returns from the back/forward cache, the document's port is closed, but its hosts and their calls
  // still exist.
  addTrustedListener(window, 'pageshow', (event) => {
    if (!(event instanceof PageTransitionEvent) || !event.persisted) return;
    link.reopen();
    plugins.onUrlChanged();
  });
}

// In a frame whose origin differs from the top document's origin, the bridge does nothing.
if (isFirstBridge && isSameOriginAsTop()) {
  connectHosts();
  connectToWorker();
}

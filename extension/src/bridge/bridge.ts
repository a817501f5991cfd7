// The bridge: connects the hosts of a document with the worker. The bridge runs in the isolated world of every document
// that a plugin matches, and in frames for the plugins that support frames.

import { connectBridge, isExtensionAlive } from '../chrome.ts';
import { BRIDGE_MARK, readToBridge } from '../port-message.ts';
import { BridgeCalls } from './calls.ts';
import { hasOriginOfTop, mayShareWindow, probeFrame } from './frame.ts';
import { awaitLateHost, gatherHosts } from './hosts.ts';
import { Link, type Session } from './link.ts';
import { watchNavigation } from './navigating.ts';

const isFirstBridge = !Reflect.has(globalThis, BRIDGE_MARK);
Reflect.set(globalThis, BRIDGE_MARK, true);

const link = new Link({ connect: connectBridge, isExtensionAlive, read: readToBridge });
const calls = new BridgeCalls(
  (message) => link.post(message),
  () => document.visibilityState === 'visible',
  (plugin, type, events) => awaitLateHost(document, type, plugin, events),
);
const { plugins } = calls;
const session: Session = {
  received: (message, arrivedMs) => calls.fromWorker(message, arrivedMs),
  greeting: () => calls.greeting(),
  connected: () => calls.connected(),
  isLikelyLastMessage: () => calls.running === 0,
  orphaned: () => calls.cancelAll('the browser extension was reloaded or removed'),
};

/** connectHosts connects the bridge to the hosts of this document. */
function connectHosts(): void {
  const frame = probeFrame();
  // Without a probe frame, hosts in a shared Window cannot check their built-ins and are not trusted. A reload of the
  // page replaces a shared Window by a new Window.
  if (frame !== undefined || !mayShareWindow()) {
    gatherHosts(document, { ...calls.hostEvents, frame });
  }
  frame?.remove();
}

/** listen calls onEvent for each event of the browser itself, and ignores events that the page dispatches. */
function listen(target: EventTarget, type: string, onEvent: (event: Event) => void): void {
  target.addEventListener(
    type,
    (event) => {
      if (event.isTrusted) onEvent(event);
    },
    { capture: true },
  );
}

/**
 * connectToWorker connects the bridge to the worker, and reconnects when Chrome closes the port. A prerendered document
 * connects to the worker when the document is shown in a tab.
 */
function connectToWorker(): void {
  if (Reflect.get(document, 'prerendering') === true) listen(document, 'prerenderingchange', () => link.open(session));
  else link.open(session);
  watchNavigation(navigation, {
    navigationChanged: (on) => link.post({ op: 'navigating', on }),
    urlChanged: () => plugins.urlChanged(),
  });
  listen(window, 'DOMContentLoaded', () => plugins.documentParsed());
  listen(window, 'load', (event) => {
    if (event.target === document) plugins.documentLoaded();
  });
  listen(document, 'visibilitychange', () => plugins.visibilityChanged());
  listen(window, 'pagehide', () => {
    calls.reportLeaving();
    link.closeForNavigation();
  });
  // After a return from the back/forward cache the port is closed, but the hosts and their calls still exist.
  listen(window, 'pageshow', (event) => {
    if (!(event instanceof PageTransitionEvent) || !event.persisted) return;
    link.reopen();
    plugins.urlChanged();
  });
}

// The bridge does not support frames of another origin.
if (isFirstBridge && hasOriginOfTop()) {
  connectHosts();
  connectToWorker();
}

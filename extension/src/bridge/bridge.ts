// The bridge runs in the isolated world of every document that a plugin
// matches, in frames only of plugins that want those. It takes the hosts' ports
// and keeps one port to the worker.

import { connectBridge, isExtensionAlive } from '../chrome.ts';
import { BRIDGE_MARK, readToBridge } from '../port-message.ts';
import { makeDesk } from './calls.ts';
import { hasOriginOfTop, mayShareWindow, probeFrame } from './frame.ts';
import { gatherHosts, type HostEvents, meetHost } from './hosts.ts';
import { makeLink } from './link.ts';
import { watchNavigation } from './navigating.ts';

const first = !Reflect.has(globalThis, BRIDGE_MARK);
Reflect.set(globalThis, BRIDGE_MARK, true);

const desk = makeDesk(
  (message) => link.post(message),
  () => document.visibilityState === 'visible',
  (plugin, type) => meetHost(document, type, plugin, events),
);
const { plugins } = desk;
const link = makeLink({
  connect: connectBridge,
  alive: isExtensionAlive,
  read: readToBridge,
  received: (message) => desk.fromWorker(message),
  greeting: () => desk.greeting(),
  connected: () => desk.connected(),
  alone: () => desk.running === 0,
  orphaned: () => desk.abandon('the browser extension was reloaded or removed'),
});

const events: HostEvents = {
  took: (host) => plugins.took(host),
  tookBase: (base) => plugins.tookBase(base),
  said: (host, text) => desk.fromHost(host, text),
};

/** gather takes the hosts of this document. */
function gather(): void {
  const frame = probeFrame();
  // Where hosts could not compare, none is trusted; a reload gives the tab a Window of its own.
  if (frame !== undefined || !mayShareWindow()) {
    gatherHosts(document, { ...events, frame });
  }
  frame?.remove();
}

/** listen has heard called for each event that the browser itself dispatches: the page can dispatch all of them too. */
function listen(on: EventTarget, type: string, heard: (event: Event) => void): void {
  on.addEventListener(
    type,
    (event) => {
      if (event.isTrusted) heard(event);
    },
    { capture: true },
  );
}

/** open connects to the worker, and keeps connected; a document that is rendered ahead has no tab of its own yet. */
function open(): void {
  if (Reflect.get(document, 'prerendering') === true) listen(document, 'prerenderingchange', () => link.open());
  else link.open();
  watchNavigation(navigation, {
    navigating: (on) => link.post({ op: 'navigating', on }),
    moved: () => plugins.moved(),
  });
  listen(window, 'DOMContentLoaded', () => plugins.parsed());
  listen(window, 'load', (event) => {
    if (event.target === document) plugins.loaded();
  });
  listen(document, 'visibilitychange', () => plugins.shown());
  listen(window, 'pagehide', () => {
    desk.leaving();
    link.leave();
  });
  // Back from the back/forward cache the port is gone, but the hosts and their calls are there.
  listen(window, 'pageshow', (event) => {
    if (!(event instanceof PageTransitionEvent) || !event.persisted) return;
    link.reopen();
    plugins.moved();
  });
}

// A frame of another origin has nothing to say to anybody. The others are where a plugin wants frames.
if (first && hasOriginOfTop()) {
  gather();
  open();
}

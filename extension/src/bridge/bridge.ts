// The bridge runs in the isolated world of every document that a plugin
// matches. It takes the hosts' ports and keeps one port to the worker.

import { connectBridge, isExtensionAlive } from '../chrome.ts';
import { BRIDGE_MARK, readToBridge } from '../port-message.ts';
import { makeDesk } from './calls.ts';
import { mayShareWindow, probeFrame } from './frame.ts';
import { gatherHosts } from './hosts.ts';
import { makeLink } from './link.ts';
import { watchNavigation } from './navigating.ts';

const first = !Reflect.has(globalThis, BRIDGE_MARK);
Reflect.set(globalThis, BRIDGE_MARK, true);

const desk = makeDesk((message) => link.post(message));
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

if (first) {
  const frame = probeFrame();
  // Where hosts could not compare, none is trusted; a reload gives the tab a Window of its own.
  if (frame !== undefined || !mayShareWindow()) {
    gatherHosts(document, { frame, said: (host, text) => desk.fromHost(host, text) });
  }
  frame?.remove();
}

// The page can dispatch the events below too, as often as it likes; those are not trusted.

// A document that is rendered ahead has no tab of its own yet.
if (first && Reflect.get(document, 'prerendering') === true) {
  const shown = (event: Event) => {
    if (!event.isTrusted) return;
    document.removeEventListener('prerenderingchange', shown);
    link.open();
  };
  document.addEventListener('prerenderingchange', shown);
} else if (first) link.open();

if (first) watchNavigation(navigation, (on) => link.post({ op: 'navigating', on }));

addEventListener('pagehide', (event) => {
  if (!event.isTrusted) return;
  desk.leaving();
  link.leave();
});

// Back from the back/forward cache the port is gone, but the hosts and their calls are there.
addEventListener('pageshow', (event) => {
  if (first && event.isTrusted && event.persisted) link.reopen();
});

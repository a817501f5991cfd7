// The bridge runs in the isolated world of every document that a plugin
// matches. It takes the hosts' ports and keeps one port to the worker.

import { connectBridge, isExtensionAlive } from '../chrome.ts';
import { readToBridge } from '../port-message.ts';
import { makeDesk } from './calls.ts';
import { gatherHosts } from './hosts.ts';
import { makeLink } from './link.ts';

const desk = makeDesk((message) => link.post(message));
const link = makeLink({
  connect: connectBridge,
  alive: isExtensionAlive,
  read: readToBridge,
  received: (message) => desk.fromWorker(message),
  connected: () => desk.connected(),
  orphaned: () => desk.abandon('the browser extension was reloaded or removed'),
});

gatherHosts(document, { said: (host, text) => desk.fromHost(host, text) });

// A document that is rendered ahead has no tab of its own yet.
if (Reflect.get(document, 'prerendering') === true)
  document.addEventListener('prerenderingchange', link.open, { once: true });
else link.open();

addEventListener('pagehide', () => desk.leaving());

// Back from the back/forward cache the port is gone, but the hosts and their calls are there.
addEventListener('pageshow', (event) => {
  if (event.persisted) link.reopen();
});

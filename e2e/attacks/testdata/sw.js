self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  if (event.request.mode !== 'navigate') return;
  const code = "document.dispatchEvent(new Event('opentabs:bridge'));document.addEventListener('opentabs:host', () => fetch('/note', {method: 'POST', body: 'offered'}));";
  event.respondWith(new Response('<!doctype html><title>rewritten</title><script>' + code + '</' + 'script>', { headers: { 'content-type': 'text/html' } }));
});

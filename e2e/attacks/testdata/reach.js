// Sends every kind of request that a page can send to base, and returns the answers that the page could read and the sockets that opened.
(base, token) => {
  const answers = [], attempts = [];
  const paths = ['/healthz', '/status', '/calls', '/events', '/mcp', '/ws', '/plugins/reload', '/calls/x/cancel', '/stdio'];
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'evil', version: '1' } } });
  const recordAnswer = (what, work) => attempts.push(work.then(async (r) => {
    if (r.type !== 'opaque') answers.push(what + ': ' + r.status + ' ' + (await r.text()).slice(0, 80));
  }, () => undefined));
  for (const path of paths) {
    for (const mode of ['cors', 'no-cors']) {
      for (const credentials of ['include', 'omit']) {
        recordAnswer('GET ' + path, fetch(base + path, { mode, credentials }));
        for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json', 'multipart/form-data']) {
          recordAnswer('POST ' + path, fetch(base + path, { method: 'POST', mode, credentials, body: call, headers: { 'content-type': type } }));
        }
      }
    }
    // The server refuses a page even if the page has the token.
    recordAnswer(path + ' with the token', fetch(base + path, { headers: { authorization: 'Bearer ' + token } }));
    navigator.sendBeacon(base + path, call);
    for (const tag of ['img', 'script', 'link', 'iframe', 'embed', 'video']) {
      const element = document.createElement(tag);
      if (tag === 'link') Object.assign(element, { rel: 'stylesheet', href: base + path });
      else Object.assign(element, { src: base + path });
      document.documentElement.append(element);
    }
    for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const name = 'f' + document.querySelectorAll('iframe').length;
      const target = Object.assign(document.createElement('iframe'), { name });
      const form = Object.assign(document.createElement('form'), { action: base + path, method: 'POST', enctype, target: name });
      form.append(Object.assign(document.createElement('input'), { name: call.slice(0, -1), value: '}' }));
      document.documentElement.append(target, form);
      form.submit();
    }
  }
  attempts.push(new Promise((resolve) => {
    const events = new EventSource(base + '/events', { withCredentials: true });
    events.onmessage = (event) => answers.push('event ' + event.data);
    events.onerror = () => resolve(events.close());
  }));
  for (const protocols of [[], ['opentabs'], ['opentabs', 'opentabs.nonce.0123456789abcdef'], ['opentabs.nonce.0123456789abcdef'], ['opentabs', 'opentabs.token.' + token]]) {
    attempts.push(new Promise((resolve) => {
      const socket = new WebSocket(base.replace('http', 'ws') + '/ws', protocols);
      socket.onopen = () => answers.push('a socket with ' + protocols.length + ' protocols');
      socket.onclose = () => resolve();
    }));
  }
  return Promise.all(attempts).then(() => answers);
};

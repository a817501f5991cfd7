const port = chrome.runtime.connect();
const posted = new MessageChannel();
const dispatched = new MessageChannel().port1;
posted.port1.onmessage = ({ data }) => port.postMessage(data);
dispatched.addEventListener('up', ({ data }) => port.postMessage(data));
port.onMessage.addListener((text) => {
  if (text[0] === 'p') port.postMessage(text);
  else if (text[0] === 'd') dispatched.dispatchEvent(new MessageEvent('down', { data: text }));
  else posted.port1.postMessage(text);
});
// Chrome runs this script before main.js, which asks.
document.addEventListener('floor-wanted', () => {
  document.dispatchEvent(new MessageEvent('floor', { ports: [posted.port2, dispatched] }));
});

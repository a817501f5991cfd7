const port = chrome.runtime.connect();
const postedChannel = new MessageChannel();
const eventPort = new MessageChannel().port1;
postedChannel.port1.onmessage = ({ data }) => port.postMessage(data);
eventPort.addEventListener('up', ({ data }) => port.postMessage(data));
port.onMessage.addListener((text) => {
  if (text[0] === 'p') port.postMessage(text);
  else if (text[0] === 'd') eventPort.dispatchEvent(new MessageEvent('down', { data: text }));
  else postedChannel.port1.postMessage(text);
});
// Chrome runs this script before main.js, which dispatches floor-wanted.
document.addEventListener('floor-wanted', () => {
  document.dispatchEvent(new MessageEvent('floor', { ports: [postedChannel.port2, eventPort] }));
});

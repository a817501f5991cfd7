const postedChannel = new MessageChannel();
const eventPort = new MessageChannel().port1;
let workerPort;
connect();
postedChannel.port1.onmessage = ({ data }) => workerPort.postMessage(data);
eventPort.addEventListener('up', ({ data }) => workerPort.postMessage(data));
// Chrome runs this script before main.js, which dispatches floor-wanted.
document.addEventListener('floor-wanted', () => {
  document.dispatchEvent(new MessageEvent('floor', { ports: [postedChannel.port2, eventPort] }));
});

/** connect also starts the service worker if it does not run. */
function connect() {
  workerPort = chrome.runtime.connect();
  workerPort.onDisconnect.addListener(connect);
  workerPort.onMessage.addListener((text) => {
    if (text[0] === 'p') workerPort.postMessage(text);
    else if (text[0] === 'd') eventPort.dispatchEvent(new MessageEvent('down', { data: text }));
    else postedChannel.port1.postMessage(text);
  });
}

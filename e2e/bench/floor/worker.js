// The reference extension for benchmarks: the minimum that an extension needs to send text to a page and back. A text
// to the reference extension has the form "<route><id> <payload>". The route selects the part that sends the answer:
//
//   w  this service worker
//   p  the content script, over its runtime port
//   c  the page's main world, over messages on a MessagePort
//   d  the page's main world, over events on a MessagePort, like opentabs
//   b  the page's main world, over messages, with as many characters as the payload requests
//   n  the page's main world, which sends several notes "n<time>"
import { port as serverPort } from './config.js';

let pagePort;
const socket = new WebSocket(`ws://127.0.0.1:${serverPort}/ws`);
socket.onmessage = ({ data }) => {
  if (data[0] === 'w') socket.send(data);
  else pagePort?.postMessage(data);
};
chrome.runtime.onConnect.addListener((port) => {
  pagePort = port;
  port.onMessage.addListener((text) => socket.send(text));
});
// Chrome stops a service worker that receives and sends nothing for 30 s.
setInterval(() => socket.send('l'), 20_000);

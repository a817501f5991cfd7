// The least that an extension can do to bring text to a page and back. A text is
// "<way><id> <payload>"; its first letter says who answers:
//
//   w  this worker
//   p  the content script, over the port
//   c  the page's own world, over a MessagePort that is posted to
//   d  the page's own world, over a port that is used as an event target, as opentabs does
//   b  as c, but with a text of as many characters as the payload asks for
//   n  the page, by itself: it sends notes "n<time>"
import { port as serverPort } from './config.js';

let page;
const socket = new WebSocket(`ws://127.0.0.1:${serverPort}/ws`);
socket.onmessage = ({ data }) => {
  if (data[0] === 'w') socket.send(data);
  else page?.postMessage(data);
};
chrome.runtime.onConnect.addListener((port) => {
  page = port;
  port.onMessage.addListener((text) => socket.send(text));
});
// Chrome stops a worker that gets and sends nothing for 30 s.
setInterval(() => socket.send('l'), 20_000);

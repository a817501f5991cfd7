document.addEventListener('floor', ({ ports: [posted, dispatched] }) => {
  posted.onmessage = ({ data }) => {
    if (data[0] === 'n') sendNotes(posted, argumentsOf(data));
    else if (data[0] === 'b') posted.postMessage(`${data.split(' ', 1)[0]} ${'x'.repeat(argumentsOf(data).bytes)}`);
    else posted.postMessage(data);
  };
  dispatched.addEventListener('down', ({ data }) => dispatched.dispatchEvent(new MessageEvent('up', { data })));
});
document.dispatchEvent(new Event('floor-wanted'));

function argumentsOf(text) {
  return JSON.parse(text.slice(text.indexOf(' '))).params.arguments;
}

/** sendNotes sends the time again and again, as the tool "ticks" of the bench plugin reports it. */
function sendNotes(port, { count, everyMs }) {
  const ahead = clockAhead();
  let sent = 0;
  const next = () => {
    port.postMessage(`n${performance.timeOrigin + performance.now() + ahead}`);
    if (++sent < count) setTimeout(next, everyMs);
  };
  next();
}

/** clockAhead is the same as in the bench plugin's clock.ts. */
function clockAhead() {
  const found = [];
  while (found.length < 15) {
    const before = Date.now();
    while (Date.now() === before);
    found.push(Date.now() - performance.timeOrigin - performance.now());
  }
  return found.sort((a, b) => a - b)[7];
}

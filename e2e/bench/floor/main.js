document.addEventListener('floor', ({ ports: [postedPort, eventPort] }) => {
  postedPort.onmessage = ({ data }) => {
    if (data[0] === 'n') sendNotes(postedPort, parseArguments(data));
    else if (data[0] === 'b')
      postedPort.postMessage(`${data.split(' ', 1)[0]} ${'x'.repeat(parseArguments(data).bytes)}`);
    else postedPort.postMessage(data);
  };
  eventPort.addEventListener('down', ({ data }) => eventPort.dispatchEvent(new MessageEvent('up', { data })));
});
document.dispatchEvent(new Event('floor-wanted'));

function parseArguments(text) {
  return JSON.parse(text.slice(text.indexOf(' '))).params.arguments;
}

/** sendNotes sends the current time several times, like the tool "ticks" of the bench plugin. */
function sendNotes(port, { count, everyMs }) {
  const clockLead = measureClockLead();
  let sent = 0;
  const sendNext = () => {
    port.postMessage(`n${performance.timeOrigin + performance.now() + clockLead}`);
    if (++sent < count) setTimeout(sendNext, everyMs);
  };
  sendNext();
}

/** measureClockLead is a copy of the function in the bench plugin's clock.ts. */
function measureClockLead() {
  const leads = [];
  while (leads.length < 15) {
    const before = Date.now();
    while (Date.now() === before);
    leads.push(Date.now() - performance.timeOrigin - performance.now());
  }
  return leads.sort((a, b) => a - b)[7];
}

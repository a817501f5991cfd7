// Renders the state that the worker sends in the side panel, and sends the user's actions to the worker. The side panel
// stores only unsaved input and the switch "Show everything".

import { render } from 'preact';
import type { FailedPluginView, PluginView } from '../../../wire/wire.gen.ts';
import { connectPanel, type Port, readSetting, writeSetting } from '../chrome.ts';
import { isToPanel, type PanelState, type ToPanel } from '../panel-message.ts';
import { type PortHandlers, route } from '../port-router.ts';
import { Panel } from './panel.tsx';
import { makeRequests } from './requests.ts';

/** RetryMs is the delay before a closed port is reopened, in milliseconds. */
const RetryMs = 250;
/** TickMs is the interval at which shown times are updated, in milliseconds. */
const TickMs = 1000;
/** ShowsEverythingKey is the storage key of the switch "Show everything". */
const ShowsEverythingKey = 'showEverything';

let port: Port | undefined;
let state: PanelState | undefined;
let plugins: readonly PluginView[] | undefined;
let failed: readonly FailedPluginView[] = [];
let showsEverything = false;

const requests = makeRequests((message) => {
  port?.postMessage(message);
  return port !== undefined;
});

function setShowsEverything(on: boolean): void {
  showsEverything = on;
  draw();
  void writeSetting(ShowsEverythingKey, on ? 'yes' : 'no');
}

function draw(): void {
  const root = document.getElementById('panel');
  const props = {
    state,
    plugins,
    failed,
    showsEverything,
    setShowsEverything,
    nowMs: Date.now(),
    act: requests.act,
  };
  if (root) render(<Panel {...props} />, root);
}

/** handlers contains one handler for each kind of message of the worker. */
const handlers: PortHandlers<ToPanel> = {
  state: (message) => {
    state = message.state;
    draw();
  },
  plugins: (message) => {
    ({ plugins, failed } = message);
    draw();
  },
  done: ({ requestId, done }) => requests.settle(requestId, done),
};

/**
 * connect opens the port to the service worker. Chrome closes the port when it stops the worker; reopening the port
 * restarts the worker.
 */
function connect(): void {
  const openedPort = connectPanel();
  port = openedPort;
  openedPort.onMessage((message) => {
    if (isToPanel(message)) route(handlers, message.op, message);
  });
  openedPort.onDisconnect(() => {
    port = undefined;
    requests.disconnected();
    setTimeout(connect, RetryMs);
  });
}

connect();
draw();
setInterval(draw, TickMs);
void readSetting(ShowsEverythingKey).then((storedValue) => {
  showsEverything = storedValue === 'yes';
  draw();
});

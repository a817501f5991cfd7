// The side panel: it shows what the worker tells it and sends what the person
// did. It keeps no state of its own but what is being typed or pressed.

import { render } from 'preact';
import { connectPanel, type Port } from '../chrome.ts';
import { type FromPanel, isPanelState, type PanelState } from '../panel-message.ts';
import { Panel } from './panel.tsx';

/** RetryMs is the time until a port that closed is opened anew, in milliseconds. */
const RetryMs = 250;

let port: Port | undefined;
let state: PanelState | undefined;

function act(action: FromPanel): void {
  port?.postMessage(action);
}

function draw(): void {
  const root = document.getElementById('panel');
  if (root) render(<Panel state={state} now={Date.now()} act={act} />, root);
}

/** connect opens the port; Chrome closes it when it stops the worker, and a new one starts the worker again. */
function connect(): void {
  const opened = connectPanel();
  port = opened;
  opened.onMessage((message) => {
    if (!isPanelState(message)) return;
    state = message;
    draw();
  });
  opened.onDisconnect(() => {
    port = undefined;
    setTimeout(connect, RetryMs);
  });
}

connect();
draw();
// Running calls show how long they have run.
setInterval(() => {
  if (state && state.running > 0) draw();
}, 1000);

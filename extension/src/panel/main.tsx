// The side panel: it shows what the worker tells it and sends what the person
// did. It keeps no state of its own but what is being typed or pressed, and
// the switch.

import { render } from 'preact';
import type { FailedView, PluginView } from '../../../wire/wire.gen.ts';
import { connectPanel, type Port, readSetting, writeSetting } from '../chrome.ts';
import { isToPanel, type PanelState } from '../panel-message.ts';
import { Panel } from './panel.tsx';
import { makeRequests } from './requests.ts';

/** RetryMs is the time until a port that closed is opened anew, in milliseconds. */
const RetryMs = 250;
/** TickMs is how often times are drawn anew, in milliseconds. */
const TickMs = 1000;
/** EverythingKey is where the switch is kept. */
const EverythingKey = 'showEverything';

let port: Port | undefined;
let state: PanelState | undefined;
let plugins: readonly PluginView[] | undefined;
let failed: readonly FailedView[] = [];
let everything = false;

const requests = makeRequests((message) => {
  port?.postMessage(message);
  return port !== undefined;
});

function showEverything(on: boolean): void {
  everything = on;
  draw();
  void writeSetting(EverythingKey, on ? 'yes' : 'no');
}

function draw(): void {
  const root = document.getElementById('panel');
  const props = { state, plugins, failed, everything, showEverything, now: Date.now(), act: requests.act };
  if (root) render(<Panel {...props} />, root);
}

/** connect opens the port; Chrome closes it when it stops the worker, and a new one starts the worker again. */
function connect(): void {
  const opened = connectPanel();
  port = opened;
  opened.onMessage((message) => {
    if (!isToPanel(message)) return;
    if (message.op === 'done') {
      requests.done(message.ask, message.done);
      return;
    }
    if (message.op === 'state') state = message.state;
    else ({ plugins, failed } = message);
    draw();
  });
  opened.onDisconnect(() => {
    port = undefined;
    requests.lost();
    setTimeout(connect, RetryMs);
  });
}

connect();
draw();
setInterval(draw, TickMs);
void readSetting(EverythingKey).then((kept) => {
  everything = kept === 'yes';
  draw();
});

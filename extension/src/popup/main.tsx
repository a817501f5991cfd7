// Renders the popup of the toolbar icon. The popup receives the same state from the worker as a side panel.

import { render } from 'preact';
import type { CallView } from '../../../wire/wire.gen.ts';
import { connectPopup, openPanel, type Port, readCurrentWindow } from '../chrome.ts';
import { makeRequests, type SendAction } from '../panel/requests.ts';
import { isToPanel, type PanelState } from '../panel-message.ts';
import { Popup } from './popup.tsx';

const ReconnectDelayMs = 250;
const RenderIntervalMs = 1000;
const MaxEndedCalls = 50;

let port: Port | undefined;
let state: PanelState | undefined;
/** The popup keeps the card of a call that has just ended, to explain why the call no longer needs a decision. */
let endedCalls: readonly CallView[] = [];
let windowId: number | undefined;

const requests = makeRequests((message) => {
  port?.postMessage(message);
  return port !== undefined;
});

/**
 * The function `act` marks each decision as made in the popup, so that the audit and other surfaces show where the user
 * decided.
 */
const act: SendAction = (action) =>
  requests.act(action.op === 'decide' ? { ...action, params: { ...action.params, surface: 'popup' } } : action);

/** Chrome allows a script to open the side panel only during a click or a key press of the user. */
function showPanel(): void {
  if (windowId === undefined) return;
  void openPanel(windowId).then(() => window.close());
}

function renderPopup(): void {
  const root = document.getElementById('popup');
  if (root) render(<Popup state={state} ended={endedCalls} nowMs={Date.now()} act={act} openPanel={showPanel} />, root);
}

/** Reopening the port restarts a service worker that Chrome has stopped. */
function connectToWorker(): void {
  const openedPort = connectPopup();
  port = openedPort;
  openedPort.onMessage((message) => {
    if (!isToPanel(message)) return;
    if (message.op === 'state') {
      ({ state } = message);
      endedCalls = [...message.ended, ...endedCalls].slice(0, MaxEndedCalls);
      renderPopup();
    }
    if (message.op === 'done') requests.settleRequest(message.requestId, message.done);
  });
  openedPort.onDisconnect(() => {
    port = undefined;
    requests.rejectAll();
    setTimeout(connectToWorker, ReconnectDelayMs);
  });
}

void readCurrentWindow().then((id) => {
  windowId = id;
});
connectToWorker();
renderPopup();
setInterval(renderPopup, RenderIntervalMs);

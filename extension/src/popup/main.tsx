// Renders the popup of the toolbar icon. The worker sends the popup the same state as the side panel.

import { render } from 'preact';
import type { CallView } from '../../../wire/wire.gen.ts';
import { connectPopup, openPanel, type Port, readCurrentWindow } from '../chrome.ts';
import { makeRequests, type SendAction } from '../panel/requests.ts';
import { isWorkerToPanelMessage, type PanelState } from '../panel-message.ts';
import { Popup } from './popup.tsx';

const ReconnectDelayMs = 250;
const RenderIntervalMs = 1000;
const MaxEndedCalls = 50;

let port: Port | undefined;
let panelState: PanelState | undefined;
/** The popup shows the card of an ended call to explain why the call no longer needs a decision. */
let endedCalls: readonly CallView[] = [];
let windowId: number | undefined;

const requests = makeRequests((panelMessage) => {
  port?.postMessage(panelMessage);
  return port !== undefined;
});

/**
 * sendAction marks each decision as made in the popup, so that the audit and other surfaces show where the user
 * decided.
 */
const sendAction: SendAction = (action) =>
  requests.sendAction(action.op === 'decide' ? { ...action, params: { ...action.params, surface: 'popup' } } : action);

/** Chrome allows a script to open the side panel only during a click or a key press of the user. */
function showPanel(): void {
  if (windowId === undefined) return;
  void openPanel(windowId).then(() => window.close());
}

function renderPopup(): void {
  const rootElement = document.getElementById('popup');
  if (rootElement)
    render(
      <Popup
        panelState={panelState}
        endedCalls={endedCalls}
        nowMs={Date.now()}
        sendAction={sendAction}
        openPanel={showPanel}
      />,
      rootElement,
    );
}

/** Reopening the port restarts a service worker that Chrome has stopped. */
function connectToWorker(): void {
  const openedPort = connectPopup();
  port = openedPort;
  openedPort.onMessage((panelMessage) => {
    if (!isWorkerToPanelMessage(panelMessage)) return;
    if (panelMessage.op === 'state') {
      ({ state: panelState } = panelMessage);
      endedCalls = [...panelMessage.ended, ...endedCalls].slice(0, MaxEndedCalls);
      renderPopup();
    }
    if (panelMessage.op === 'done') requests.settleRequest(panelMessage.requestId, panelMessage.done);
  });
  openedPort.onDisconnect(() => {
    port = undefined;
    requests.failPendingRequests();
    setTimeout(connectToWorker, ReconnectDelayMs);
  });
}

void readCurrentWindow().then((id) => {
  windowId = id;
});
connectToWorker();
renderPopup();
setInterval(renderPopup, RenderIntervalMs);

import type { Action, ActionResult } from '../../panel-message.ts';
import { type PortHandlers, routeMessage } from '../../port-router.ts';
import type { ServerLink } from '../link/link.ts';

export interface PanelActionsOptions {
  readonly link: Pick<ServerLink, 'request' | 'restart'>;
  reloadTab(tabId: number): Promise<void>;
  activateTab(tabId: number): Promise<void>;
  openDetails(): Promise<void>;
  allowDebugger(): Promise<void>;
  /** stopSuspendedTools stops the actions that a dialog has suspended in a tab, and returns true if there were any. */
  stopSuspendedTools(tabId: number): boolean;
  renameBrowser(name: string): Promise<void>;
  pairAgain(): Promise<void>;
  setPort(port: number): Promise<void>;
}

/** makePanelActions returns a function that rejects with an error message for the user if an action fails. */
export function makePanelActions(options: PanelActionsOptions): (action: Action) => Promise<ActionResult> {
  const { link, reloadTab, activateTab, openDetails, allowDebugger, renameBrowser, pairAgain, setPort } = options;
  /** The client's hold of the tab may have ended while a dialog suspended its action, so the server may know no client. */
  const releaseTab = async (tabId: number): Promise<void> => {
    const hasStopped = options.stopSuspendedTools(tabId);
    await link.request('tab.release', { tabId }).catch((error: unknown) => {
      if (!hasStopped) throw error;
    });
  };
  const toActionResult = (actionPromise: Promise<unknown>): Promise<ActionResult> => actionPromise.then(() => ({}));
  const handlers: PortHandlers<Action, [], Promise<ActionResult>> = {
    stop: ({ callId }) => toActionResult(link.request('call.cancel', { callId })),
    decide: async ({ params }) => ({ decided: await link.request('call.decide', params) }),
    history: async ({ params }) => ({ history: await link.request('calls.history', params) }),
    inspectCall: async ({ callId }) => ({ call: await link.request('call.inspect', { callId }) }),
    repeat: ({ callId }) => toActionResult(link.request('call.repeat', { callId })),
    undo: ({ callId }) => toActionResult(link.request('call.undo', { callId })),
    permission: ({ params }) => toActionResult(link.request('config.permission', params)),
    review: ({ params }) => toActionResult(link.request('config.review', params)),
    inspectPlugin: async ({ plugin }) => ({ inspected: await link.request('plugin.inspect', { plugin }) }),
    pluginPage: async ({ params }) => ({ page: await link.request('plugin.page', params) }),
    installPlugin: async (action) => ({
      installed: await link.request('plugin.install', { package: action.package }),
    }),
    updatePlugin: async ({ plugin }) => ({ updated: await link.request('plugin.update', { plugin }) }),
    removePlugin: ({ plugin }) => toActionResult(link.request('plugin.remove', { plugin })),
    settings: ({ params }) => toActionResult(link.request('config.settings', params)),
    opening: ({ params }) => toActionResult(link.request('config.opening', params)),
    calls: ({ params }) => toActionResult(link.request('config.calls', params)),
    lateAccess: ({ params }) => toActionResult(link.request('config.lateAccess', params)),
    browserTools: ({ params }) => toActionResult(link.request('config.browserTools', params)),
    site: ({ params }) => toActionResult(link.request('config.site', params)),
    release: ({ tabId }) => toActionResult(releaseTab(tabId)),
    reload: ({ tabId }) => toActionResult(reloadTab(tabId)),
    show: ({ tabId }) => toActionResult(activateTab(tabId)),
    rename: ({ name }) => toActionResult(renameBrowser(name).then(() => link.restart())),
    pairAgain: () => toActionResult(pairAgain().then(() => link.restart())),
    port: ({ port }) => toActionResult(setPort(port).then(() => link.restart())),
    retry: async () => {
      link.restart();
      return {};
    },
    details: () => toActionResult(openDetails()),
    allowDebugger: () => toActionResult(allowDebugger()),
  };
  return async (action) => routeMessage(handlers, action.op, action);
}

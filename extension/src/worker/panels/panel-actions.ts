import type { Action, ActionResult } from '../../panel-message.ts';
import { type PortHandlers, routeMessage } from '../../port-router.ts';
import type { Link } from '../link/link.ts';

export interface PanelActionsOptions {
  readonly link: Pick<Link, 'request' | 'restart'>;
  reloadTab(tabId: number): Promise<void>;
  activateTab(tabId: number): Promise<void>;
  openDetails(): Promise<void>;
  allowDebugger(): Promise<void>;
  renameBrowser(name: string): Promise<void>;
  pairAgain(): Promise<void>;
  setPort(port: number): Promise<void>;
}

/** makePanelActions returns a function that rejects with an error message for the user if an action fails. */
export function makePanelActions(options: PanelActionsOptions): (action: Action) => Promise<ActionResult> {
  const { link, reloadTab, activateTab, openDetails, allowDebugger, renameBrowser, pairAgain, setPort } = options;
  const toDone = (work: Promise<unknown>): Promise<ActionResult> => work.then(() => ({}));
  const handlers: PortHandlers<Action, [], Promise<ActionResult>> = {
    stop: ({ callId }) => toDone(link.request('call.cancel', { callId })),
    decide: async ({ params }) => ({ decided: await link.request('call.decide', params) }),
    history: async ({ params }) => ({ history: await link.request('calls.history', params) }),
    inspectCall: async ({ callId }) => ({ call: await link.request('call.inspect', { callId }) }),
    repeat: ({ callId }) => toDone(link.request('call.repeat', { callId })),
    undo: ({ callId }) => toDone(link.request('call.undo', { callId })),
    permission: ({ params }) => toDone(link.request('config.permission', params)),
    review: ({ params }) => toDone(link.request('config.review', params)),
    inspectPlugin: async ({ plugin }) => ({ inspected: await link.request('plugin.inspect', { plugin }) }),
    pluginPage: async ({ params }) => ({ page: await link.request('plugin.page', params) }),
    installPlugin: async (action) => ({
      installed: await link.request('plugin.install', { package: action.package }),
    }),
    updatePlugin: async ({ plugin }) => ({ updated: await link.request('plugin.update', { plugin }) }),
    removePlugin: ({ plugin }) => toDone(link.request('plugin.remove', { plugin })),
    settings: ({ params }) => toDone(link.request('config.settings', params)),
    opening: ({ params }) => toDone(link.request('config.opening', params)),
    calls: ({ params }) => toDone(link.request('config.calls', params)),
    lateAccess: ({ params }) => toDone(link.request('config.lateAccess', params)),
    browserTools: ({ params }) => toDone(link.request('config.browserTools', params)),
    site: ({ params }) => toDone(link.request('config.site', params)),
    release: ({ tabId }) => toDone(link.request('tab.release', { tabId })),
    reload: ({ tabId }) => toDone(reloadTab(tabId)),
    show: ({ tabId }) => toDone(activateTab(tabId)),
    rename: ({ name }) => toDone(renameBrowser(name).then(() => link.restart())),
    pairAgain: () => toDone(pairAgain().then(() => link.restart())),
    port: ({ port }) => toDone(setPort(port).then(() => link.restart())),
    retry: async () => {
      link.restart();
      return {};
    },
    details: () => toDone(openDetails()),
    allowDebugger: () => toDone(allowDebugger()),
  };
  return async (action) => routeMessage(handlers, action.op, action);
}

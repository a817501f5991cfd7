import type { Action, ActionResult } from '../../panel-message.ts';
import { type PortHandlers, route } from '../../port-router.ts';
import type { Link } from '../link/link.ts';

export interface PanelActionsOptions {
  readonly link: Pick<Link, 'request' | 'restart'>;
  reloadTab(tabId: number): Promise<void>;
  showTab(tabId: number): Promise<void>;
  openDetails(): Promise<void>;
  allowDebugger(): Promise<void>;
  rename(name: string): Promise<void>;
}

/**
 * makePanelActions returns a function that runs the user's actions in the side panel. The function rejects with an
 * error for the user.
 */
export function makePanelActions(options: PanelActionsOptions): (action: Action) => Promise<ActionResult> {
  const { link, reloadTab, showTab, openDetails, allowDebugger, rename } = options;
  /** toDone returns the answer to an action without a result. */
  const toDone = (work: Promise<unknown>): Promise<ActionResult> => work.then(() => ({}));
  const handlers: PortHandlers<Action, [], Promise<ActionResult>> = {
    stop: ({ callId }) => toDone(link.request('call.cancel', { callId })),
    decide: async ({ params }) => ({ decided: await link.request('call.decide', params) }),
    permission: ({ params }) => toDone(link.request('config.permission', params)),
    review: ({ params }) => toDone(link.request('config.review', params)),
    settings: ({ params }) => toDone(link.request('config.settings', params)),
    opening: ({ params }) => toDone(link.request('config.opening', params)),
    calls: ({ params }) => toDone(link.request('config.calls', params)),
    lateAccess: ({ params }) => toDone(link.request('config.lateAccess', params)),
    reload: ({ tabId }) => toDone(reloadTab(tabId)),
    show: ({ tabId }) => toDone(showTab(tabId)),
    rename: ({ name }) => toDone(rename(name).then(() => link.restart())),
    retry: async () => {
      link.restart();
      return {};
    },
    details: () => toDone(openDetails()),
    allowDebugger: () => toDone(allowDebugger()),
  };
  return async (action) => route(handlers, action.op, action);
}

import type { Action, Done } from '../../panel-message.ts';
import { type PortHandlers, route } from '../../port-router.ts';
import type { Link } from '../link/link.ts';

export interface PanelActionsOptions {
  readonly link: Pick<Link, 'request' | 'restart'>;
  reloadTab(tabId: number): Promise<void>;
  showTab(tabId: number): Promise<void>;
  openDetails(): Promise<void>;
  rename(name: string): Promise<void>;
}

/**
 * makePanelActions returns a function that runs the user's actions in the side panel. The function rejects with an
 * error for the user.
 */
export function makePanelActions(options: PanelActionsOptions): (action: Action) => Promise<Done> {
  const { link, reloadTab, showTab, openDetails, rename } = options;
  /** done returns the answer to an action without a result. */
  const done = (work: Promise<unknown>): Promise<Done> => work.then(() => ({}));
  const handlers: PortHandlers<Action, [], Promise<Done>> = {
    stop: ({ callId }) => done(link.request('call.cancel', { callId })),
    decide: async ({ params }) => ({ decided: await link.request('call.decide', params) }),
    permission: ({ params }) => done(link.request('config.permission', params)),
    review: ({ params }) => done(link.request('config.review', params)),
    settings: ({ params }) => done(link.request('config.settings', params)),
    opening: ({ params }) => done(link.request('config.opening', params)),
    calls: ({ params }) => done(link.request('config.calls', params)),
    lateAccess: ({ params }) => done(link.request('config.lateAccess', params)),
    reload: ({ tabId }) => done(reloadTab(tabId)),
    show: ({ tabId }) => done(showTab(tabId)),
    rename: ({ name }) => done(rename(name).then(() => link.restart())),
    retry: async () => {
      link.restart();
      return {};
    },
    details: () => done(openDetails()),
  };
  return async (action) => route(handlers, action.op, action);
}

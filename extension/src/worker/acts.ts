import type { Action, Done } from '../panel-message.ts';
import type { Link } from './link.ts';

export interface ActsOptions {
  readonly link: Pick<Link, 'request' | 'restart'>;
  reloadTab(tabId: number): Promise<void>;
  showTab(tabId: number): Promise<void>;
  openDetails(): Promise<void>;
  rename(name: string): Promise<void>;
}

/** makeActs returns what acts on what a person did in the side panel. It rejects with a sentence for the person. */
export function makeActs({
  link,
  reloadTab,
  showTab,
  openDetails,
  rename,
}: ActsOptions): (action: Action) => Promise<Done> {
  return async (action) => {
    switch (action.op) {
      case 'stop':
        await link.request('call.cancel', { callId: action.callId });
        return {};
      case 'decide':
        return { decided: await link.request('call.decide', action.params) };
      case 'permission':
        await link.request('config.permission', action.params);
        return {};
      case 'review':
        await link.request('config.review', action.params);
        return {};
      case 'settings':
        await link.request('config.settings', action.params);
        return {};
      case 'opening':
        await link.request('config.opening', action.params);
        return {};
      case 'calls':
        await link.request('config.calls', action.params);
        return {};
      case 'lateAccess':
        await link.request('config.lateAccess', action.params);
        return {};
      case 'reload':
        await reloadTab(action.tabId);
        return {};
      case 'show':
        await showTab(action.tabId);
        return {};
      case 'rename':
        await rename(action.name);
        link.restart();
        return {};
      case 'retry':
        link.restart();
        return {};
      case 'details':
        await openDetails();
        return {};
    }
  };
}

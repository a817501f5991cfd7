// Loads recorded calls from the server, including calls from before the server's last restart.

import type { CallsFilter, RecordedCall } from '../../../wire/wire.gen.ts';
import type { SendAction } from './requests.ts';

const CallsPerPage = 100;

export interface CallHistory {
  /** hasOlderCalls is false once the panel has loaded the oldest recorded call. */
  readonly hasOlderCalls: boolean;
  /** onConnected loads the newest page, which contains the calls that a crash of the server interrupted. */
  onConnected(): Promise<void>;
  /**
   * loadOlder loads older pages until a page contains a call that the panel does not have. If loading fails, loadOlder
   * returns the reason as a sentence.
   */
  loadOlder(): Promise<string | undefined>;
  loadNewest(): Promise<void>;
  /**
   * searchCalls loads one page of the recorded calls that match a filter. A page of results may be empty although older
   * recorded calls match the filter.
   */
  searchCalls(filter: CallsFilter, beforeCallId?: string): Promise<HistoryPage>;
}

export interface HistoryPage {
  readonly calls: readonly RecordedCall[];
  /** nextPage is the position of the next page, or undefined if there are no older calls. */
  readonly nextPage: string | undefined;
  readonly error: string | undefined;
}

export function makeHistory(
  sendAction: SendAction,
  receivePage: (page: readonly RecordedCall[]) => boolean,
): CallHistory {
  let nextPage: string | undefined;
  let hasOlderCalls = true;
  let isFirstLoaded = false;
  const readHistoryPage = async (beforeCallId: string | undefined, filter?: CallsFilter): Promise<HistoryPage> => {
    const position = beforeCallId === undefined ? {} : { before: beforeCallId };
    const params = { limit: CallsPerPage, ...position, ...(filter ? { filter } : {}) };
    const { error, history } = await sendAction({ op: 'history', params });
    return { error, calls: history?.calls ?? [], nextPage: history?.next };
  };
  const loadPage = async (
    beforeCallId: string | undefined,
  ): Promise<HistoryPage & { readonly hasNewCalls: boolean }> => {
    const page = await readHistoryPage(beforeCallId);
    return { ...page, hasNewCalls: page.calls.length > 0 && receivePage(page.calls) };
  };
  const loadNextPage = async () => {
    const page = await loadPage(nextPage);
    if (page.error === undefined) {
      nextPage = page.nextPage;
      hasOlderCalls = nextPage !== undefined;
    }
    return page;
  };
  return {
    get hasOlderCalls() {
      return hasOlderCalls;
    },
    onConnected: async () => {
      const page = await (isFirstLoaded ? loadPage(undefined) : loadNextPage());
      isFirstLoaded ||= page.error === undefined;
    },
    loadOlder: async () => {
      // A page of recorded calls may be empty, because the server reads only a limited part of its files per request.
      for (;;) {
        const page = await loadNextPage();
        if (page.error !== undefined) return page.error;
        if (page.hasNewCalls || !hasOlderCalls) return undefined;
      }
    },
    loadNewest: async () => {
      await loadPage(undefined);
    },
    searchCalls: (filter, beforeCallId) => readHistoryPage(beforeCallId, filter),
  };
}

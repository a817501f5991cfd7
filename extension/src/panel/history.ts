// Loads recorded calls from the server, including calls from before the server's last restart.

import type { CallsFilter, RecordedCall } from '../../../wire/wire.gen.ts';
import type { SendAction } from './requests.ts';

/** PageSize is the number of recorded calls in one request. */
const PageSize = 100;

/** History loads recorded calls in pages, newest first. */
export interface History {
  /** hasOlder is false once the panel has loaded the oldest recorded call. */
  readonly hasOlder: boolean;
  /**
   * onConnected loads the newest page each time the panel connects to the server. After a crash of the server, the
   * newest page contains the calls that the crash interrupted.
   */
  onConnected(): Promise<void>;
  /**
   * loadOlder loads older pages until one contains a call that is new to the panel. If loading fails, loadOlder returns
   * the reason as a sentence.
   */
  loadOlder(): Promise<string | undefined>;
  /** loadNewest reloads the page with the newest recorded calls, which include the calls that have just ended. */
  loadNewest(): Promise<void>;
  /**
   * search loads one page of the recorded calls that match a filter. `before` is the field `next` of the previous page.
   * A page of results may be empty although older recorded calls match the filter.
   */
  search(filter: CallsFilter, before?: string): Promise<HistoryPage>;
}

/** HistoryPage is one page of recorded calls that match a filter, newest first. */
export interface HistoryPage {
  readonly calls: readonly RecordedCall[];
  /** next is the position of the next page, or undefined if there are no older calls. */
  readonly next: string | undefined;
  /** error is the reason why the search failed, as a sentence. */
  readonly error: string | undefined;
}

/**
 * makeHistory returns a History that passes each loaded page to receive. receive returns whether the page contains a
 * call that is new to the panel.
 */
export function makeHistory(act: SendAction, receive: (page: readonly RecordedCall[]) => boolean): History {
  let next: string | undefined;
  let hasOlder = true;
  let isFirstLoaded = false;
  const readHistoryPage = async (before: string | undefined, filter?: CallsFilter): Promise<HistoryPage> => {
    const position = before === undefined ? {} : { before };
    const params = { limit: PageSize, ...position, ...(filter ? { filter } : {}) };
    const { error, history } = await act({ op: 'history', params });
    return { error, calls: history?.calls ?? [], next: history?.next };
  };
  /**
   * load loads one page of recorded calls. hasNew is true if the panel did not already show every call of the page.
   */
  const load = async (before: string | undefined): Promise<HistoryPage & { readonly hasNew: boolean }> => {
    const page = await readHistoryPage(before);
    return { ...page, hasNew: page.calls.length > 0 && receive(page.calls) };
  };
  /** loadNext loads the next page of recorded calls, which are older than the calls in all loaded pages. */
  const loadNext = async () => {
    const page = await load(next);
    if (page.error === undefined) {
      next = page.next;
      hasOlder = next !== undefined;
    }
    return page;
  };
  return {
    get hasOlder() {
      return hasOlder;
    },
    onConnected: async () => {
      const page = await (isFirstLoaded ? load(undefined) : loadNext());
      isFirstLoaded ||= page.error === undefined;
    },
    loadOlder: async () => {
      // A page of recorded calls may contain no calls, because the server reads only a limited part of its files per
      // request. The panel may already show all calls of a page, because the server sends the newest calls when the
      // panel opens.
      for (;;) {
        const page = await loadNext();
        if (page.error !== undefined) return page.error;
        if (page.hasNew || !hasOlder) return undefined;
      }
    },
    loadNewest: async () => {
      await load(undefined);
    },
    search: (filter, before) => readHistoryPage(before, filter),
  };
}

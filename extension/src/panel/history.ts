// Loads recorded calls from the server, including calls from before the server's last restart.

import type { CallsFilter, RecordedCall } from '../../../wire/wire.gen.ts';
import type { SendAction } from './requests.ts';

const PageSize = 100;

export interface History {
  /** hasOlder is false once the panel has loaded the oldest recorded call. */
  readonly hasOlder: boolean;
  /** onConnected loads the newest page, which contains the calls that a crash of the server interrupted. */
  onConnected(): Promise<void>;
  /**
   * loadOlder loads older pages until one contains a call that is new to the panel. If loading fails, loadOlder returns
   * the reason as a sentence.
   */
  loadOlder(): Promise<string | undefined>;
  loadNewest(): Promise<void>;
  /**
   * The method `search` loads one page of the recorded calls that match a filter. A page of results may be empty
   * although older recorded calls match the filter.
   */
  search(filter: CallsFilter, before?: string): Promise<HistoryPage>;
}

export interface HistoryPage {
  readonly calls: readonly RecordedCall[];
  /** The field `next` is the position of the next page, or undefined if there are no older calls. */
  readonly next: string | undefined;
  readonly error: string | undefined;
}

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
  const load = async (before: string | undefined): Promise<HistoryPage & { readonly hasNew: boolean }> => {
    const page = await readHistoryPage(before);
    return { ...page, hasNew: page.calls.length > 0 && receive(page.calls) };
  };
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
      // A page of recorded calls may be empty, because the server reads only a limited part of its files per request.
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

// Loads recorded calls from the server. The server's recorder also has the calls from before a restart of the
// server.

import type { CallsFilter, RecordedCall } from '../../../wire/wire.gen.ts';
import type { Act } from './requests.ts';

/** PageSize is the number of recorded calls in one request. */
const PageSize = 100;

/** History loads recorded calls in pages, newest first. */
export interface History {
  /** hasOlder is false after the oldest recorded call was loaded. */
  readonly hasOlder: boolean;
  /** loadFirst loads the newest page, whose calls the panel may already have. */
  loadFirst(): Promise<void>;
  /**
   * loadOlder loads older calls until the panel has a call that it lacked, and returns a sentence with the reason if
   * the load fails.
   */
  loadOlder(): Promise<string | undefined>;
  /** loadNewest loads the records of calls that have just ended. */
  loadNewest(): Promise<void>;
  /**
   * search reads one page of the recorded calls that a filter selects. `before` is the `next` of the previous page. A
   * page may have no calls although older calls match.
   */
  search(filter: CallsFilter, before?: string): Promise<FoundPage>;
}

/** FoundPage is one page of the recorded calls that a filter selects, newest first. */
export interface FoundPage {
  readonly calls: readonly RecordedCall[];
  /** next is undefined if there are no older calls. */
  readonly next: string | undefined;
  /** error is a sentence with the reason why the search failed. */
  readonly error: string | undefined;
}

/**
 * makeHistory makes a History that passes each page of recorded calls to receive. receive returns whether the page
 * has a call that the panel lacked.
 */
export function makeHistory(act: Act, receive: (page: readonly RecordedCall[]) => boolean): History {
  let next: string | undefined;
  let hasOlder = true;
  const readPage = async (before: string | undefined, filter?: CallsFilter): Promise<FoundPage> => {
    const position = before === undefined ? {} : { before };
    const params = { limit: PageSize, ...position, ...(filter ? { filter } : {}) };
    const { error, history } = await act({ op: 'history', params });
    return { error, calls: history?.calls ?? [], next: history?.next };
  };
  /** load loads one page of recorded calls. hasNew is whether the page has a call that the panel lacked. */
  const load = async (before: string | undefined): Promise<FoundPage & { readonly hasNew: boolean }> => {
    const page = await readPage(before);
    return { ...page, hasNew: page.calls.length > 0 && receive(page.calls) };
  };
  /** loadNext loads the page after the last one. */
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
    loadFirst: async () => {
      await loadNext();
    },
    loadOlder: async () => {
      // A page may be empty, because the server reads only a limited part of its recorded files for one page. The
      // panel may also have all calls of a page, because the server sends the newest calls when the panel opens.
      for (;;) {
        const page = await loadNext();
        if (page.error !== undefined) return page.error;
        if (page.hasNew || !hasOlder) return undefined;
      }
    },
    loadNewest: async () => {
      await load(undefined);
    },
    search: (filter, before) => readPage(before, filter),
  };
}

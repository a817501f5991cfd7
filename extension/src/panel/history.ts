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
  /** loadOlder loads the next page of older calls, and returns a sentence with the reason if the load fails. */
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

/** makeHistory makes a History that passes each page of recorded calls to receive. */
export function makeHistory(act: Act, receive: (page: readonly RecordedCall[]) => void): History {
  let next: string | undefined;
  let hasOlder = true;
  const readPage = async (before: string | undefined, filter?: CallsFilter): Promise<FoundPage> => {
    const position = before === undefined ? {} : { before };
    const params = { limit: PageSize, ...position, ...(filter ? { filter } : {}) };
    const { error, history } = await act({ op: 'history', params });
    return { error, calls: history?.calls ?? [], next: history?.next };
  };
  /** load loads one page of recorded calls, and returns the page. */
  const load = async (before: string | undefined): Promise<FoundPage> => {
    const page = await readPage(before);
    if (page.calls.length > 0) receive(page.calls);
    return page;
  };
  return {
    get hasOlder() {
      return hasOlder;
    },
    loadOlder: async () => {
      // A page may be empty, because the server reads only a limited part of its recorded files for one page.
      for (;;) {
        const page = await load(next);
        if (page.error !== undefined) return page.error;
        next = page.next;
        hasOlder = next !== undefined;
        if (page.calls.length > 0 || !hasOlder) return undefined;
      }
    },
    loadNewest: async () => {
      await load(undefined);
    },
    search: (filter, before) => readPage(before, filter),
  };
}

// Loads recorded calls from the server. The server's recorder also has the calls from before a restart of the
// server.

import type { RecordedCall } from '../../../wire/wire.gen.ts';
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
}

/** makeHistory makes a History that passes each page of recorded calls to receive. */
export function makeHistory(act: Act, receive: (page: readonly RecordedCall[]) => void): History {
  let next: string | undefined;
  let hasOlder = true;
  /** load loads one page of recorded calls, and returns the number of calls in the page. */
  const load = async (before: string | undefined) => {
    const { error, history } = await act({
      op: 'history',
      params: { limit: PageSize, ...(before === undefined ? {} : { before }) },
    });
    const calls = history?.calls ?? [];
    if (calls.length > 0) receive(calls);
    return { error, count: calls.length, next: history?.next };
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
        if (page.count > 0 || !hasOlder) return undefined;
      }
    },
    loadNewest: async () => {
      await load(undefined);
    },
  };
}

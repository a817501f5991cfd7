// Loads the calls of the server's recorder, which also has the calls from before a restart of the server.

import type { RecordedCall } from '../../../wire/wire.gen.ts';
import type { Act } from './requests.ts';

/** PageSize is the number of calls in one request. */
const PageSize = 100;

/** History loads recorded calls, newest first. */
export interface History {
  /** hasOlder is false after the oldest call was loaded. */
  readonly hasOlder: boolean;
  /** loadOlder loads the next page. loadOlder returns the reason of a failure as a sentence. */
  loadOlder(): Promise<string | undefined>;
  /** loadNewest loads the records of calls that have just ended. */
  loadNewest(): Promise<void>;
}

/** makeHistory returns a History. receive gets each page. */
export function makeHistory(act: Act, receive: (page: readonly RecordedCall[]) => void): History {
  let next: string | undefined;
  let hasOlder = true;
  /** load loads one page, and returns the number of its calls. */
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
      // The server reads a limited part of its files for one page, so that a page may be empty.
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

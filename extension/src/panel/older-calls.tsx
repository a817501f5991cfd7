import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { ErrorText } from './choice.tsx';
import type { CallHistory } from './history.ts';
import { type CallFilter, filterCalls, type RecentCall, toRecentCall, toRecorderFilter } from './recent.ts';

interface LoadCallsButtonProps {
  readonly buttonCaption: string;
  readonly busyCaption: string;
  loadPage(): Promise<string | undefined>;
}

export function LoadCallsButton({ buttonCaption, busyCaption, loadPage }: LoadCallsButtonProps): VNode {
  const [error, setError] = useState('');
  const [isBusy, setBusy] = useState(false);
  const runLoad = async () => {
    setBusy(true);
    setError((await loadPage()) ?? '');
    setBusy(false);
  };
  return (
    <>
      <button type="button" class="rest" aria-disabled={isBusy} onClick={() => void (isBusy || runLoad())}>
        {isBusy ? busyCaption : buttonCaption}
      </button>
      <ErrorText errorText={error} />
    </>
  );
}

const emptyCalls: readonly RecentCall[] = [];

interface CallSearchResult {
  readonly filter: CallFilter;
  readonly calls: readonly RecentCall[];
  readonly nextPage: string | undefined;
  readonly isComplete: boolean;
}

interface CallSearch {
  readonly calls: readonly RecentCall[];
  /** isComplete is true once the server has no more recorded calls that match the filter. */
  readonly isComplete: boolean;
  searchCalls(): Promise<string | undefined>;
}

export function useCallSearch(history: CallHistory, filter: CallFilter, showsEverything: boolean): CallSearch {
  const emptySearchResult: CallSearchResult = { filter, calls: emptyCalls, nextPage: undefined, isComplete: false };
  const [storedCalls, setStoredCalls] = useState(emptySearchResult);
  const foundCalls = storedCalls.filter === filter ? storedCalls : emptySearchResult;
  const filterRef = useRef(filter);
  filterRef.current = filter;
  const searchCalls = async () => {
    let { calls, nextPage } = foundCalls;
    // A page of results may be empty, because the server reads only a limited part of its files per request.
    while (filterRef.current === filter) {
      const page = await history.searchCalls(toRecorderFilter(filter), nextPage);
      if (page.error !== undefined) return page.error;
      const matches = filterCalls(page.calls.map(toRecentCall), filter, showsEverything);
      calls = [...calls, ...matches];
      nextPage = page.nextPage;
      setStoredCalls({ filter, calls, nextPage, isComplete: nextPage === undefined });
      if (matches.length > 0 || nextPage === undefined) break;
    }
    return undefined;
  };
  return { calls: foundCalls.calls, isComplete: foundCalls.isComplete, searchCalls };
}

import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { ErrorText } from './choice.tsx';
import type { History } from './history.ts';
import { type Filter, filterCalls, fromRecord, type RecentCall, toRecorderFilter } from './recent.ts';

interface LoadButtonProps {
  readonly caption: string;
  readonly busyCaption: string;
  load(): Promise<string | undefined>;
}

export function LoadButton({ caption, busyCaption, load }: LoadButtonProps): VNode {
  const [error, setError] = useState('');
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    setError((await load()) ?? '');
    setBusy(false);
  };
  return (
    <>
      <button type="button" class="rest" aria-disabled={isBusy} onClick={() => void (isBusy || run())}>
        {isBusy ? busyCaption : caption}
      </button>
      <ErrorText text={error} />
    </>
  );
}

const emptyCalls: readonly RecentCall[] = [];

interface FoundCalls {
  readonly filter: Filter;
  readonly calls: readonly RecentCall[];
  readonly next: string | undefined;
  readonly isComplete: boolean;
}

interface CallSearch {
  readonly calls: readonly RecentCall[];
  /** isComplete is true once the server has no more recorded calls that match the filter. */
  readonly isComplete: boolean;
  search(): Promise<string | undefined>;
}

export function useCallSearch(history: History, filter: Filter, showsEverything: boolean): CallSearch {
  const noFoundCalls: FoundCalls = { filter, calls: emptyCalls, next: undefined, isComplete: false };
  const [storedCalls, setFound] = useState(noFoundCalls);
  const foundCalls = storedCalls.filter === filter ? storedCalls : noFoundCalls;
  const filterRef = useRef(filter);
  filterRef.current = filter;
  const search = async () => {
    let { calls, next: nextPage } = foundCalls;
    // A page of results may be empty, because the server reads only a limited part of its files per request.
    while (filterRef.current === filter) {
      const page = await history.search(toRecorderFilter(filter), nextPage);
      if (page.error !== undefined) return page.error;
      const matches = filterCalls(page.calls.map(fromRecord), filter, showsEverything);
      calls = [...calls, ...matches];
      nextPage = page.next;
      setFound({ filter, calls, next: nextPage, isComplete: nextPage === undefined });
      if (matches.length > 0 || nextPage === undefined) break;
    }
    return undefined;
  };
  return { calls: foundCalls.calls, isComplete: foundCalls.isComplete, search };
}

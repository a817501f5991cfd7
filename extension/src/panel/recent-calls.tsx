import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { CallHistory } from './history.ts';
import { memoizeComponent } from './memo.ts';
import { LoadCallsButton, useCallSearch } from './older-calls.tsx';
import {
  type CallFilter,
  type CallGroup,
  canExcludeCalls,
  EmptyFilter,
  filterCalls,
  groupFailures,
  listChoices,
  MaxRecentCalls,
  type RecentCall,
} from './recent.ts';
import { type CallContext, FailureGroup, RecentCallRow } from './recent-call.tsx';
import type { SendAction } from './requests.ts';
import { isBrowserTool, removeHiddenCharacters } from './wording.ts';

const RowsPerPage = 40;
const MinCallsForFilter = 6;

interface RecentCallsProps {
  readonly recentCalls: readonly RecentCall[];
  readonly history: CallHistory;
  /** hasOlderCalls is true if the server may have recorded older calls that the panel has not loaded. */
  readonly hasOlderCalls: boolean;
  readonly showsEverything: boolean;
  readonly sendAction: SendAction;
}

export const RecentCalls = memoizeComponent(function RecentCalls(recentProps: RecentCallsProps): VNode | null {
  const { recentCalls, history, hasOlderCalls, showsEverything, sendAction } = recentProps;
  const [filter, setFilter] = useState(EmptyFilter);
  const [rowLimit, setRowLimit] = useState(RowsPerPage);
  const olderCalls = useCallSearch(history, filter, showsEverything);
  const filteredCalls = useMemo(() => {
    const ids = new Set(recentCalls.map(({ callId }) => callId));
    const foundCalls = olderCalls.calls.filter(({ callId }) => !ids.has(callId));
    return [...filterCalls(recentCalls, filter, showsEverything), ...foundCalls];
  }, [recentCalls, filter, showsEverything, olderCalls.calls]);
  const failureGroups = useMemo(() => groupFailures(filteredCalls), [filteredCalls]);
  if (recentCalls.length === 0) return null;
  const isFiltered = canExcludeCalls(filter);
  const isListFull = recentCalls.length >= MaxRecentCalls;
  const countText = isFiltered ? `${filteredCalls.length} of ${recentCalls.length}` : `${recentCalls.length}`;
  const shownGroups = failureGroups.slice(0, rowLimit);
  const hiddenCount = failureGroups.length - shownGroups.length;
  return (
    <section aria-labelledby="recent">
      <h2 id="recent">
        Recent <span class="count">{olderCalls.calls.length > 0 ? `${filteredCalls.length} found` : countText}</span>
      </h2>
      {(recentCalls.length >= MinCallsForFilter || filter !== EmptyFilter) && (
        <FilterForm recentCalls={recentCalls} filter={filter} setFilter={setFilter} />
      )}
      <p class="unseen" role="status">
        {isFiltered && (olderCalls.calls.length > 0 ? `${filteredCalls.length} calls found` : `${countText} calls`)}
      </p>
      {filteredCalls.length === 0 && (
        <p class="empty">
          {(hasOlderCalls || isListFull) && !olderCalls.isComplete ? 'No shown call matches.' : 'No call matches.'}{' '}
          <button type="button" onClick={() => setFilter(EmptyFilter)}>
            Clear the filter
          </button>
        </p>
      )}
      <ul class="ended">
        {shownGroups.map((failureGroup) => renderCallGroup(failureGroup, { history, showsEverything, sendAction }))}
      </ul>
      {hiddenCount > 0 && (
        <button type="button" class="rest" onClick={() => setRowLimit(rowLimit + RowsPerPage)}>
          Show {Math.min(RowsPerPage, hiddenCount)} more
        </button>
      )}
      {hiddenCount === 0 && !isFiltered && hasOlderCalls && !isListFull && (
        <LoadCallsButton
          buttonCaption="Load older calls"
          busyCaption="Loading older calls"
          loadPage={async () => {
            const error = await history.loadOlder();
            setRowLimit(rowLimit + RowsPerPage);
            return error;
          }}
        />
      )}
      {hiddenCount === 0 && isFiltered && (hasOlderCalls || isListFull) && !olderCalls.isComplete && (
        <LoadCallsButton
          buttonCaption="Search older calls"
          busyCaption="Searching older calls"
          loadPage={olderCalls.searchCalls}
        />
      )}
      {hiddenCount === 0 && !isFiltered && isListFull && (
        <p class="note">These are the newest {MaxRecentCalls} calls. To find older calls, use the filter.</p>
      )}
    </section>
  );
});

/** The oldest call's ID is the React key, so that an expanded group stays expanded when a call is added. */
function renderCallGroup({ firstCall, otherCalls }: CallGroup, context: CallContext): VNode {
  if (otherCalls.length === 0) return <RecentCallRow key={firstCall.callId} call={firstCall} {...context} />;
  return <FailureGroup key={`group ${otherCalls.at(-1)?.callId}`} calls={[firstCall, ...otherCalls]} {...context} />;
}

interface FilterFormProps {
  readonly recentCalls: readonly RecentCall[];
  readonly filter: CallFilter;
  setFilter(filter: CallFilter): void;
}

const FilterForm = memoizeComponent(function FilterForm({ recentCalls, filter, setFilter }: FilterFormProps): VNode {
  const { plugins, clients } = useMemo(() => listChoices(recentCalls), [recentCalls]);
  return (
    <search>
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <input
          type="search"
          aria-label="Search recent calls"
          placeholder="Search"
          value={filter.text}
          spellcheck={false}
          autocomplete="off"
          onInput={(event) => setFilter({ ...filter, text: event.currentTarget.value })}
        />
        <label class="switch">
          <input
            type="checkbox"
            role="switch"
            aria-checked={filter.failedOnly}
            checked={filter.failedOnly}
            onChange={(event) => setFilter({ ...filter, failedOnly: event.currentTarget.checked })}
          />
          Failed only
        </label>
        <FilterChoice
          label="Plugin"
          allCaption="All plugins"
          names={plugins}
          chosenName={filter.plugin}
          chooseName={(plugin) => setFilter({ ...filter, plugin })}
        />
        <FilterChoice
          label="Client"
          allCaption="All clients"
          names={clients}
          chosenName={filter.client}
          chooseName={(client) => setFilter({ ...filter, client })}
        />
      </form>
    </search>
  );
});

interface ChoiceProps {
  readonly label: string;
  readonly allCaption: string;
  readonly names: readonly string[];
  readonly chosenName: string;
  chooseName(name: string): void;
}

function FilterChoice({ label, allCaption, names, chosenName, chooseName }: ChoiceProps): VNode | null {
  if (names.length < 2 && chosenName === '') return null;
  return (
    <select aria-label={label} value={chosenName} onChange={(event) => chooseName(event.currentTarget.value)}>
      <option value="">{allCaption}</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {label === 'Plugin' && isBrowserTool({ plugin: name }) ? 'Browser tools' : removeHiddenCharacters(name)}
        </option>
      ))}
    </select>
  );
}

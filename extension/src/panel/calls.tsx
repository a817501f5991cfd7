import type { VNode } from 'preact';
import type { CallView } from '../../../wire/wire.gen.ts';
import type { PanelTab } from '../panel-message.ts';
import type { History } from './history.ts';
import { memoizeComponent } from './memo.ts';
import type { OpenCall } from './open-calls.ts';
import type { RecentCall } from './recent.ts';
import { RecentCalls } from './recent-calls.tsx';
import type { SendAction } from './requests.ts';
import { RunningCall } from './running-call.tsx';
import { listCallTree } from './tree.ts';
import { readHost } from './wording.ts';

/** MinCallsForCompactList is the number of open calls at which the list switches to a compact layout. */
const MinCallsForCompactList = 6;

export interface CallsProps {
  readonly openCalls: readonly OpenCall[];
  readonly recent: readonly RecentCall[];
  readonly history: History;
  /** hasOlderCalls is true if the server may have recorded older calls that the panel has not loaded. */
  readonly hasOlderCalls: boolean;
  readonly tabs: readonly PanelTab[];
  /** The field `running` is the number of running calls, including calls that the panel does not list. */
  readonly running: number;
  readonly showsEverything: boolean;
  setShowsEverything(on: boolean): void;
  readonly act: SendAction;
}

export const Calls = memoizeComponent(function Calls(props: CallsProps): VNode {
  const { openCalls, recent, tabs, running, showsEverything, setShowsEverything, act } = props;
  // Calls that wait for approval are omitted, because the component Waiting shows them.
  const shownCalls = openCalls.filter(({ call }) => call.waiting?.kind !== 'permission');
  const placed = listCallTree(shownCalls.map(({ call }) => call));
  const byId = new Map(shownCalls.map((open) => [open.call.callId, open]));
  const unlistedCount = running - openCalls.length;
  const isCompact = placed.length >= MinCallsForCompactList;
  return (
    <>
      <section aria-labelledby="running">
        <div class="title-line">
          <h2 id="running">
            Running <span class="count">{running - (openCalls.length - shownCalls.length)}</span>
          </h2>
          <label class="switch">
            <input
              type="checkbox"
              role="switch"
              aria-checked={showsEverything}
              checked={showsEverything}
              onChange={(event) => setShowsEverything(event.currentTarget.checked)}
            />
            Show everything
          </label>
        </div>
        {placed.length === 0 && <p class="empty">No tool is running.</p>}
        <ul class={`calls ${isCompact ? 'many' : ''}`}>
          {placed.map(({ call, depth }) => (
            <RunningCall
              key={call.callId}
              open={byId.get(call.callId) ?? { call }}
              depth={depth}
              site={findSite(call, tabs)}
              showsEverything={showsEverything}
              isCompact={isCompact}
              act={act}
            />
          ))}
        </ul>
        {unlistedCount > 0 && <p class="empty">And {unlistedCount} more.</p>}
      </section>
      <RecentCalls
        recent={recent}
        history={props.history}
        hasOlderCalls={props.hasOlderCalls}
        showsEverything={showsEverything}
        act={act}
      />
    </>
  );
});

function findSite(call: CallView, tabs: readonly PanelTab[]): string {
  const tab = tabs.find((one) => one.tabId === call.tabId);
  return call.site ?? (tab ? readHost(tab.url) : '');
}

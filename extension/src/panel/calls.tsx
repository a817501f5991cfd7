import type { VNode } from 'preact';
import type { CallView } from '../../../wire/wire.gen.ts';
import type { PanelTab } from '../panel-message.ts';
import type { CallHistory } from './history.ts';
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
  readonly recentCalls: readonly RecentCall[];
  readonly history: CallHistory;
  /** hasOlderCalls is true if the server may have recorded older calls that the panel has not loaded. */
  readonly hasOlderCalls: boolean;
  readonly tabs: readonly PanelTab[];
  /** runningCount is the number of running calls, including calls that the panel does not list. */
  readonly runningCount: number;
  readonly showsEverything: boolean;
  setShowsEverything(on: boolean): void;
  readonly sendAction: SendAction;
}

export const Calls = memoizeComponent(function Calls(callsProps: CallsProps): VNode {
  const { openCalls, recentCalls, tabs, runningCount, showsEverything, setShowsEverything, sendAction } = callsProps;
  // Calls that wait for approval are omitted, because the component Waiting shows them.
  const shownCalls = openCalls.filter(({ call }) => call.waiting?.kind !== 'permission');
  const callTree = listCallTree(shownCalls.map(({ call }) => call));
  const openCallById = new Map(shownCalls.map((openCall) => [openCall.call.callId, openCall]));
  const unlistedCount = runningCount - openCalls.length;
  const isCompact = callTree.length >= MinCallsForCompactList;
  return (
    <>
      <section aria-labelledby="running">
        <div class="title-line">
          <h2 id="running">
            Running <span class="count">{runningCount - (openCalls.length - shownCalls.length)}</span>
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
        {callTree.length === 0 && <p class="empty">No tool is running.</p>}
        <ul class={`calls ${isCompact ? 'many' : ''}`}>
          {callTree.map(({ call, depth }) => (
            <RunningCall
              key={call.callId}
              openCall={openCallById.get(call.callId) ?? { call }}
              depth={depth}
              site={findSite(call, tabs)}
              showsEverything={showsEverything}
              isCompact={isCompact}
              sendAction={sendAction}
            />
          ))}
        </ul>
        {unlistedCount > 0 && <p class="empty">And {unlistedCount} more.</p>}
      </section>
      <RecentCalls
        recentCalls={recentCalls}
        history={callsProps.history}
        hasOlderCalls={callsProps.hasOlderCalls}
        showsEverything={showsEverything}
        sendAction={sendAction}
      />
    </>
  );
});

function findSite(call: CallView, tabs: readonly PanelTab[]): string {
  const tab = tabs.find((panelTab) => panelTab.tabId === call.tabId);
  return call.site ?? (tab ? readHost(tab.url) : '');
}

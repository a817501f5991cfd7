import type { VNode } from 'preact';
import type { CallView } from '../../../wire/wire.gen.ts';
import type { PanelTab } from '../panel-message.ts';
import { Activities } from './activity.tsx';
import { activitiesOf, isOpen, reportOf, resultOf } from './audience.ts';
import { CallName } from './call-name.tsx';
import { usePanelAction } from './panel-action.ts';
import type { Act } from './requests.ts';
import { type PlacedCall, placeCalls } from './tree.ts';
import { formatDuration, formatPercent, hostOf, removeHidden, statusWord, toolText } from './wording.ts';

/** MaxShownEndedCalls is the number of ended calls in the list. */
const MaxShownEndedCalls = 20;
/** MinCallsForCompactList is the number of open calls from which each call is shown compactly. */
const MinCallsForCompactList = 6;
/** MaxIndent is the deepest level of nested calls that is indented. */
const MaxIndent = 4;

export interface CallsProps {
  readonly calls: readonly CallView[];
  readonly tabs: readonly PanelTab[];
  /** running also counts the calls that are not in the list. */
  readonly running: number;
  /** sinceListMs is the time since the server made the list, in milliseconds. */
  readonly sinceListMs: number;
  /** showsEverything is true if content that is not for the user is also shown. */
  readonly showsEverything: boolean;
  setShowsEverything(on: boolean): void;
  readonly act: Act;
}

/** Calls shows the running calls, and then the most recently ended calls. */
export function Calls({
  calls,
  tabs,
  running,
  sinceListMs,
  showsEverything,
  setShowsEverything,
  act,
}: CallsProps): VNode {
  const open = calls.filter(isOpen);
  // Calls that wait for a permission are shown at the top of the panel (waiting.tsx).
  const shownCalls = placeCalls(open.filter((call) => call.waiting?.kind !== 'permission'));
  const awaitingPermission = open.length - shownCalls.length;
  const unlistedCount = running - open.length;
  const isCompact = shownCalls.length >= MinCallsForCompactList;
  return (
    <>
      <section aria-labelledby="running">
        <div class="title-line">
          <h2 id="running">
            Running <span class="count">{running - awaitingPermission}</span>
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
        {shownCalls.length === 0 && <p class="empty">No tool is running.</p>}
        <ul class={`calls ${isCompact ? 'many' : ''}`}>
          {shownCalls.map((placedCall) => (
            <OpenCall
              key={placedCall.call.callId}
              place={placedCall}
              tab={tabs.find((t) => t.tabId === placedCall.call.tabId)}
              ranMs={sinceListMs}
              everything={showsEverything}
              isCompact={isCompact}
              act={act}
            />
          ))}
        </ul>
        {unlistedCount > 0 && <p class="empty">And {unlistedCount} more.</p>}
      </section>
      <EndedCalls calls={calls.filter((call) => !isOpen(call))} everything={showsEverything} />
    </>
  );
}

interface OpenCallProps {
  readonly place: PlacedCall;
  readonly tab: PanelTab | undefined;
  readonly ranMs: number;
  readonly everything: boolean;
  readonly isCompact: boolean;
  readonly act: Act;
}

function OpenCall({ place: { call, depth }, tab, ranMs, everything, isCompact, act }: OpenCallProps): VNode {
  const { isBusy, error, run } = usePanelAction(act);
  const queued = call.status === 'pending' || call.waiting !== undefined;
  const name = toolText(call);
  const { share, message, word } = reportOf(call, everything);
  const knownShare = queued ? undefined : share;
  const origins = [call.client && depth === 0 && `for ${removeHidden(call.client)}`, tab && `in ${hostOf(tab.url)}`];
  return (
    <li class={`call ${depth > 0 ? 'nested' : ''}`} style={{ '--depth': Math.min(depth, MaxIndent) }}>
      <div class="head">
        <CallName call={call} />
        <button
          type="button"
          class="stop"
          aria-label={`Stop ${name}`}
          disabled={isBusy}
          onClick={() => void run({ op: 'stop', callId: call.callId })}
        >
          {isBusy ? 'Stopping' : 'Stop'}
        </button>
      </div>
      <ProgressBar name={name} share={knownShare} waiting={queued} />
      <div class="under">
        <span class="message" title={removeHidden(message)}>
          {word && !queued && <span class="word">{removeHidden(word)}</span>}
          {removeHidden(message) || (word && !queued ? '' : defaultMessage(call))}
        </span>
        <span class="time">
          {knownShare !== undefined && `${formatPercent(knownShare)} · `}
          {formatDuration(queued ? call.runMs : call.runMs + ranMs)}
        </span>
      </div>
      <div class="from">{origins.filter(Boolean).join(', ')}</div>
      <Activities callId={call.callId} activities={activitiesOf(call, everything)} isCollapsed={isCompact} />
      {error && <p class="error">{error}</p>}
    </li>
  );
}

/** defaultMessage returns the text for a call that has sent no message. */
function defaultMessage(call: CallView): string {
  if (call.waiting) return 'Waiting for you';
  return call.status === 'pending' ? 'Queued' : 'Running';
}

/** ProgressBar shows the progress of a call. If share is undefined, the progress bar is indeterminate. */
function ProgressBar({ name, share, waiting }: { name: string; share: number | undefined; waiting: boolean }): VNode {
  const hasShare = share !== undefined;
  return (
    <div
      class={`bar ${hasShare ? 'known' : waiting ? 'waiting' : 'unknown'}`}
      role="progressbar"
      aria-label={`Progress of ${name}`}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(hasShare ? { 'aria-valuenow': Math.floor(share * 100), 'aria-valuetext': formatPercent(share) } : {})}
    >
      <span style={hasShare ? { transform: `scaleX(${Math.min(1, Math.max(0, share))})` } : {}} />
    </div>
  );
}

/** EndedCalls shows the most recently ended calls for any audience. */
function EndedCalls({
  calls,
  everything,
}: {
  readonly calls: readonly CallView[];
  readonly everything: boolean;
}): VNode | null {
  const shownCalls = calls.slice(0, MaxShownEndedCalls);
  if (shownCalls.length === 0) return null;
  return (
    <section aria-labelledby="recent">
      <h2 id="recent">Recent</h2>
      <ul class="ended">
        {shownCalls.map((call) => (
          <EndedCall key={call.callId} call={call} everything={everything} />
        ))}
      </ul>
    </section>
  );
}

function EndedCall({ call, everything }: { readonly call: CallView; readonly everything: boolean }): VNode {
  const activities = activitiesOf(call, everything);
  const result = removeHidden(resultOf(call, everything));
  const line = (
    <>
      <div class="line">
        <span class={`status ${call.status}`}>{statusWord(call.status)}</span>
        <CallName call={call} />
        <span class="time">{formatDuration(call.runMs)}</span>
      </div>
      {call.client && <div class="from">for {removeHidden(call.client)}</div>}
    </>
  );
  if (!call.error && !result && activities.length === 0) return <li>{line}</li>;
  return (
    <li>
      <details>
        <summary class="more">
          {line}
          {call.error && <span class="error brief">{removeHidden(call.error)}</span>}
          {result && <span class="result brief">{result}</span>}
        </summary>
        <Activities callId={call.callId} activities={activities} isCollapsed={false} />
      </details>
    </li>
  );
}

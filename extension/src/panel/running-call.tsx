import type { VNode } from 'preact';
import { Activities } from './activity.tsx';
import { listVisibleActivities, readVisibleProgress } from './audience.ts';
import { CallName } from './call-name.tsx';
import { formatArguments } from './call-text.ts';
import { memoizeComponent } from './memo.ts';
import { useNowMs } from './now.ts';
import type { OpenCall } from './open-calls.ts';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';
import { formatDuration, formatPercent, formatToolName, removeHiddenCharacters } from './wording.ts';

const MaxIndentLevels = 4;

interface RunningCallProps {
  readonly openCall: OpenCall;
  /** The field `depth` is the nesting level of the call, or 0 for a call that a client made. */
  readonly depth: number;
  /** The field `site` is the host of the page in which the call runs, or empty if unknown. */
  readonly site: string;
  readonly showsEverything: boolean;
  /** isCompact reduces each call to a few lines, because many calls are running. */
  readonly isCompact: boolean;
  readonly sendAction: SendAction;
}

export const RunningCall = memoizeComponent(function RunningCall(runningCallProps: RunningCallProps): VNode {
  const { openCall, depth, site, showsEverything, isCompact, sendAction } = runningCallProps;
  const { call, startMs } = openCall;
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  const isQueued = call.status === 'pending' || call.waiting !== undefined;
  const { progressShare, reportMessage, statusWord } = readVisibleProgress(call, showsEverything);
  const shownProgressShare = isQueued ? undefined : progressShare;
  const argsText = formatArguments(call.args);
  // The accessible name of the button "Stop" contains the site and the arguments, because several calls can run the
  // same tool.
  const name = [removeHiddenCharacters(formatToolName(call)), site, argsText.slice(0, 80)].filter(Boolean).join(', ');
  return (
    <li class={`call ${depth > 0 ? 'nested' : ''}`} style={{ '--depth': Math.min(depth, MaxIndentLevels) }}>
      <div class="head">
        <CallName call={call} />
        <button
          type="button"
          class="stop"
          aria-label={`Stop ${name}`}
          disabled={isBusy}
          onClick={() => void runAction({ op: 'stop', callId: call.callId })}
        >
          {isBusy ? 'Stopping' : 'Stop'}
        </button>
      </div>
      {(site !== '' || argsText !== '') && (
        <div class="what" title={argsText}>
          {site !== '' && <bdi class="origin">{site}</bdi>} {argsText !== '' && <bdi class="args">{argsText}</bdi>}
        </div>
      )}
      <ProgressBar name={name} progressShare={shownProgressShare} isWaiting={isQueued} />
      <div class="under">
        <span class="message" title={removeHiddenCharacters(reportMessage)}>
          {statusWord !== '' && !isQueued && <span class="word">{removeHiddenCharacters(statusWord)}</span>}
          {removeHiddenCharacters(reportMessage) ||
            (statusWord !== '' && !isQueued ? null : makeDefaultMessage(openCall))}
        </span>
        <span class="time">
          {shownProgressShare !== undefined && `${formatPercent(shownProgressShare)} · `}
          {startMs === undefined ? call.runMs > 0 && formatDuration(call.runMs) : <ElapsedTime startMs={startMs} />}
        </span>
      </div>
      {!isCompact && depth === 0 && call.client && (
        <div class="from">
          for <bdi>{removeHiddenCharacters(call.client)}</bdi>
        </div>
      )}
      <Activities
        callId={call.callId}
        activities={listVisibleActivities(call, showsEverything)}
        isCollapsed={isCompact}
      />
      {error !== '' && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
    </li>
  );
});

/**
 * ElapsedTime is a separate component, so that only the elapsed time of a call renders every second, not the whole
 * call.
 */
function ElapsedTime({ startMs }: { readonly startMs: number }): VNode {
  const nowMs = useNowMs();
  return <>{formatDuration(nowMs - startMs)}</>;
}

function makeDefaultMessage({ call }: OpenCall): string {
  if (call.waiting) return 'Waiting for you';
  return call.status === 'pending' ? 'Queued' : 'Running';
}

interface ProgressBarProps {
  readonly name: string;
  readonly progressShare: number | undefined;
  readonly isWaiting: boolean;
}

function ProgressBar({ name, progressShare, isWaiting }: ProgressBarProps): VNode {
  const hasProgressShare = progressShare !== undefined;
  return (
    <div
      class={`bar ${hasProgressShare ? 'known' : isWaiting ? 'waiting' : 'unknown'}`}
      role="progressbar"
      aria-label={`Progress of ${name}`}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(hasProgressShare
        ? { 'aria-valuenow': Math.floor(progressShare * 100), 'aria-valuetext': formatPercent(progressShare) }
        : {})}
    >
      <span style={hasProgressShare ? { transform: `scaleX(${Math.min(1, Math.max(0, progressShare))})` } : {}} />
    </div>
  );
}

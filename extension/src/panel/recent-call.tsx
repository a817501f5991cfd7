import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Activities } from './activity.tsx';
import { listVisibleActivities, readVisibleResult } from './audience.ts';
import { TextBlock } from './call-block.tsx';
import { CallName } from './call-name.tsx';
import { formatArguments, isCompleteArguments, makeRepeatCommand } from './call-text.ts';
import { CallTiming } from './call-timing.tsx';
import { ErrorText } from './choice.tsx';
import { renderCommands } from './commands.tsx';
import { CopyButton } from './copy-button.tsx';
import { DeveloperView } from './developer-view.tsx';
import type { CallHistory } from './history.ts';
import { indentJson } from './json-text.ts';
import { memoizeComponent } from './memo.ts';
import { usePanelAction } from './panel-action.ts';
import type { RecentCall } from './recent.ts';
import type { SendAction } from './requests.ts';
import { ScrollableArea } from './scrollable.tsx';
import { UndoButton } from './undo-button.tsx';
import { useCallDetails } from './use-call-details.ts';
import {
  findStatusWord,
  formatDateTime,
  formatRunTime,
  formatTimeOfDay,
  isBrowserTool,
  isFailure,
  removeHiddenCharacters,
} from './wording.ts';

export interface CallContext {
  readonly history: CallHistory;
  readonly showsEverything: boolean;
  readonly sendAction: SendAction;
}

interface RecentCallProps extends CallContext {
  readonly call: RecentCall;
}

export const RecentCallRow = memoizeComponent(function RecentCallRow(rowProps: RecentCallProps): VNode {
  const visibleResult = removeHiddenCharacters(readVisibleResult(rowProps.call, rowProps.showsEverything));
  return (
    <ExpandableRow summaryNode={<CallSummary call={rowProps.call} visibleResult={visibleResult} />}>
      {() => <CallDetails {...rowProps} visibleResult={visibleResult} />}
    </ExpandableRow>
  );
});

interface FailureGroupProps extends CallContext {
  readonly calls: readonly RecentCall[];
}

export function FailureGroup({ calls, ...context }: FailureGroupProps): VNode | null {
  const [newestCall] = calls;
  if (!newestCall) return null;
  const oldestCall = calls.at(-1) ?? newestCall;
  return (
    <ExpandableRow
      summaryNode={
        <CallSummary call={newestCall} visibleResult="" count={calls.length} sinceMs={oldestCall.createdMs} />
      }
    >
      {() => (
        <ul class="ended failures">
          {calls.map((call) => (
            <RecentCallRow key={call.callId} call={call} {...context} />
          ))}
        </ul>
      )}
    </ExpandableRow>
  );
}

/** A collapsed row does not render its content, because a list can have 1,000 rows. */
function ExpandableRow({
  summaryNode,
  children,
}: {
  readonly summaryNode: VNode;
  children(): ComponentChildren;
}): VNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary class="more">{summaryNode}</summary>
        {isOpen && children()}
      </details>
    </li>
  );
}

interface CallSummaryProps {
  readonly call: RecentCall;
  readonly visibleResult: string;
  readonly count?: number;
  readonly sinceMs?: number | undefined;
}

function CallSummary({ call, visibleResult, count = 1, sinceMs }: CallSummaryProps): VNode {
  const { status, client, site, createdMs, runMs, error } = call;
  const argsText = formatArguments(call.args);
  return (
    <>
      <span class="line">
        <span class={`status ${isFailure(status) ? 'failed' : status}`}>{findStatusWord(status)}</span>
        <CallName call={call} />
        {count > 1 && <span class="times">×{count}</span>}
        {createdMs !== undefined && <span class="time">{formatTimeOfDay(createdMs)}</span>}
      </span>
      <span class="from">
        {client && <bdi class="client">{removeHiddenCharacters(client)}</bdi>}
        {site && <bdi class="origin">{removeHiddenCharacters(site)}</bdi>}
        {count > 1
          ? sinceMs !== undefined && <span>since {formatTimeOfDay(sinceMs)}</span>
          : runMs > 0 && <span>{formatRunTime(runMs)}</span>}
      </span>
      {count === 1 && (argsText !== '' || visibleResult !== '') && (
        <span class="content">
          {argsText !== '' && <bdi class="args">{argsText}</bdi>}
          {argsText !== '' && visibleResult !== '' && <span aria-hidden="true">→</span>}
          {visibleResult !== '' && <bdi class="result">{visibleResult}</bdi>}
        </span>
      )}
      {error && <span class="error brief">{removeHiddenCharacters(error)}</span>}
    </>
  );
}

interface CallDetailsProps extends RecentCallProps {
  readonly visibleResult: string;
}

function CallDetails({ call, visibleResult, history, showsEverything, sendAction }: CallDetailsProps): VNode {
  const { callId, createdMs, runMs, client, site, tabId, error, nextStep, errorCode, args, record: callRecord } = call;
  const hasArgs = args !== undefined && args !== '{}';
  const isComplete = isCompleteArguments(args) && callRecord?.argsIncomplete !== true;
  const loadedDetails = useCallDetails(callId, sendAction);
  // Recorded calls contain longer arguments than calls in the server's memory.
  useEffect(() => {
    if (!callRecord && !isComplete) void history.loadNewest();
  }, [callRecord, isComplete, history]);
  return (
    <div class="details">
      {error && (
        <TextBlock title="Error" blockText={[error, nextStep].filter(Boolean).join('\n')}>
          <p class="error">{removeHiddenCharacters(error)}</p>
          {nextStep && <p>{renderCommands(removeHiddenCharacters(nextStep))}</p>}
        </TextBlock>
      )}
      {hasArgs && (
        <TextBlock title="Arguments" blockText={args}>
          <ScrollableArea class="pre" label="Arguments">
            {indentJson(args)}
          </ScrollableArea>
        </TextBlock>
      )}
      {visibleResult !== '' && (
        <TextBlock title="Result" blockText={visibleResult}>
          <ScrollableArea class="pre" label="Result">
            {visibleResult}
          </ScrollableArea>
        </TextBlock>
      )}
      {call.status === 'done' && !visibleResult && (
        <p class="note">The tool’s result is for the agent only. “Show everything” shows it.</p>
      )}
      <Activities callId={callId} activities={listVisibleActivities(call, showsEverything)} isCollapsed={false} />
      <dl>
        {createdMs !== undefined && <DetailRow name="Time">{formatDateTime(createdMs)}</DetailRow>}
        {runMs > 0 && <DetailRow name="Ran">{formatRunTime(runMs)}</DetailRow>}
        {client && <DetailRow name="Client">{removeHiddenCharacters(client)}</DetailRow>}
        {site && <DetailRow name="Site">{removeHiddenCharacters(site)}</DetailRow>}
        {callRecord?.approvedBy && (
          <DetailRow name="Approved">{`by ${removeHiddenCharacters(callRecord.approvedBy)}`}</DetailRow>
        )}
        {tabId !== undefined && <DetailRow name="Tab">{tabId}</DetailRow>}
        {errorCode && <DetailRow name="Code">{errorCode}</DetailRow>}
        <DetailRow name="Call">{callId}</DetailRow>
      </dl>
      <UndoButton call={call} loadedDetails={loadedDetails} sendAction={sendAction} />
      <CallTiming loadedDetails={loadedDetails} />
      {isFailure(call.status) && !isBrowserTool(call) && <DeveloperView loadedDetails={loadedDetails} />}
      <CallActions
        call={call}
        command={isComplete ? makeRepeatCommand(call, args) : undefined}
        sendAction={sendAction}
      />
    </div>
  );
}

interface CallActionsProps {
  readonly call: RecentCall;
  readonly command: string | undefined;
  readonly sendAction: SendAction;
}

function CallActions({ call, command, sendAction }: CallActionsProps): VNode | null {
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  const [isStarted, setStarted] = useState(false);
  if (command === undefined)
    return call.prompt ? null : (
      <p class="note">Not all arguments of this call are recorded, so it cannot be run again.</p>
    );
  const repeatCall = async () => {
    setStarted(false);
    const { error } = await runAction({ op: 'repeat', callId: call.callId });
    setStarted(error === undefined);
  };
  return (
    <>
      <div class="answers">
        <button type="button" aria-disabled={isBusy} onClick={() => void (isBusy || repeatCall())}>
          Run again
        </button>
        <CopyButton copiedText={command} label="command">
          Copy command
        </CopyButton>
      </div>
      <p class="note" role="status">
        {isStarted && 'Started as a new call, with the permissions of the side panel.'}
      </p>
      <ErrorText errorText={error} />
    </>
  );
}

function DetailRow({ name, children }: { readonly name: string; readonly children: ComponentChildren }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <bdi>{children}</bdi>
      </dd>
    </div>
  );
}

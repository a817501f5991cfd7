import type { ComponentChildren, VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { type CallView, MaxShownArgsBytes, type Scope, type WaitingView } from '../../../wire/wire.gen.ts';
import type { PanelTab } from '../panel-message.ts';
import { CallName } from './call-name.tsx';
import { indentJson } from './json-text.ts';
import { usePanelAction } from './panel-action.ts';
import type { Act } from './requests.ts';
import { type Card, decisionOutcome, formatClock, isTruncated, TimeMs } from './tickets.ts';
import { hostOf, removeHidden } from './wording.ts';

/** ShortMs is the remaining time below which it is highlighted, in milliseconds. */
const ShortMs = 30_000;

export interface TicketCardProps {
  readonly card: Card;
  /** parent is the call whose tool made this call. */
  readonly parent: CallView | undefined;
  /** tab is the tab of the call, if that tab is in this browser. */
  readonly tab: PanelTab | undefined;
  readonly leftMs: number;
  /** arming is true while clicks are ignored. */
  readonly arming: boolean;
  /** settled reports whether a click counts. */
  settled(event: Event): boolean;
  /** setOutcome stores the outcome of the ticket as text. */
  setOutcome(outcome: string): void;
  readonly act: Act;
}

/** PermissionCard asks the user whether a call may run. */
export function PermissionCard(props: TicketCardProps): VNode {
  const { card } = props;
  const { call, ticket } = card;
  const { decide, busy, error } = useDecision(props);
  const name = `${call.plugin} ${call.tool}`;
  const scopes = ticket.scopes ?? [];
  const longer = longerScopes.filter(({ scope }) => scopes.includes(scope));
  const off = busy || props.arming;
  return (
    <TicketCard {...props} error={error}>
      <p class="reason">{removeHidden(ticket.reason)}</p>
      <Arguments json={ticket.args ?? ''} />
      <div class="answers">
        <Answer label={`Deny ${name}`} off={off} press={(event) => decide(event, false)}>
          Deny
        </Answer>
        {(scopes.length === 0 || scopes.includes('once')) && (
          <Answer label={`Allow once: ${name}`} kind="yes" off={off} press={(event) => decide(event, true, 'once')}>
            Allow once
          </Answer>
        )}
      </div>
      {longer.length > 0 && (
        <div class="longer">
          <span>Allow {callerName(card.call, ticket)} without asking again</span>
          <div class="answers">
            {longer.map(({ scope, text, label }) => (
              <Answer
                key={scope}
                label={`Allow ${label}: ${name}`}
                off={off}
                press={(event) => decide(event, true, scope)}
              >
                {text}
              </Answer>
            ))}
          </div>
        </div>
      )}
    </TicketCard>
  );
}

const longerScopes: readonly { readonly scope: Scope; readonly text: string; readonly label: string }[] = [
  { scope: 'time', text: `for ${TimeMs / 60_000} min`, label: `for ${TimeMs / 60_000} min` },
  { scope: 'session', text: 'this session', label: 'for this session' },
  { scope: 'always', text: 'always', label: 'always' },
];

/** callerName returns who gets the permission: the calling plugin or the client. */
function callerName({ client }: CallView, { caller }: WaitingView): string {
  if (caller) return `the plugin ${removeHidden(caller.plugin)}`;
  return removeHidden(client ?? '') || 'this agent';
}

/** UserCard asks the user for an action that a tool cannot do, such as a login. */
export function UserCard(props: TicketCardProps): VNode {
  const { call, ticket } = props.card;
  const { decide, busy, error } = useDecision(props);
  const show = usePanelAction(props.act);
  const name = `${call.plugin} ${call.tool}`;
  const { tabId } = call;
  const off = busy || props.arming;
  return (
    <TicketCard {...props} error={error || show.error}>
      {ticket.title && <p class="asked">{removeHidden(ticket.title)}</p>}
      <p class="reason">{removeHidden(ticket.reason)}</p>
      <div class="answers">
        <Answer label={`Stop ${name}`} off={off} press={(event) => decide(event, false)}>
          Stop
        </Answer>
        {tabId !== undefined && (
          <button type="button" onClick={() => void show.run({ op: 'show', tabId })}>
            Go to tab
          </button>
        )}
        <Answer label={`Done: ${name}`} kind="yes" off={off} press={(event) => decide(event, true)}>
          Done
        </Answer>
      </div>
    </TicketCard>
  );
}

interface Decision {
  readonly busy: boolean;
  readonly error: string;
  decide(event: Event, allow: boolean, scope?: Scope): void;
}

/** useDecision sends the user's decision once. */
function useDecision({ card, settled, setOutcome, act }: TicketCardProps): Decision {
  const pressed = usePanelAction(act);
  const sent = useRef(false); // immediate, unlike the state
  const [greyed, setGreyed] = useState(false);
  const mark = (on: boolean) => {
    sent.current = on;
    setGreyed(on);
  };
  const decide = async (event: Event, allow: boolean, scope?: Scope) => {
    if (sent.current || card.gone || !settled(event)) return;
    mark(true);
    const { callId } = card.call;
    const { ticketId, kind } = card.ticket;
    const until = scope === 'time' ? { forMs: TimeMs } : {};
    const params = { callId, ticketId, allow, ...(allow && scope ? { scope } : {}), ...until };
    const { error, decided } = await pressed.run({ op: 'decide', params });
    if (decided) setOutcome(decisionOutcome(kind, params, decided));
    if (error !== undefined) mark(false);
  };
  return { busy: greyed, error: pressed.error, decide: (event, allow, scope) => void decide(event, allow, scope) };
}

interface AnswerProps {
  readonly label: string;
  readonly kind?: 'yes';
  /** off greys the button. The button keeps the focus, which a disabled button would lose. */
  readonly off: boolean;
  readonly children: string;
  press(event: Event): void;
}

function Answer({ label, kind, off, press, children }: AnswerProps): VNode {
  return (
    <button type="button" class={kind} aria-label={label} aria-disabled={off} onClick={press}>
      {children}
    </button>
  );
}

/** TicketCard is the common frame of all cards. */
function TicketCard(props: TicketCardProps & { readonly error: string; readonly children: ComponentChildren }): VNode {
  const { card, parent, tab, leftMs, error, children } = props;
  const { call, ticket, gone } = card;
  const from = [
    call.client && `for ${removeHidden(call.client)}`,
    parent && `called by ${removeHidden(`${parent.plugin} ${parent.tool}`)}`,
    tab && `in ${hostOf(tab.url)}`,
    ticket.kind === 'user' && call.tabId === undefined && 'in another browser',
  ];
  return (
    <li class={`ticket ${gone ? 'gone' : ''}`} data-ticket={ticket.ticketId}>
      <div class="head">
        <CallName call={call} />
        {!gone && (
          <span class={`time ${leftMs < ShortMs ? 'short' : ''}`} title="Time left to answer">
            {formatClock(leftMs)}
          </span>
        )}
      </div>
      {gone ? (
        <p class="outcome">{gone.outcome}</p>
      ) : (
        <>
          <div class="from">{from.filter(Boolean).join(', ')}</div>
          {children}
        </>
      )}
      <p class="error" role="alert">
        {gone ? '' : error}
      </p>
    </li>
  );
}

/** Arguments shows the arguments of the call. */
function Arguments({ json }: { readonly json: string }): VNode {
  if (json === '' || json === '{}') return <p class="empty">No arguments.</p>;
  return (
    <>
      <pre class="args">{indentJson(json)}</pre>
      {isTruncated(json) && (
        <p class="cut">Truncated: only the first {MaxShownArgsBytes / 1024} KB of the arguments are shown.</p>
      )}
    </>
  );
}

import type { ComponentChildren, VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { type CallView, MaxShownArgs, type Scope, type WaitingView } from '../../../wire/wire.gen.ts';
import type { PanelTab } from '../panel-message.ts';
import { CallName } from './call-name.tsx';
import { indentJson } from './json-text.ts';
import { usePressed } from './pressed.ts';
import type { Act } from './requests.ts';
import { type Card, clock, isCut, saidOf, TimeMs } from './tickets.ts';
import { hostOf, plain } from './wording.ts';

/** ShortMs is from when on the time left stands out, in milliseconds. */
const ShortMs = 30_000;

export interface TicketCardProps {
  readonly card: Card;
  /** parent is the call whose tool made this one. */
  readonly parent: CallView | undefined;
  /** tab is where the call runs, if it is in this browser. */
  readonly tab: PanelTab | undefined;
  readonly leftMs: number;
  /** arming is true while presses do not count yet. */
  readonly arming: boolean;
  /** settled reports whether a press counts. */
  settled(event: Event): boolean;
  /** say keeps what became of the ticket. */
  say(fate: string): void;
  readonly act: Act;
}

/** PermissionCard asks whether a call may run. */
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
      <p class="reason">{plain(ticket.reason)}</p>
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

/** callerName names for whom a permission holds: the calling plugin, or the client. */
function callerName({ client }: CallView, { caller }: WaitingView): string {
  if (caller) return `the plugin ${plain(caller.plugin)}`;
  return plain(client ?? '') || 'this agent';
}

/** UserCard asks the person to do what a tool can't, as to log in. */
export function UserCard(props: TicketCardProps): VNode {
  const { call, ticket } = props.card;
  const { decide, busy, error } = useDecision(props);
  const show = usePressed(props.act);
  const name = `${call.plugin} ${call.tool}`;
  const { tabId } = call;
  const off = busy || props.arming;
  return (
    <TicketCard {...props} error={error || show.error}>
      {ticket.title && <p class="asked">{plain(ticket.title)}</p>}
      <p class="reason">{plain(ticket.reason)}</p>
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

/** useDecision sends what the person decided, once. */
function useDecision({ card, settled, say, act }: TicketCardProps): Decision {
  const pressed = usePressed(act);
  const sent = useRef(false); // at once; the state greys the buttons
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
    if (decided) say(saidOf(kind, params, decided));
    if (error !== undefined) mark(false);
  };
  return { busy: greyed, error: pressed.error, decide: (event, allow, scope) => void decide(event, allow, scope) };
}

interface AnswerProps {
  readonly label: string;
  readonly kind?: 'yes';
  /** off greys the button; it keeps the focus, as a disabled one would not. */
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

/** TicketCard is what all questions have in common. */
function TicketCard(props: TicketCardProps & { readonly error: string; readonly children: ComponentChildren }): VNode {
  const { card, parent, tab, leftMs, error, children } = props;
  const { call, ticket, gone } = card;
  const from = [
    call.client && `for ${plain(call.client)}`,
    parent && `called by ${plain(`${parent.plugin} ${parent.tool}`)}`,
    tab && `in ${hostOf(tab.url)}`,
    ticket.kind === 'user' && call.tabId === undefined && 'in another browser',
  ];
  return (
    <li class={`ticket ${gone ? 'gone' : ''}`} data-ticket={ticket.ticketId}>
      <div class="head">
        <CallName call={call} />
        {!gone && (
          <span class={`time ${leftMs < ShortMs ? 'short' : ''}`} title="Time left to answer">
            {clock(leftMs)}
          </span>
        )}
      </div>
      {gone ? (
        <p class="fate">{gone.fate}</p>
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

/** Arguments shows what the call would be run with. */
function Arguments({ json }: { readonly json: string }): VNode {
  if (json === '' || json === '{}') return <p class="empty">Without arguments.</p>;
  return (
    <>
      <pre class="args">{indentJson(json)}</pre>
      {isCut(json) && <p class="cut">Cut: only the first {MaxShownArgs / 1024} KB of the arguments are shown.</p>}
    </>
  );
}

import type { ComponentChildren, VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { CallView, Scope, TicketPageView } from '../../../wire/wire.gen.ts';
import type { PanelTab } from '../panel-message.ts';
import { CallName } from './call-name.tsx';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';
import { TicketArguments } from './ticket-arguments.tsx';
import { type Card, describeOutcome, formatRemainingTime, TimedGrantMs } from './tickets.ts';
import { formatGrantLabel, formatToolName, isBrowserTool, readHost, removeHiddenCharacters } from './wording.ts';

const HighlightBelowMs = 30_000;

export interface TicketCardProps {
  readonly card: Card;
  /** The field `parent` is the call whose tool made the nested call that waits for approval. */
  readonly parent: CallView | undefined;
  readonly tab: PanelTab | undefined;
  readonly leftMs: number;
  /** sameToolCount is the number of other waiting calls that a grant for the tool also allows. */
  readonly sameToolCount: number;
  /** ignoresClicks is true while the card ignores clicks, because it has just appeared or moved. */
  readonly ignoresClicks: boolean;
  acceptsClick(event: Event): boolean;
  setOutcome(outcome: string): void;
  readonly act: SendAction;
}

export function PermissionCard(props: TicketCardProps): VNode {
  const { card } = props;
  const { call, ticket } = card;
  const { decide, busy, error } = useDecision(props);
  const name = formatToolName(call);
  const scopes = ticket.scopes ?? [];
  const offeredScopes = longerScopes.filter(({ scope }) => scopes.includes(scope));
  const isOff = busy || props.ignoresClicks;
  return (
    <TicketCard {...props} error={error}>
      <p class="reason">{removeHiddenCharacters(ticket.reason)}</p>
      <TicketArguments json={ticket.args ?? ''} tool={call.tool} />
      <div class="answers">
        <DecisionButton label={`Deny ${name}`} isOff={isOff} press={(event) => decide(event, false)}>
          Deny
        </DecisionButton>
        {(scopes.length === 0 || scopes.includes('once')) && (
          <DecisionButton
            label={`Allow once: ${name}`}
            kind="yes"
            isOff={isOff}
            press={(event) => decide(event, true, 'once')}
          >
            Allow once
          </DecisionButton>
        )}
      </div>
      {offeredScopes.length > 0 && (
        <div class="longer">
          <span>{formatGrantLabel(call, ticket.caller, ticket.title)}</span>
          <div class="answers">
            {offeredScopes.map(({ scope, text, label }) => (
              <DecisionButton
                key={scope}
                label={`Allow ${label}: ${name}`}
                isOff={isOff}
                press={(event) => decide(event, true, scope)}
              >
                {text}
              </DecisionButton>
            ))}
          </div>
          {props.sameToolCount > 0 && <p class="also">{formatAlsoAllowed(props.sameToolCount)}</p>}
        </div>
      )}
    </TicketCard>
  );
}

function formatAlsoAllowed(count: number): string {
  return count === 1 ? 'Also allows 1 other waiting call.' : `Also allows ${count} other waiting calls.`;
}

const longerScopes: readonly { readonly scope: Scope; readonly text: string; readonly label: string }[] = [
  { scope: 'time', text: `for ${TimedGrantMs / 60_000} min`, label: `for ${TimedGrantMs / 60_000} min` },
  { scope: 'session', text: 'this session', label: 'for this session' },
  { scope: 'always', text: 'always', label: 'always' },
];

/** UserCard asks the user to do what a tool cannot do, such as logging in. */
export function UserCard(props: TicketCardProps): VNode {
  const { call, ticket } = props.card;
  const { decide, busy, error } = useDecision(props);
  const show = usePanelAction(props.act);
  const name = formatToolName(call);
  const { tabId } = call;
  const isOff = busy || props.ignoresClicks;
  return (
    <TicketCard {...props} error={error || show.error}>
      {ticket.title && <p class="asked">{removeHiddenCharacters(ticket.title)}</p>}
      <p class="reason">{removeHiddenCharacters(ticket.reason)}</p>
      <div class="answers">
        <DecisionButton label={`Stop ${name}`} isOff={isOff} press={(event) => decide(event, false)}>
          Stop
        </DecisionButton>
        {tabId !== undefined && (
          <button type="button" onClick={() => void show.run({ op: 'show', tabId })}>
            Go to tab
          </button>
        )}
        <DecisionButton label={`Done: ${name}`} kind="yes" isOff={isOff} press={(event) => decide(event, true)}>
          Done
        </DecisionButton>
      </div>
    </TicketCard>
  );
}

interface Decision {
  readonly busy: boolean;
  readonly error: string;
  decide(event: Event, allow: boolean, scope?: Scope): void;
}

function useDecision({ card, acceptsClick, setOutcome, act }: TicketCardProps): Decision {
  const action = usePanelAction(act);
  const wasSent = useRef(false); // a ref updates at once, unlike the state of a component
  const [isGreyed, setIsGreyed] = useState(false);
  const setSent = (on: boolean) => {
    wasSent.current = on;
    setIsGreyed(on);
  };
  const decide = async (event: Event, allow: boolean, scope?: Scope) => {
    if (wasSent.current || card.settlement || !acceptsClick(event)) return;
    setSent(true);
    const { callId } = card.call;
    const { ticketId, kind } = card.ticket;
    const duration = scope === 'time' ? { forMs: TimedGrantMs } : {};
    const params = { callId, ticketId, allow, ...(allow && scope ? { scope } : {}), ...duration };
    const { error, decided } = await action.run({ op: 'decide', params });
    if (decided) setOutcome(describeOutcome(kind, params, decided));
    if (error !== undefined) setSent(false);
  };
  return { busy: isGreyed, error: action.error, decide: (event, allow, scope) => void decide(event, allow, scope) };
}

interface DecisionButtonProps {
  readonly label: string;
  readonly kind?: 'yes';
  /**
   * If isOff is true, the button is gray, but not disabled, because a disabled button would lose the keyboard focus.
   */
  readonly isOff: boolean;
  readonly children: string;
  press(event: Event): void;
}

function DecisionButton({ label, kind, isOff, press, children }: DecisionButtonProps): VNode {
  return (
    <button type="button" class={kind} aria-label={label} aria-disabled={isOff} onClick={press}>
      {children}
    </button>
  );
}

function TicketCard(props: TicketCardProps & { readonly error: string; readonly children: ComponentChildren }): VNode {
  const { card, parent, tab, leftMs, error, children } = props;
  const { call, ticket, settlement } = card;
  const origins = [
    call.client && `for ${removeHiddenCharacters(call.client)}`,
    parent && `called by ${removeHiddenCharacters(formatToolName(parent))}`,
    ticket.kind === 'user' && call.tabId === undefined && 'in another browser',
  ];
  const title = removeHiddenCharacters(ticket.toolTitle ?? '');
  const description = removeHiddenCharacters(ticket.description ?? '');
  return (
    <li class={`ticket ${settlement ? 'gone' : ''}`} data-ticket={ticket.ticketId}>
      {/* The site comes first, because it matters most for the user's decision. */}
      {isBrowserTool(call) && ticket.title && <div class="site">{removeHiddenCharacters(ticket.title)}</div>}
      <div class="head">
        {title === '' ? <CallName call={call} /> : <bdi class="name">{title}</bdi>}
        {!settlement && (
          <span class={`time ${leftMs < HighlightBelowMs ? 'short' : ''}`} title="Time left to answer">
            {formatRemainingTime(leftMs)}
          </span>
        )}
      </div>
      {settlement ? (
        <p class="outcome">{settlement.outcome}</p>
      ) : (
        <>
          {title !== '' && (
            <div class="subtitle">
              <CallName call={call} />
              {ticket.kind === 'permission' && <AccessLabel isReadOnly={ticket.readOnly === true} />}
            </div>
          )}
          {ticket.page && <TicketPage page={ticket.page} tab={tab} />}
          <div class="from">{origins.filter(Boolean).join(', ')}</div>
          {description !== '' && <Description text={description} />}
          {children}
        </>
      )}
      <p class="error" role="alert">
        {settlement ? '' : error}
      </p>
    </li>
  );
}

function AccessLabel({ isReadOnly }: { readonly isReadOnly: boolean }): VNode {
  return isReadOnly ? (
    <span class="access" title="The author of the tool declares that the tool changes nothing.">
      reads
    </span>
  ) : (
    <span class="access writes" title="The author of the tool does not declare that the tool only reads.">
      can change data
    </span>
  );
}

function TicketPage({ page, tab }: { readonly page: TicketPageView; readonly tab: PanelTab | undefined }): VNode {
  const address = tab?.url ?? page.site ?? '';
  const texts = [
    page.site && readHost(page.site),
    page.browserName && `in ${removeHiddenCharacters(page.browserName)}`,
  ];
  return (
    <div class="page">
      {address !== '' && <img class="favicon" alt="" src={makeFaviconUrl(address)} />}
      <div>
        <bdi class="title">{removeHiddenCharacters(tab?.title ?? page.tabTitle ?? '')}</bdi>
        <bdi class="host">{texts.filter(Boolean).join(' ')}</bdi>
      </div>
    </div>
  );
}

/** makeFaviconUrl returns the URL of a page's icon in Chrome's favicon cache, so that the site receives no request. */
function makeFaviconUrl(address: string): string {
  return `/_favicon/?pageUrl=${encodeURIComponent(address)}&size=32`;
}

const MaxShortDescription = 140;

function Description({ text }: { readonly text: string }): VNode {
  if (text.length <= MaxShortDescription) return <p class="about">{text}</p>;
  return (
    <details class="about">
      <summary>
        <span>{text}</span>
      </summary>
    </details>
  );
}

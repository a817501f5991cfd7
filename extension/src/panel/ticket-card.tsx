import type { ComponentChildren, VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { CallView, Scope, TicketPageView } from '../../../wire/wire.gen.ts';
import type { PanelTab } from '../panel-message.ts';
import { CallName } from './call-name.tsx';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';
import { TicketArguments } from './ticket-arguments.tsx';
import { type DecisionCard, describeOutcome, formatRemainingTime, TimedGrantDurationMs } from './tickets.ts';
import { formatGrantLabel, formatToolName, isBrowserTool, readHost, removeHiddenCharacters } from './wording.ts';

const UrgentRemainingMs = 30_000;

export interface TicketCardProps {
  readonly card: DecisionCard;
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
  readonly sendAction: SendAction;
}

export function PermissionCard(cardProps: TicketCardProps): VNode {
  const { card } = cardProps;
  const { call, ticket } = card;
  const { decide, isBusy, error } = useDecision(cardProps);
  const name = formatToolName(call);
  const offeredScopeNames = ticket.scopes ?? [];
  const offeredScopes = longerGrantScopes.filter(({ scope: grantScope }) => offeredScopeNames.includes(grantScope));
  const isDisabled = isBusy || cardProps.ignoresClicks;
  return (
    <TicketCard {...cardProps} error={error}>
      <p class="reason">{removeHiddenCharacters(ticket.reason)}</p>
      <TicketArguments json={ticket.args ?? ''} tool={call.tool} />
      <div class="answers">
        <DecisionButton label={`Deny ${name}`} isDisabled={isDisabled} pressButton={(event) => decide(event, false)}>
          Deny
        </DecisionButton>
        {(offeredScopeNames.length === 0 || offeredScopeNames.includes('once')) && (
          <DecisionButton
            label={`Allow once: ${name}`}
            kind="yes"
            isDisabled={isDisabled}
            pressButton={(event) => decide(event, true, 'once')}
          >
            Allow once
          </DecisionButton>
        )}
      </div>
      {offeredScopes.length > 0 && (
        <div class="longer">
          <span>{formatGrantLabel(call, ticket.caller, ticket.title)}</span>
          <div class="answers">
            {offeredScopes.map(({ scope: grantScope, text: scopeText, label }) => (
              <DecisionButton
                key={grantScope}
                label={`Allow ${label}: ${name}`}
                isDisabled={isDisabled}
                pressButton={(event) => decide(event, true, grantScope)}
              >
                {scopeText}
              </DecisionButton>
            ))}
          </div>
          {cardProps.sameToolCount > 0 && <p class="also">{formatOtherAllowedCount(cardProps.sameToolCount)}</p>}
        </div>
      )}
    </TicketCard>
  );
}

function formatOtherAllowedCount(count: number): string {
  return count === 1 ? 'Also allows 1 other waiting call.' : `Also allows ${count} other waiting calls.`;
}

const longerGrantScopes: readonly { readonly scope: Scope; readonly text: string; readonly label: string }[] = [
  {
    scope: 'time',
    text: `for ${TimedGrantDurationMs / 60_000} min`,
    label: `for ${TimedGrantDurationMs / 60_000} min`,
  },
  { scope: 'session', text: 'this session', label: 'for this session' },
  { scope: 'always', text: 'always', label: 'always' },
];

/** UserTaskCard asks the user to do something that a tool cannot do, such as logging in. */
export function UserTaskCard(cardProps: TicketCardProps): VNode {
  const { call, ticket } = cardProps.card;
  const { decide, isBusy, error } = useDecision(cardProps);
  const showTabAction = usePanelAction(cardProps.sendAction);
  const name = formatToolName(call);
  const { tabId } = call;
  const isDisabled = isBusy || cardProps.ignoresClicks;
  return (
    <TicketCard {...cardProps} error={error || showTabAction.error}>
      {ticket.title && <p class="asked">{removeHiddenCharacters(ticket.title)}</p>}
      <p class="reason">{removeHiddenCharacters(ticket.reason)}</p>
      <div class="answers">
        <DecisionButton label={`Stop ${name}`} isDisabled={isDisabled} pressButton={(event) => decide(event, false)}>
          Stop
        </DecisionButton>
        {tabId !== undefined && (
          <button type="button" onClick={() => void showTabAction.runAction({ op: 'show', tabId })}>
            Go to tab
          </button>
        )}
        <DecisionButton
          label={`Done: ${name}`}
          kind="yes"
          isDisabled={isDisabled}
          pressButton={(event) => decide(event, true)}
        >
          Done
        </DecisionButton>
      </div>
    </TicketCard>
  );
}

interface Decision {
  readonly isBusy: boolean;
  readonly error: string;
  decide(event: Event, isAllowed: boolean, grantScope?: Scope): void;
}

function useDecision({ card, acceptsClick, setOutcome, sendAction }: TicketCardProps): Decision {
  const action = usePanelAction(sendAction);
  const wasSent = useRef(false); // a React ref updates at once, unlike the state of a component
  const [areButtonsGreyed, setButtonsGreyed] = useState(false);
  const setSent = (isOn: boolean) => {
    wasSent.current = isOn;
    setButtonsGreyed(isOn);
  };
  const decide = async (event: Event, isAllowed: boolean, grantScope?: Scope) => {
    if (wasSent.current || card.cardSettlement || !acceptsClick(event)) return;
    setSent(true);
    const { callId } = card.call;
    const { ticketId, kind } = card.ticket;
    const grantDuration = grantScope === 'time' ? { forMs: TimedGrantDurationMs } : {};
    const params = {
      callId,
      ticketId,
      allow: isAllowed,
      ...(isAllowed && grantScope ? { scope: grantScope } : {}),
      ...grantDuration,
    };
    const { error, decided } = await action.runAction({ op: 'decide', params });
    if (decided) setOutcome(describeOutcome(kind, params, decided));
    if (error !== undefined) setSent(false);
  };
  return {
    isBusy: areButtonsGreyed,
    error: action.error,
    decide: (event, isAllowed, grantScope) => void decide(event, isAllowed, grantScope),
  };
}

interface DecisionButtonProps {
  readonly label: string;
  readonly kind?: 'yes';
  /**
   * If isDisabled is true, the button is gray, but not disabled, because a disabled button would lose the keyboard
   * focus.
   */
  readonly isDisabled: boolean;
  readonly children: string;
  pressButton(event: Event): void;
}

function DecisionButton({
  label,
  kind,
  isDisabled: isButtonDisabled,
  pressButton,
  children,
}: DecisionButtonProps): VNode {
  return (
    <button type="button" class={kind} aria-label={label} aria-disabled={isButtonDisabled} onClick={pressButton}>
      {children}
    </button>
  );
}

function TicketCard(
  cardProps: TicketCardProps & { readonly error: string; readonly children: ComponentChildren },
): VNode {
  const { card, parent, tab, leftMs, error, children } = cardProps;
  const { call, ticket, cardSettlement } = card;
  const pageOrigins = [
    call.client && `for ${removeHiddenCharacters(call.client)}`,
    parent && `called by ${removeHiddenCharacters(formatToolName(parent))}`,
    ticket.kind === 'user' && call.tabId === undefined && 'in another browser',
  ];
  const title = removeHiddenCharacters(ticket.toolTitle ?? '');
  const description = removeHiddenCharacters(ticket.description ?? '');
  return (
    <li class={`ticket ${cardSettlement ? 'gone' : ''}`} data-ticket={ticket.ticketId}>
      {/* The site comes first, because it matters most for the user's decision. */}
      {isBrowserTool(call) && ticket.title && <div class="site">{removeHiddenCharacters(ticket.title)}</div>}
      <div class="head">
        {title === '' ? <CallName call={call} /> : <bdi class="name">{title}</bdi>}
        {!cardSettlement && (
          <span class={`time ${leftMs < UrgentRemainingMs ? 'short' : ''}`} title="Time left to answer">
            {formatRemainingTime(leftMs)}
          </span>
        )}
      </div>
      {cardSettlement ? (
        <p class="outcome">{cardSettlement.outcome}</p>
      ) : (
        <>
          {title !== '' && (
            <div class="subtitle">
              <CallName call={call} />
              {ticket.kind === 'permission' && <AccessLabel isReadOnly={ticket.readOnly === true} />}
            </div>
          )}
          {ticket.page && <TicketPage page={ticket.page} tab={tab} />}
          <div class="from">{pageOrigins.filter(Boolean).join(', ')}</div>
          {description !== '' && <TicketDescription text={description} />}
          {children}
        </>
      )}
      <p class="error" role="alert">
        {cardSettlement ? '' : error}
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
  const pageAddress = tab?.url ?? page.site ?? '';
  const descriptionTexts = [
    page.site && readHost(page.site),
    page.browserName && `in ${removeHiddenCharacters(page.browserName)}`,
  ];
  return (
    <div class="page">
      {pageAddress !== '' && <img class="favicon" alt="" src={makeFaviconUrl(pageAddress)} />}
      <div>
        <bdi class="title">{removeHiddenCharacters(tab?.title ?? page.tabTitle ?? '')}</bdi>
        <bdi class="host">{descriptionTexts.filter(Boolean).join(' ')}</bdi>
      </div>
    </div>
  );
}

/** makeFaviconUrl returns the URL of a page's icon in Chrome's favicon cache, so that the site receives no request. */
function makeFaviconUrl(pageAddress: string): string {
  return `/_favicon/?pageUrl=${encodeURIComponent(pageAddress)}&size=32`;
}

const MaxShortDescriptionChars = 140;

function TicketDescription({ text: descriptionText }: { readonly text: string }): VNode {
  if (descriptionText.length <= MaxShortDescriptionChars) return <p class="about">{descriptionText}</p>;
  return (
    <details class="about">
      <summary>
        <span>{descriptionText}</span>
      </summary>
    </details>
  );
}

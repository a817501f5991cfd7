import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { CallView } from '../../../wire/wire.gen.ts';
import type { PanelTab } from '../panel-message.ts';
import { makeClickGuard } from './click-guard.ts';
import type { SendAction } from './requests.ts';
import { PermissionCard, UserTaskCard } from './ticket-card.tsx';
import { type DecisionCard, describeOutcome, updateCards } from './tickets.ts';
import { formatToolName, isBrowserTool, removeHiddenCharacters } from './wording.ts';

/** MaxExpandedCards is the maximum number of approval cards that show their arguments in full. */
const MaxExpandedCards = 3;
const InitialCardCount = 5;

export interface WaitingProps {
  readonly calls: readonly CallView[];
  readonly tabs: readonly PanelTab[];
  /** nowMs and callsAt are in milliseconds since 1970; callsAt is when `calls` arrived from the server. */
  readonly nowMs: number;
  readonly callsAt: number;
  readonly sendAction: SendAction;
}

export function WaitingCards({ calls, tabs, nowMs, callsAt, sendAction }: WaitingProps): VNode {
  const decisionOutcomes = useRef(new Map<string, string>());
  const previousCards = useRef<DecisionCard[]>([]);
  const sectionRef = useRef<HTMLElement>(null);
  const cards = updateCards(previousCards.current, calls, decisionOutcomes.current, nowMs);
  previousCards.current = cards;
  for (const id of decisionOutcomes.current.keys())
    if (!cards.some((waitingCard) => waitingCard.ticket.ticketId === id)) decisionOutcomes.current.delete(id);
  const { acceptsClick, ignoresClicks } = useClickGuard(sectionRef);
  useFocusFallback(sectionRef);
  const openCards = cards.filter((card) => !card.cardSettlement);
  const [showsAll, setShowsAll] = useState(false);
  const shownCards = showsAll ? cards : cards.slice(0, InitialCardCount);
  const permissionCards = openCards.filter(({ ticket }) => ticket.kind === 'permission');
  const card = (waitingCard: DecisionCard) => {
    const { ticketId, kind } = waitingCard.ticket;
    const cardProps = {
      card: waitingCard,
      parent: calls.find((call) => call.callId === waitingCard.call.parentCallId),
      tab: tabs.find((tab) => tab.tabId === (waitingCard.ticket.page?.tabId ?? waitingCard.call.tabId)),
      sameToolCount: permissionCards.filter(
        (otherCard) => otherCard !== waitingCard && needsSameGrant(otherCard, waitingCard),
      ).length,
      leftMs: waitingCard.ticket.leftMs - (nowMs - callsAt),
      ignoresClicks: ignoresClicks(ticketId),
      acceptsClick: (event: Event) => acceptsClick(ticketId, event),
      setOutcome: (decisionOutcome: string) => decisionOutcomes.current.set(ticketId, decisionOutcome),
      sendAction,
    };
    return kind === 'user' ? (
      <UserTaskCard key={ticketId} {...cardProps} />
    ) : (
      <PermissionCard key={ticketId} {...cardProps} />
    );
  };
  return (
    <>
      <p class="unseen" role="status" aria-live="polite">
        {makeAnnouncement(openCards)}
      </p>
      <section aria-labelledby="waiting" class="waiting" ref={sectionRef} hidden={cards.length === 0}>
        <h2 id="waiting" tabIndex={-1} data-rest>
          Waiting for you <span class="count">{openCards.length}</span>
        </h2>
        <ul class={cards.length > MaxExpandedCards ? 'crowded' : ''}>{shownCards.map(card)}</ul>
        {cards.length > shownCards.length && (
          <button type="button" class="rest" onClick={() => setShowsAll(true)}>
            Show {cards.length - shownCards.length} more
          </button>
        )}
        {permissionCards.length > 1 && (
          <DenyAll
            cards={permissionCards}
            guardedCards={{ acceptsClick, ignoresClicks }}
            decisionOutcomes={decisionOutcomes.current}
            sendAction={sendAction}
          />
        )}
      </section>
    </>
  );
}

const DenyAllId = 'deny-all';

interface DenyAllProps {
  /**
   * The field `cards` contains the approval cards that were visible when the user clicked "Deny all", so that the click
   * denies no later call.
   */
  readonly cards: readonly DecisionCard[];
  readonly guardedCards: GuardedCards;
  readonly decisionOutcomes: Map<string, string>;
  readonly sendAction: SendAction;
}

function DenyAll({ cards, guardedCards, decisionOutcomes, sendAction }: DenyAllProps): VNode {
  const [isSent, setIsSent] = useState(false);
  const [error, setError] = useState('');
  const denyCall = async ({ call, ticket }: DecisionCard): Promise<string | undefined> => {
    const params = { callId: call.callId, ticketId: ticket.ticketId, allow: false };
    const { error, decided } = await sendAction({ op: 'decide', params });
    if (decided) decisionOutcomes.set(ticket.ticketId, describeOutcome(ticket.kind, params, decided));
    return error;
  };
  const denyAll = async (event: Event) => {
    if (isSent || !guardedCards.acceptsClick(DenyAllId, event)) return;
    setIsSent(true);
    const errors = await Promise.all(cards.map(denyCall));
    setError(removeHiddenCharacters(errors.find((errorText) => errorText !== undefined) ?? ''));
    setIsSent(false);
  };
  return (
    <div class="deny-all" data-ticket={DenyAllId}>
      <div class="answers">
        <button
          type="button"
          aria-disabled={isSent || guardedCards.ignoresClicks(DenyAllId)}
          onClick={(event) => void denyAll(event)}
        >
          Deny all {cards.length}
        </button>
      </div>
      <p class="error" role="alert">
        {error}
      </p>
    </div>
  );
}

function needsSameGrant(waitingCard: DecisionCard, otherCard: DecisionCard): boolean {
  const [firstGrant, secondGrant] = [waitingCard, otherCard].map(({ call, ticket }) =>
    [call.plugin, call.tool, call.prompt, call.client, ticket.caller?.plugin, isBrowserTool(call) && ticket.title].join(
      '\n',
    ),
  );
  return firstGrant === secondGrant;
}

function makeAnnouncement(openCards: readonly DecisionCard[]): string {
  const newestCard = openCards.at(-1);
  if (!newestCard) return '';
  const name = formatToolName(newestCard.call);
  const requestText = newestCard.ticket.kind === 'user' ? 'needs your action' : 'is waiting for approval';
  return `${removeHiddenCharacters(name)} ${requestText}. ${openCards.length} waiting.`;
}

/** useFocusFallback moves the keyboard focus to the heading if the card with the focus was removed. */
function useFocusFallback(sectionRef: { readonly current: HTMLElement | null }): void {
  const hadFocus = sectionRef.current?.contains(document.activeElement) === true;
  useLayoutEffect(() => {
    if (hadFocus && document.activeElement === document.body)
      sectionRef.current?.querySelector<HTMLElement>('[data-rest]')?.focus();
  });
}

interface GuardedCards {
  acceptsClick(ticketId: string, event: Event): boolean;
  ignoresClicks(ticketId: string): boolean;
}

function useClickGuard(sectionRef: { readonly current: HTMLElement | null }): GuardedCards {
  const [guardedCards] = useState(makeClickGuard);
  const [, forceRender] = useState(0);
  const renderedCards = useRef(new Map<string, boolean>());
  renderedCards.current = new Map();
  const measureCardPositions = (nowMs: number): string[] => {
    const cardPositions = new Map<string, number>();
    for (const card of sectionRef.current?.querySelectorAll<HTMLElement>('[data-ticket]') ?? []) {
      // The buttons of a card can move within the card, for example when the user collapses the arguments of the call.
      const buttons = card.querySelector('.answers') ?? card;
      cardPositions.set(card.dataset.ticket ?? '', buttons.getBoundingClientRect().top + window.scrollY);
    }
    guardedCards.recordPositions(cardPositions, nowMs);
    return [...cardPositions.keys()];
  };
  useLayoutEffect(() => {
    const nowMs = performance.now();
    const waitMsByCard = new Map(
      measureCardPositions(nowMs).map((id) => [id, guardedCards.remainingWaitMs(id, nowMs)]),
    );
    // isRenderStale is true if a render moved an approval card but still shows the card's buttons as active.
    const isRenderStale = [...waitMsByCard].some(
      ([id, waitMs]) => renderedCards.current.has(id) && renderedCards.current.get(id) !== waitMs > 0,
    );
    const longestWaitMs = Math.max(0, ...waitMsByCard.values());
    if (isRenderStale) forceRender((renderCount) => renderCount + 1);
    if (isRenderStale || longestWaitMs === 0) return undefined;
    const timer = setTimeout(() => forceRender((renderCount) => renderCount + 1), longestWaitMs);
    return () => clearTimeout(timer);
  });
  return {
    acceptsClick: (ticketId, event) => {
      measureCardPositions(event.timeStamp);
      return guardedCards.remainingWaitMs(ticketId, event.timeStamp) === 0;
    },
    ignoresClicks: (ticketId) => {
      const isWaiting = guardedCards.remainingWaitMs(ticketId, performance.now()) > 0;
      renderedCards.current.set(ticketId, isWaiting);
      return isWaiting;
    },
  };
}

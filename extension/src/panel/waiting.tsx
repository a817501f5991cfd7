import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { CallView } from '../../../wire/wire.gen.ts';
import type { PanelTab } from '../panel-message.ts';
import { makeClickGuard } from './click-guard.ts';
import type { SendAction } from './requests.ts';
import { PermissionCard, UserCard } from './ticket-card.tsx';
import { type Card, describeOutcome, updateCards } from './tickets.ts';
import { formatToolName, isBrowserTool, removeHiddenCharacters } from './wording.ts';

/** MaxFullCards is the maximum number of approval cards that show their arguments in full. */
const MaxFullCards = 3;
const InitialCardCount = 5;

export interface WaitingProps {
  readonly calls: readonly CallView[];
  readonly tabs: readonly PanelTab[];
  /** nowMs and callsAt are in milliseconds since 1970; callsAt is when `calls` arrived from the server. */
  readonly nowMs: number;
  readonly callsAt: number;
  readonly act: SendAction;
}

export function Waiting({ calls, tabs, nowMs, callsAt, act }: WaitingProps): VNode {
  const outcomes = useRef(new Map<string, string>());
  const previousCards = useRef<Card[]>([]);
  const sectionRef = useRef<HTMLElement>(null);
  const cards = updateCards(previousCards.current, calls, outcomes.current, nowMs);
  previousCards.current = cards;
  for (const id of outcomes.current.keys())
    if (!cards.some((one) => one.ticket.ticketId === id)) outcomes.current.delete(id);
  const { acceptsClick, ignoresClicks } = useClickGuard(sectionRef);
  useFocusFallback(sectionRef);
  const openCards = cards.filter((card) => !card.settlement);
  const [showsAll, setShowsAll] = useState(false);
  const shownCards = showsAll ? cards : cards.slice(0, InitialCardCount);
  const permissionCards = openCards.filter(({ ticket }) => ticket.kind === 'permission');
  const card = (one: Card) => {
    const { ticketId, kind } = one.ticket;
    const props = {
      card: one,
      parent: calls.find((call) => call.callId === one.call.parentCallId),
      tab: tabs.find((tab) => tab.tabId === (one.ticket.page?.tabId ?? one.call.tabId)),
      sameToolCount: permissionCards.filter((other) => other !== one && needsSameGrant(other, one)).length,
      leftMs: one.ticket.leftMs - (nowMs - callsAt),
      ignoresClicks: ignoresClicks(ticketId),
      acceptsClick: (event: Event) => acceptsClick(ticketId, event),
      setOutcome: (outcome: string) => outcomes.current.set(ticketId, outcome),
      act,
    };
    return kind === 'user' ? <UserCard key={ticketId} {...props} /> : <PermissionCard key={ticketId} {...props} />;
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
        <ul class={cards.length > MaxFullCards ? 'crowded' : ''}>{shownCards.map(card)}</ul>
        {cards.length > shownCards.length && (
          <button type="button" class="rest" onClick={() => setShowsAll(true)}>
            Show {cards.length - shownCards.length} more
          </button>
        )}
        {permissionCards.length > 1 && (
          <DenyAll
            cards={permissionCards}
            guard={{ acceptsClick, ignoresClicks }}
            outcomes={outcomes.current}
            act={act}
          />
        )}
      </section>
    </>
  );
}

const DenyAllId = 'deny-all';

interface DenyAllProps {
  /**
   * The field `cards` contains the approval cards that are visible at the click, so that "Deny all" denies no call that
   * arrives later.
   */
  readonly cards: readonly Card[];
  readonly guard: GuardedCards;
  readonly outcomes: Map<string, string>;
  readonly act: SendAction;
}

function DenyAll({ cards, guard, outcomes, act }: DenyAllProps): VNode {
  const [isSent, setIsSent] = useState(false);
  const [error, setError] = useState('');
  const deny = async ({ call, ticket }: Card): Promise<string | undefined> => {
    const params = { callId: call.callId, ticketId: ticket.ticketId, allow: false };
    const { error, decided } = await act({ op: 'decide', params });
    if (decided) outcomes.set(ticket.ticketId, describeOutcome(ticket.kind, params, decided));
    return error;
  };
  const denyAll = async (event: Event) => {
    if (isSent || !guard.acceptsClick(DenyAllId, event)) return;
    setIsSent(true);
    const errors = await Promise.all(cards.map(deny));
    setError(removeHiddenCharacters(errors.find((text) => text !== undefined) ?? ''));
    setIsSent(false);
  };
  return (
    <div class="deny-all" data-ticket={DenyAllId}>
      <div class="answers">
        <button
          type="button"
          aria-disabled={isSent || guard.ignoresClicks(DenyAllId)}
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

function needsSameGrant(one: Card, other: Card): boolean {
  const [a, b] = [one, other].map(({ call, ticket }) =>
    [call.plugin, call.tool, call.prompt, call.client, ticket.caller?.plugin, isBrowserTool(call) && ticket.title].join(
      '\n',
    ),
  );
  return a === b;
}

function makeAnnouncement(open: readonly Card[]): string {
  const newestCard = open.at(-1);
  if (!newestCard) return '';
  const name = formatToolName(newestCard.call);
  const requestText = newestCard.ticket.kind === 'user' ? 'needs your action' : 'is waiting for approval';
  return `${removeHiddenCharacters(name)} ${requestText}. ${open.length} waiting.`;
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
  const [guard] = useState(makeClickGuard);
  const [, redraw] = useState(0);
  const rendered = useRef(new Map<string, boolean>());
  rendered.current = new Map();
  const measure = (nowMs: number): string[] => {
    const places = new Map<string, number>();
    for (const card of sectionRef.current?.querySelectorAll<HTMLElement>('[data-ticket]') ?? []) {
      // The buttons of a card can move within the card, for example when the user collapses the arguments of the call.
      const buttons = card.querySelector('.answers') ?? card;
      places.set(card.dataset.ticket ?? '', buttons.getBoundingClientRect().top + window.scrollY);
    }
    guard.recordPositions(places, nowMs);
    return [...places.keys()];
  };
  useLayoutEffect(() => {
    const nowMs = performance.now();
    const waitMsByCard = new Map(measure(nowMs).map((id) => [id, guard.remainingWaitMs(id, nowMs)]));
    // isRenderWrong is true if a render has moved a card but still shows its buttons as active.
    const isRenderWrong = [...waitMsByCard].some(
      ([id, waitMs]) => rendered.current.has(id) && rendered.current.get(id) !== waitMs > 0,
    );
    const longestWaitMs = Math.max(0, ...waitMsByCard.values());
    if (isRenderWrong) redraw((n) => n + 1);
    if (isRenderWrong || longestWaitMs === 0) return undefined;
    const timer = setTimeout(() => redraw((n) => n + 1), longestWaitMs);
    return () => clearTimeout(timer);
  });
  return {
    acceptsClick: (ticketId, event) => {
      measure(event.timeStamp);
      return guard.remainingWaitMs(ticketId, event.timeStamp) === 0;
    },
    ignoresClicks: (ticketId) => {
      const isWaiting = guard.remainingWaitMs(ticketId, performance.now()) > 0;
      rendered.current.set(ticketId, isWaiting);
      return isWaiting;
    },
  };
}

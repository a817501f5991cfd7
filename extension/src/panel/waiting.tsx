import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { CallView } from '../../../wire/wire.gen.ts';
import type { PanelTab } from '../panel-message.ts';
import { makeClickGuard } from './click-guard.ts';
import type { Act } from './requests.ts';
import { PermissionCard, UserCard } from './ticket-card.tsx';
import { type Card, nextCards } from './tickets.ts';
import { removeHidden } from './wording.ts';

/** ManyCards is the number of cards above which arguments are shown compactly. */
const ManyCards = 3;
/** FirstCards is the number of cards that are shown before the user clicks "Show more". */
const FirstCards = 5;

export interface WaitingProps {
  readonly calls: readonly CallView[];
  readonly tabs: readonly PanelTab[];
  /** now and callsAt are in milliseconds since 1970. */
  readonly now: number;
  readonly callsAt: number;
  readonly act: Act;
}

/** Waiting shows the decisions that wait for the user, at the top of the panel. */
export function Waiting({ calls, tabs, now, callsAt, act }: WaitingProps): VNode {
  const outcomes = useRef(new Map<string, string>());
  const last = useRef<Card[]>([]);
  const place = useRef<HTMLElement>(null);
  const cards = nextCards(last.current, calls, outcomes.current, now);
  last.current = cards;
  for (const id of outcomes.current.keys())
    if (!cards.some((one) => one.ticket.ticketId === id)) outcomes.current.delete(id);
  const { settled, arming } = useClickGuard(place);
  useFocusFallback(place);
  const open = cards.filter((card) => !card.gone);
  const [all, setAll] = useState(false);
  const shown = all ? cards : cards.slice(0, FirstCards);
  const card = (one: Card) => {
    const { ticketId, kind } = one.ticket;
    const props = {
      card: one,
      parent: calls.find((call) => call.callId === one.call.parentCallId),
      tab: tabs.find((tab) => tab.tabId === one.call.tabId),
      leftMs: one.ticket.leftMs - (now - callsAt),
      arming: arming(ticketId),
      settled: (event: Event) => settled(ticketId, event),
      setOutcome: (outcome: string) => outcomes.current.set(ticketId, outcome),
      act,
    };
    return kind === 'user' ? <UserCard key={ticketId} {...props} /> : <PermissionCard key={ticketId} {...props} />;
  };
  return (
    <>
      <p class="unseen" role="status" aria-live="polite">
        {announcementText(open)}
      </p>
      <section aria-labelledby="waiting" class="waiting" ref={place} hidden={cards.length === 0}>
        <h2 id="waiting" tabIndex={-1} data-rest>
          Waiting for you <span class="count">{open.length}</span>
        </h2>
        <ul class={cards.length > ManyCards ? 'crowded' : ''}>{shown.map(card)}</ul>
        {cards.length > shown.length && (
          <button type="button" class="rest" onClick={() => setAll(true)}>
            Show {cards.length - shown.length} more
          </button>
        )}
      </section>
    </>
  );
}

/** announcementText returns the text for screen readers: the newest card. It is read out when it changes. */
function announcementText(open: readonly Card[]): string {
  const last = open.at(-1);
  if (!last) return '';
  const name = `${last.call.plugin} ${last.call.tool}`;
  const what = last.ticket.kind === 'user' ? 'needs your action' : 'is waiting for approval';
  return `${removeHidden(name)} ${what}. ${open.length} waiting.`;
}

/** useFocusFallback focuses the heading if the focused element was removed, so that keyboard users keep their place. */
function useFocusFallback(place: { readonly current: HTMLElement | null }): void {
  const had = place.current?.contains(document.activeElement) === true;
  useLayoutEffect(() => {
    if (had && document.activeElement === document.body)
      place.current?.querySelector<HTMLElement>('[data-rest]')?.focus();
  });
}

interface GuardedCards {
  /** settled reports whether a click on a card counts. */
  settled(ticketId: string, event: Event): boolean;
  /** arming is true while clicks on a card are ignored. */
  arming(ticketId: string): boolean;
}

/** useClickGuard measures the positions of the cards' buttons after each render. */
function useClickGuard(place: { readonly current: HTMLElement | null }): GuardedCards {
  const [guard] = useState(makeClickGuard);
  const [, redraw] = useState(0);
  const rendered = useRef(new Map<string, boolean>());
  rendered.current = new Map();
  const measure = (nowMs: number): string[] => {
    const places = new Map<string, number>();
    for (const card of place.current?.querySelectorAll<HTMLElement>('[data-ticket]') ?? []) {
      // The buttons also move within a card, for example when its arguments collapse.
      const buttons = card.querySelector('.answers') ?? card;
      places.set(card.dataset.ticket ?? '', buttons.getBoundingClientRect().top + window.scrollY);
    }
    guard.rendered(places, nowMs);
    return [...places.keys()];
  };
  useLayoutEffect(() => {
    const nowMs = performance.now();
    const waits = new Map(measure(nowMs).map((id) => [id, guard.waitMs(id, nowMs)]));
    // This render moved the card after its buttons were rendered as active.
    const wrong = [...waits].some(([id, waitMs]) => rendered.current.get(id) !== waitMs > 0);
    const longest = Math.max(0, ...waits.values());
    if (wrong) redraw((n) => n + 1);
    if (wrong || longest === 0) return undefined;
    const timer = setTimeout(() => redraw((n) => n + 1), longest);
    return () => clearTimeout(timer);
  });
  return {
    settled: (ticketId, event) => {
      measure(event.timeStamp);
      return guard.waitMs(ticketId, event.timeStamp) === 0;
    },
    arming: (ticketId) => {
      const waits = guard.waitMs(ticketId, performance.now()) > 0;
      rendered.current.set(ticketId, waits);
      return waits;
    },
  };
}

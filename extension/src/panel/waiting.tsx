import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { CallView } from '../../../wire/wire.gen.ts';
import type { PanelTab } from '../panel-message.ts';
import type { Act } from './requests.ts';
import { makeStillness } from './stillness.ts';
import { PermissionCard, UserCard } from './ticket-card.tsx';
import { type Card, nextCards } from './tickets.ts';
import { plain } from './wording.ts';

/** ManyCards is up to how many cards show their arguments at length. */
const ManyCards = 3;
/** FirstCards is how many cards are shown until the person wants all. */
const FirstCards = 5;

export interface WaitingProps {
  readonly calls: readonly CallView[];
  readonly tabs: readonly PanelTab[];
  /** now and callsAt are in milliseconds since 1970. */
  readonly now: number;
  readonly callsAt: number;
  readonly act: Act;
}

/** Waiting shows the questions to the person, above all else. */
export function Waiting({ calls, tabs, now, callsAt, act }: WaitingProps): VNode {
  const said = useRef(new Map<string, string>());
  const had = useRef<Card[]>([]);
  const place = useRef<HTMLElement>(null);
  const cards = nextCards(had.current, calls, said.current, now);
  had.current = cards;
  for (const id of said.current.keys()) if (!cards.some((one) => one.ticket.ticketId === id)) said.current.delete(id);
  const { settled, arming } = useStillCards(place);
  useKeptFocus(place);
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
      say: (fate: string) => said.current.set(ticketId, fate),
      act,
    };
    return kind === 'user' ? <UserCard key={ticketId} {...props} /> : <PermissionCard key={ticketId} {...props} />;
  };
  return (
    <>
      <p class="unseen" role="status" aria-live="polite">
        {announcement(open)}
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

/** announcement is read out when it changes: which question came last. */
function announcement(open: readonly Card[]): string {
  const last = open.at(-1);
  if (!last) return '';
  const name = `${last.call.plugin} ${last.call.tool}`;
  const what = last.ticket.kind === 'user' ? 'needs you' : 'asks for permission';
  return `${plain(name)} ${what}. ${open.length} waiting.`;
}

/** useKeptFocus takes the focus to the heading if the drawing took away what had it, so that a keyboard goes on from there. */
function useKeptFocus(place: { readonly current: HTMLElement | null }): void {
  const had = place.current?.contains(document.activeElement) === true;
  useLayoutEffect(() => {
    if (had && document.activeElement === document.body)
      place.current?.querySelector<HTMLElement>('[data-rest]')?.focus();
  });
}

interface StillCards {
  /** settled reports whether a press on a card counts. */
  settled(ticketId: string, event: Event): boolean;
  /** arming is true while presses on a card don't count. */
  arming(ticketId: string): boolean;
}

/** useStillCards measures after each drawing where the cards' buttons stand. */
function useStillCards(place: { readonly current: HTMLElement | null }): StillCards {
  const [still] = useState(makeStillness);
  const [, redraw] = useState(0);
  const drawn = useRef(new Map<string, boolean>());
  drawn.current = new Map();
  const measure = (nowMs: number): string[] => {
    const places = new Map<string, number>();
    for (const card of place.current?.querySelectorAll<HTMLElement>('[data-ticket]') ?? []) {
      // Its buttons also move while it stands, as when it takes less room among many.
      const buttons = card.querySelector('.answers') ?? card;
      places.set(card.dataset.ticket ?? '', buttons.getBoundingClientRect().top + window.scrollY);
    }
    still.drawn(places, nowMs);
    return [...places.keys()];
  };
  useLayoutEffect(() => {
    const nowMs = performance.now();
    const waits = new Map(measure(nowMs).map((id) => [id, still.waitMs(id, nowMs)]));
    // A card that this drawing has moved was drawn as one that can be answered.
    const wrong = [...waits].some(([id, waitMs]) => drawn.current.get(id) !== waitMs > 0);
    const longest = Math.max(0, ...waits.values());
    if (wrong) redraw((n) => n + 1);
    if (wrong || longest === 0) return undefined;
    const timer = setTimeout(() => redraw((n) => n + 1), longest);
    return () => clearTimeout(timer);
  });
  return {
    settled: (ticketId, event) => {
      measure(event.timeStamp);
      return still.waitMs(ticketId, event.timeStamp) === 0;
    },
    arming: (ticketId) => {
      const waits = still.waitMs(ticketId, performance.now()) > 0;
      drawn.current.set(ticketId, waits);
      return waits;
    },
  };
}

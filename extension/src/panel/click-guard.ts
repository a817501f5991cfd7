// Ignores clicks on a card that has just appeared or moved. Cards appear, disappear and move while the user aims at a
// button. Without this guard, a click could hit the wrong card and allow the wrong call.

/** StillMs is how long a card must stay in place before clicks count, in milliseconds. */
export const StillMs = 500;

/** ClickGuard measures how long each card has been in its place. */
export interface ClickGuard {
  /** rendered records the positions of all cards' buttons after a render, in pixels from the top of the page. */
  rendered(places: ReadonlyMap<string, number>, nowMs: number): void;
  /** waitMs returns the time until clicks on a card count. 0 means that clicks count now. */
  waitMs(card: string, nowMs: number): number;
}

/** makeClickGuard returns a ClickGuard without cards. */
export function makeClickGuard(): ClickGuard {
  let known = new Map<string, { top: number; sinceMs: number }>();
  return {
    rendered: (places, nowMs) => {
      const next: typeof known = new Map();
      for (const [card, top] of places) {
        const was = known.get(card);
        next.set(card, was && Math.abs(was.top - top) < 1 ? was : { top, sinceMs: nowMs });
      }
      known = next;
    },
    waitMs: (card, nowMs) => {
      const was = known.get(card);
      return was ? Math.max(0, was.sinceMs + StillMs - nowMs) : StillMs;
    },
  };
}

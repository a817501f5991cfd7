// Ignores clicks on a card that has just appeared or moved. Cards appear, disappear and move while the user aims at a
// button. Without the click guard, a click could hit the wrong card and allow the wrong call.

/** MinStillMs is how long a card must stay in place before clicks on the card have an effect, in milliseconds. */
export const MinStillMs = 500;

/** ClickGuard measures how long each card has been in its place. */
export interface ClickGuard {
  /** recordPositions stores the positions of all cards' buttons after a render, in pixels from the top of the page. */
  recordPositions(places: ReadonlyMap<string, number>, nowMs: number): void;
  /** waitMs returns the time until clicks on a card have an effect; 0 if clicks already have an effect. */
  waitMs(card: string, nowMs: number): number;
}

/** makeClickGuard returns a ClickGuard without cards. */
export function makeClickGuard(): ClickGuard {
  let positions = new Map<string, { top: number; sinceMs: number }>();
  return {
    recordPositions: (places, nowMs) => {
      const newPositions: typeof positions = new Map();
      for (const [card, top] of places) {
        const oldPosition = positions.get(card);
        newPositions.set(
          card,
          oldPosition && Math.abs(oldPosition.top - top) < 1 ? oldPosition : { top, sinceMs: nowMs },
        );
      }
      positions = newPositions;
    },
    waitMs: (card, nowMs) => {
      const position = positions.get(card);
      return position ? Math.max(0, position.sinceMs + MinStillMs - nowMs) : MinStillMs;
    },
  };
}

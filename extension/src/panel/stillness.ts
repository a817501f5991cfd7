// Cards that ask for a decision come, go and move by themselves, and a person may press a button at that moment. A press
// on a card counts only after the card has stood still, so that none slides under the pointer and is allowed by mistake.

/** StillMs is how long a card has to stand in its place, in milliseconds. */
export const StillMs = 500;

/** Stillness knows how long each card stands where it stands. */
export interface Stillness {
  /** drawn takes where the buttons of all cards are after they were drawn, in pixels from the top of the page. */
  drawn(places: ReadonlyMap<string, number>, nowMs: number): void;
  /** waitMs returns how long a card has to stand still on before presses count; 0 if they do. */
  waitMs(card: string, nowMs: number): number;
}

/** makeStillness returns a Stillness that knows of no card. */
export function makeStillness(): Stillness {
  let known = new Map<string, { top: number; sinceMs: number }>();
  return {
    drawn: (places, nowMs) => {
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

// Ignores clicks on an approval card that has just appeared or moved. A card can move in the moment in which the user
// clicks. Without the click guard, the user could click another card by accident and approve the wrong call.

/**
 * MinStablePositionMs is how long an approval card must stay in place before its buttons accept clicks, in
 * milliseconds.
 */
export const MinStablePositionMs = 500;

export interface ClickGuard {
  /**
   * recordPositions stores the position of each card's buttons after a render, in pixels from the top of the panel's
   * document.
   */
  recordPositions(cardPositions: ReadonlyMap<string, number>, nowMs: number): void;
  /**
   * remainingWaitMs returns for how many more milliseconds an approval card ignores clicks, or 0 if the card accepts
   * clicks.
   */
  remainingWaitMs(card: string, nowMs: number): number;
}

export function makeClickGuard(): ClickGuard {
  let positions = new Map<string, { top: number; sinceMs: number }>();
  return {
    recordPositions: (cardPositions, nowMs) => {
      const newPositions: typeof positions = new Map();
      for (const [card, cardTop] of cardPositions) {
        const oldPosition = positions.get(card);
        newPositions.set(
          card,
          oldPosition && Math.abs(oldPosition.top - cardTop) < 1 ? oldPosition : { top: cardTop, sinceMs: nowMs },
        );
      }
      positions = newPositions;
    },
    remainingWaitMs: (card, nowMs) => {
      const position = positions.get(card);
      return position ? Math.max(0, position.sinceMs + MinStablePositionMs - nowMs) : MinStablePositionMs;
    },
  };
}

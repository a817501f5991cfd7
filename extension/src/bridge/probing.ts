/** Delays are the times between two questions to adapters that are not ready, in milliseconds; the last one repeats. */
const Delays = [1000, 4000, 15_000, 30_000] as const;
/** MovedMs is how long the page has after a navigation within the document, and MovedEveryMs the least time between two. */
const MovedMs = 250;
const MovedEveryMs = 1000;

export interface ProbingOptions {
  /** probe asks adapters whether they are ready: all, or those that did not say so. */
  probe(all: boolean): void;
  /** ready reports whether all adapters say that they are. */
  ready(): boolean;
  /** visible reports whether a person may see the document. */
  visible(): boolean;
}

/** Probing decides when adapters are asked whether they are ready. Before each call they are asked anyway. */
export interface Probing {
  /** loaded reports that the document, or more of it, is there. */
  loaded(): void;
  /** moved reports that the page went to another address without a new document. */
  moved(): void;
  /** shown reports that the document may be visible again. */
  shown(): void;
  /** changed reports that an adapter has said whether it is ready. */
  changed(): void;
}

/** makeProbing returns a Probing that asks nobody yet. */
export function makeProbing({ probe, ready, visible }: ProbingOptions): Probing {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let turn = 0;
  let moving = false;
  let movedAt = 0;

  const wait = () => {
    if (timer !== undefined || ready() || !visible()) return;
    timer = setTimeout(ask, Delays[Math.min(turn, Delays.length - 1)]);
    turn++;
  };
  const ask = () => {
    timer = undefined;
    if (!visible()) return; // shown goes on
    if (!ready()) probe(false);
    wait();
  };
  return {
    loaded: () => {
      probe(false);
      wait();
    },
    moved: () => {
      if (moving) return;
      moving = true;
      const after = Math.max(MovedMs, movedAt + MovedEveryMs - Date.now());
      setTimeout(() => {
        moving = false;
        movedAt = Date.now();
        probe(true);
      }, after);
    },
    shown: () => {
      if (!visible() || ready()) return;
      turn = 0;
      probe(false);
      wait();
    },
    changed: () => {
      if (ready()) turn = 0;
      wait();
    },
  };
}

/**
 * Delays are the intervals between probes of adapters that are not ready, in milliseconds. The last interval repeats.
 */
const Delays = [1000, 4000, 15_000, 30_000] as const;
/**
 * MovedMs is the delay of a probe after a navigation within the document. MovedEveryMs is the least time between two
 * such probes.
 */
const MovedMs = 250;
const MovedEveryMs = 1000;

export interface ProbingOptions {
  /** probe requests the readiness of all adapters, or only of adapters that are not ready. */
  probe(all: boolean): void;
  /** ready reports whether all adapters are ready. */
  ready(): boolean;
  /** visible reports whether the document may be visible to the user. */
  visible(): boolean;
}

/**
 * Probing schedules the probes of adapters for readiness. The start of each call also probes the adapter of the call.
 */
export interface Probing {
  /** documentLoaded is called when the document is parsed, and when it is loaded. */
  documentLoaded(): void;
  /** urlChanged is called when the URL of the document has changed. */
  urlChanged(): void;
  /** visibilityChanged is called when the document may have become visible again. */
  visibilityChanged(): void;
  /** changed reports that an adapter sent its readiness. */
  changed(): void;
}

/** makeProbing returns an idle Probing. */
export function makeProbing({ probe, ready, visible }: ProbingOptions): Probing {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let turn = 0;
  let moving = false;
  let movedAt = 0;

  const wait = () => {
    if (timer !== undefined || ready() || !visible()) return;
    timer = setTimeout(probeAgain, Delays[Math.min(turn, Delays.length - 1)]);
    turn++;
  };
  const probeAgain = () => {
    timer = undefined;
    if (!visible()) return; // visibilityChanged continues
    if (!ready()) probe(false);
    wait();
  };
  return {
    documentLoaded: () => {
      probe(false);
      wait();
    },
    urlChanged: () => {
      if (moving) return;
      moving = true;
      const after = Math.max(MovedMs, movedAt + MovedEveryMs - Date.now());
      setTimeout(() => {
        moving = false;
        movedAt = Date.now();
        probe(true);
      }, after);
    },
    visibilityChanged: () => {
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

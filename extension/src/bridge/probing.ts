/** ProbeDelaysMs are the intervals between readiness probes of an adapter; the last interval repeats. */
const ProbeDelaysMs = [1000, 4000, 15_000, 30_000] as const;
/** UrlProbeDelayMs is the delay between a navigation within the document and the readiness probe, in milliseconds. */
const UrlProbeDelayMs = 250;
const MinUrlProbeIntervalMs = 1000;

export interface ProbingOptions {
  /** The method `probe` checks the readiness of all adapters, or only of the adapters that are not ready. */
  probe(all: boolean): void;
  areAllReady(): boolean;
  isVisible(): boolean;
}

/**
 * ReadinessProbing schedules readiness probes, in which the bridge checks whether an adapter is ready. In addition to
 * the scheduled probes, each start of a call probes the adapter that runs the call.
 */
export interface ReadinessProbing {
  /** onDocumentLoaded is called twice: when the document is parsed, and when its resources are loaded. */
  onDocumentLoaded(): void;
  onUrlChanged(): void;
  onVisibilityChanged(): void;
  onReadinessChanged(): void;
}

export function makeReadinessProbing({ probe, areAllReady, isVisible }: ProbingOptions): ReadinessProbing {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let delayIndex = 0;
  let isUrlProbeScheduled = false;
  let lastUrlProbeAtMs = 0;

  const scheduleProbe = () => {
    if (timer !== undefined || areAllReady() || !isVisible()) return;
    timer = setTimeout(runScheduledProbe, ProbeDelaysMs[Math.min(delayIndex, ProbeDelaysMs.length - 1)]);
    delayIndex++;
  };
  const runScheduledProbe = () => {
    timer = undefined;
    if (!isVisible()) return; // When the document is visible again, onVisibilityChanged schedules the next probe.
    if (!areAllReady()) probe(false);
    scheduleProbe();
  };
  return {
    onDocumentLoaded: () => {
      probe(false);
      scheduleProbe();
    },
    onUrlChanged: () => {
      if (isUrlProbeScheduled) return;
      isUrlProbeScheduled = true;
      const delayMs = Math.max(UrlProbeDelayMs, lastUrlProbeAtMs + MinUrlProbeIntervalMs - Date.now());
      setTimeout(() => {
        isUrlProbeScheduled = false;
        lastUrlProbeAtMs = Date.now();
        probe(true);
      }, delayMs);
    },
    onVisibilityChanged: () => {
      if (!isVisible() || areAllReady()) return;
      delayIndex = 0;
      probe(false);
      scheduleProbe();
    },
    onReadinessChanged: () => {
      if (areAllReady()) delayIndex = 0;
      scheduleProbe();
    },
  };
}

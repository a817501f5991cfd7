/**
 * RestFactor is how much longer the panel rests between two renders than a render takes, so that a panel that shows
 * hundreds of calls per second leaves the processor to the calls. Chrome's layout and painting of a render take about
 * three times as long as its script.
 */
const RestFactor = 40;
const MaxRestMs = 1000;

/**
 * makePacedRender returns a function that calls `renderNow` immediately, or after a rest if the last render has just
 * ended. During the rest, further calls are combined into one.
 */
export function makePacedRender(renderNow: () => void, readTimeMs: () => number = () => performance.now()): () => void {
  let restEndMs = Number.NEGATIVE_INFINITY;
  let isScheduled = false;
  const render = () => {
    isScheduled = false;
    const startMs = readTimeMs();
    renderNow();
    const endMs = readTimeMs();
    restEndMs = endMs + Math.min(RestFactor * (endMs - startMs), MaxRestMs);
  };
  return () => {
    if (isScheduled) return;
    const restMs = restEndMs - readTimeMs();
    if (restMs <= 0) {
      render();
      return;
    }
    isScheduled = true;
    setTimeout(render, restMs);
  };
}

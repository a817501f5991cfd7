/**
 * PauseFactor is the ratio of the pause after a render to the duration of the render's script. Chrome's layout and
 * painting take about three times as long as the script.
 */
const PauseFactor = 40;
const MaxPauseMs = 500;

/**
 * makeThrottledRender returns a function that calls `renderNow` immediately, or at the end of the pause after the last
 * render. Calls during the pause are combined into one. A panel that shows hundreds of calls per second would otherwise
 * use half of a processor.
 */
export function makeThrottledRender(
  renderNow: () => void,
  readTimeMs: () => number = () => performance.now(),
): () => void {
  let pauseEndMs = Number.NEGATIVE_INFINITY;
  let isScheduled = false;
  const render = () => {
    isScheduled = false;
    const startMs = readTimeMs();
    renderNow();
    const endMs = readTimeMs();
    pauseEndMs = endMs + Math.min(PauseFactor * (endMs - startMs), MaxPauseMs);
  };
  return () => {
    if (isScheduled) return;
    const pauseMs = pauseEndMs - readTimeMs();
    if (pauseMs <= 0) {
      render();
      return;
    }
    isScheduled = true;
    setTimeout(render, pauseMs);
  };
}

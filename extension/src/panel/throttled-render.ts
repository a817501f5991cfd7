/**
 * PauseFactor is the ratio of the pause after a render to the duration of the render's script. Chrome's layout and
 * painting take about three times as long as the script.
 */
const PauseFactor = 40;
const MaxPauseMs = 1000;

/**
 * makeThrottledRender returns a function that calls `renderNow` immediately, or at the end of the pause after the last
 * render. Calls during the pause are combined into one. An urgent call does not wait. A panel that shows hundreds of
 * calls per second would otherwise use half of a processor.
 */
export function makeThrottledRender(
  renderNow: () => void,
  readTimeMs: () => number = () => performance.now(),
): (isUrgent: boolean) => void {
  let pauseEndMs = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const render = () => {
    clearTimeout(timer);
    timer = undefined;
    const startMs = readTimeMs();
    renderNow();
    const endMs = readTimeMs();
    pauseEndMs = endMs + Math.min(PauseFactor * (endMs - startMs), MaxPauseMs);
  };
  return (isUrgent) => {
    const pauseMs = pauseEndMs - readTimeMs();
    if (isUrgent || pauseMs <= 0) render();
    else timer ??= setTimeout(render, pauseMs);
  };
}

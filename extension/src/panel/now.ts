import { useEffect, useState } from 'preact/hooks';

const TickIntervalMs = 1000;

const tickListeners = new Set<(nowMs: number) => void>();
let tickTimer: ReturnType<typeof setInterval> | undefined;

/** useNowMs returns the current time in milliseconds since 1970, and renders the component again every second. */
export function useNowMs(): number {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    tickListeners.add(setNowMs);
    tickTimer ??= setInterval(() => {
      for (const listener of tickListeners) listener(Date.now());
    }, TickIntervalMs);
    return () => {
      tickListeners.delete(setNowMs);
      if (tickListeners.size > 0) return;
      clearInterval(tickTimer);
      tickTimer = undefined;
    };
  }, []);
  return nowMs;
}

import { useEffect, useState } from 'preact/hooks';

/** TickMs is how often displayed times are updated, in milliseconds. */
const TickMs = 1000;

const listeners = new Set<(nowMs: number) => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/**
 * useNowMs returns the current time in milliseconds since 1970, and renders the component again every second. All
 * components that call useNowMs share one timer.
 */
export function useNowMs(): number {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    listeners.add(setNowMs);
    timer ??= setInterval(() => {
      for (const listener of listeners) listener(Date.now());
    }, TickMs);
    return () => {
      listeners.delete(setNowMs);
      if (listeners.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  return nowMs;
}

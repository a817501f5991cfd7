import { useLayoutEffect, useState } from 'preact/hooks';
import { makeClickGuard } from './click-guard.ts';

export interface GuardedButton {
  acceptsClick(event: Event): boolean;
  /** ignoresClicks is true while the button ignores clicks, because it has just appeared or moved. */
  readonly ignoresClicks: boolean;
}

const ButtonKey = 'button';

export function useGuardedButton(buttonRef: { readonly current: HTMLElement | null }): GuardedButton {
  const [clickGuard] = useState(makeClickGuard);
  const [, forceRender] = useState(0);
  const measureButtonPosition = (nowMs: number) => {
    const button = buttonRef.current;
    const positions = new Map<string, number>();
    if (button) positions.set(ButtonKey, button.getBoundingClientRect().top + window.scrollY);
    clickGuard.recordPositions(positions, nowMs);
  };
  const ignoresClicks = clickGuard.remainingWaitMs(ButtonKey, performance.now()) > 0;
  useLayoutEffect(() => {
    const nowMs = performance.now();
    measureButtonPosition(nowMs);
    const waitMs = clickGuard.remainingWaitMs(ButtonKey, nowMs);
    if (waitMs > 0 !== ignoresClicks) forceRender((renderCount) => renderCount + 1);
    if (waitMs === 0) return undefined;
    const timer = setTimeout(() => forceRender((renderCount) => renderCount + 1), waitMs);
    return () => clearTimeout(timer);
  });
  return {
    acceptsClick: (event) => {
      measureButtonPosition(event.timeStamp);
      return clickGuard.remainingWaitMs(ButtonKey, event.timeStamp) === 0;
    },
    ignoresClicks,
  };
}

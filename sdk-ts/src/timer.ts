import { getContainer } from './runtime/container.ts';
import { isMethod } from './runtime/value.ts';

/**
 * startTimer calls `callback` once after `ms` milliseconds, even in a hidden tab, and returns a function that cancels.
 * In a hidden tab, Chrome delays the page's timers by up to a second, and later by up to a minute. Chrome does not
 * delay the timers of an extension, so startTimer uses a timer of the extension if it can.
 */
export function startTimer(ms: number, callback: () => void): () => void {
  const setPlatformTimer = getContainer()?._setTimer;
  if (isMethod(setPlatformTimer)) {
    const cancelPlatformTimer = setPlatformTimer(ms, callback);
    if (isMethod(cancelPlatformTimer)) {
      return () => {
        cancelPlatformTimer();
      };
    }
  }
  const timer = setTimeout(() => runOutsideTimerChain(callback), ms);
  return () => clearTimeout(timer);
}

/**
 * Calls `callback` from a message event instead of a timer, so that Chrome does not throttle the next timer. After a
 * tab has been hidden for 5 min, a timer that was started by another timer runs only once a minute
 * (developer.chrome.com/blog/timer-throttling-in-chrome-88). A timer that a message event started is not delayed: in
 * Chromium 156, such a timer ran within a second.
 */
function runOutsideTimerChain(callback: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    callback();
  };
  port2.postMessage(null);
}

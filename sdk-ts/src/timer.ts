import { getContainer } from './runtime/container.ts';
import { isMethod } from './runtime/value.ts';

/**
 * Calls `callback` once after `ms` milliseconds. Returns a function that cancels the timer. The timer uses the
 * extension's timer function if there is one, because its timers are on time in a hidden page. In a hidden page, Chrome
 * runs the page's own timers once a second, and later once a minute. Without the extension, for example in a test, the
 * timer is a setTimeout of the page.
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
  const timer = setTimeout(() => leaveTimerChain(callback), ms);
  return () => clearTimeout(timer);
}

/**
 * Calls `callback` in a separate task, outside the chain of timers. After a tab has been hidden for 5 min, Chrome runs
 * timers that other timers have set only once a minute (developer.chrome.com/blog/timer-throttling-in-chrome-88).
 * During a delay of a minute, a call that sleeps between its reports would time out. Chrome does not delay a timer that
 * the handler of a message has set. In a measurement with Chromium 156, a timer that was set by a message ran within a
 * second of its due time.
 */
function leaveTimerChain(callback: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    callback();
  };
  port2.postMessage(null);
}

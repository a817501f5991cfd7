import { getContainer } from './runtime/container.ts';
import { isMethod } from './runtime/value.ts';

/**
 * Calls `done` once after `ms` milliseconds. Returns a function that cancels the timer. It uses the platform's timers,
 * which stay on time in a hidden page; Chrome runs the page's own timers there once a second, and later once a minute.
 * Without such a platform, and in a test, it uses the page's own timer.
 */
export function startTimer(ms: number, done: () => void): () => void {
  const setPlatformTimer = getContainer()?._setTimer;
  if (isMethod(setPlatformTimer)) {
    const cancel = setPlatformTimer(ms, done);
    if (isMethod(cancel)) {
      return () => {
        cancel();
      };
    }
  }
  const timer = setTimeout(() => leaveTimerChain(done), ms);
  return () => clearTimeout(timer);
}

/**
 * Calls `next` in a separate task, outside the chain of timers. Once a tab has been hidden for 5 min, Chrome runs a
 * chain of timers that set each other only once a minute, which would end a call that sleeps between its reports
 * (developer.chrome.com/blog/timer-throttling-in-chrome-88). A timer set by a message is not part of the chain:
 * measured in Chromium 156, it runs within a second of its time.
 */
function leaveTimerChain(next: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    next();
  };
  port2.postMessage(null);
}

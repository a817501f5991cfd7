import { container } from './runtime/container.ts';
import { isMethod } from './runtime/value.ts';

/**
 * Calls `done` once after `ms` milliseconds, and returns what takes that back. The platform's timers keep their time in a
 * hidden page, where Chrome runs the page's own once a second and later once a minute. On a platform that has none, and in
 * a test, it is the page's own timer.
 */
export function startTimer(ms: number, done: () => void): () => void {
  const set = container()?._setTimer;
  if (isMethod(set)) {
    const cancel = set(ms, done);
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
 * Calls `next` in a task of its own. Chrome runs a timer that was set by a timer that was set by a timer ... only once a
 * minute when its tab has been hidden for 5 minutes, which would end a call that sleeps between its reports
 * (developer.chrome.com/blog/timer-throttling-in-chrome-88). A timer that a message sets does not belong to the chain:
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

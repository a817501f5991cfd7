// Waits that also work in a hidden tab, whose timers run once a second. Message tasks are not slowed down there.
import { unclobbered } from './unclobbered.ts';

const channel = new MessageChannel();
const waiting: (() => void)[] = [];
channel.port1.onmessage = () => waiting.shift()?.();

/** nextTask resolves in the next task of the page's event loop. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    channel.port2.postMessage(0);
  });
}

/** MaxTaskCountedWaitMs is the longest wait in a hidden tab that counts message tasks. Longer waits use slow timers. */
const MaxTaskCountedWaitMs = 120;

/**
 * pause resolves after ms, or rejects when the signal is aborted. In a hidden tab, a long pause may take a second more.
 */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (unclobbered.hidden && ms <= MaxTaskCountedWaitMs) {
    const end = performance.now() + ms;
    while (performance.now() < end) {
      await nextTask();
      signal.throwIfAborted();
    }
    return;
  }
  await unchainTimers();
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener('abort', finish);
  });
}

/**
 * unchainTimers begins a task that no timer began. After 5 min, a hidden tab runs timers that were set by other timers
 * only once a minute.
 */
async function unchainTimers(): Promise<void> {
  if (unclobbered.hidden) await nextTask();
}

/** FrameMs is how long nextFrame waits at most. A covered window draws no frames. */
const FrameMs = 100;

/** nextFrame resolves after the next drawn frame; in a hidden tab, after the time of a frame. */
export function nextFrame(signal: AbortSignal): Promise<void> {
  if (unclobbered.hidden) return pause(16, signal);
  return new Promise((resolve, reject) => {
    const finish = () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      signal.removeEventListener('abort', finish);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    const frame = requestAnimationFrame(finish);
    const timer = setTimeout(finish, FrameMs);
    signal.addEventListener('abort', finish);
  });
}

/**
 * ChangeWait resolves its wait at the next change of the DOM, or after a time. A long wait in a hidden tab ends early
 * by a change, although timers are slow.
 */
export class ChangeWait {
  readonly #observer = new MutationObserver(() => this.#onChange());
  #wake: (() => void) | undefined;
  /** The page changed while no wait was active. */
  #hasChanged = false;

  constructor(roots: Iterable<Node>) {
    for (const root of roots) {
      this.#observer.observe(root, { childList: true, subtree: true, attributes: true, characterData: true });
    }
  }

  #onChange(): void {
    if (this.#wake) this.#wake();
    else this.#hasChanged = true;
  }

  /** wait resolves at the next change since the last wait, and at the latest after ms. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    await unchainTimers();
    signal.throwIfAborted();
    if (this.#hasChanged) {
      this.#hasChanged = false;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const finish = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', finish);
        this.#wake = undefined;
        if (signal.aborted) reject(signal.reason);
        else resolve();
      };
      const timer = setTimeout(finish, ms);
      signal.addEventListener('abort', finish);
      this.#wake = finish;
    });
  }

  close(): void {
    this.#observer.disconnect();
  }
}

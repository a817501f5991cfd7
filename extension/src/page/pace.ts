// Provides precise waits, even in a hidden tab, where Chrome runs timers only once per second.
import { unclobbered } from './unclobbered.ts';

const taskChannel = new MessageChannel();
const taskCallbacks: (() => void)[] = [];
taskChannel.port1.onmessage = () => taskCallbacks.shift()?.();

/** waitForNextTask resolves in the next task of the page's event loop. */
export function waitForNextTask(): Promise<void> {
  return new Promise((resolve) => {
    taskCallbacks.push(resolve);
    taskChannel.port2.postMessage(0);
  });
}

/**
 * waitCells is shared memory on which pause waits with Atomics.waitAsync. Chrome throttles timers in a hidden tab, but
 * not waits on shared memory. WebAssembly can create shared memory even in a page that is not cross-origin isolated.
 */
const waitCells = new Int32Array(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer);
let lastCell = 0;

/** pause resolves after ms milliseconds, even in a hidden tab. When the signal is aborted, pause rejects. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  lastCell = (lastCell + 1) % waitCells.length;
  const cell = lastCell;
  const wake = () => Atomics.notify(waitCells, cell);
  signal.addEventListener('abort', wake);
  try {
    await Atomics.waitAsync(waitCells, cell, 0, Math.max(0, ms)).value;
  } finally {
    signal.removeEventListener('abort', wake);
  }
  signal.throwIfAborted();
}

/**
 * FrameTimeoutMs is the default limit for the wait for an animation frame, in milliseconds. The wait needs a limit,
 * because Chrome can stop drawing frames in a window that other windows cover.
 */
const FrameTimeoutMs = 100;

/**
 * HiddenFrameTimeoutMs is the length of a simulated frame in a hidden tab, in milliseconds. A hidden tab draws no
 * animations, so an element moves only if a script of the page moves it.
 */
const HiddenFrameTimeoutMs = 4;

/**
 * waitForNextFrame resolves after the next animation frame, or after limitMs milliseconds. In a hidden tab,
 * waitForNextFrame resolves after HiddenFrameTimeoutMs.
 */
export async function waitForNextFrame(signal: AbortSignal, limitMs = FrameTimeoutMs): Promise<void> {
  if (unclobbered.hidden) return await pause(HiddenFrameTimeoutMs, signal);
  await pauseUntil(limitMs, signal, (finish) => {
    const frame = requestAnimationFrame(finish);
    return () => cancelAnimationFrame(frame);
  });
}

/**
 * pauseUntil resolves after ms milliseconds, or earlier if `start` calls the callback that it receives. The function
 * `start` returns a cleanup function, which pauseUntil calls at the end.
 */
async function pauseUntil(ms: number, signal: AbortSignal, start: (finish: () => void) => () => void): Promise<void> {
  const ended = new AbortController();
  let stop: () => void = () => undefined;
  const early = new Promise<void>((resolve) => {
    stop = start(resolve);
  });
  const inTime = pause(ms, AbortSignal.any([signal, ended.signal])).catch(() => undefined);
  await Promise.race([early, inTime]);
  stop();
  ended.abort();
  signal.throwIfAborted();
}

/** ChangeWait waits until the DOM changes or a time limit is reached. */
export class ChangeWait {
  readonly #observer = new MutationObserver(() => this.#onChange());
  #wake: (() => void) | undefined;
  /** #hasChanged is true if the DOM changed while no wait was active. */
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

  /** wait resolves at the first DOM change since the previous wait, or after ms milliseconds. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#hasChanged) {
      this.#hasChanged = false;
      return;
    }
    await pauseUntil(ms, signal, (finish) => {
      this.#wake = finish;
      return () => {
        this.#wake = undefined;
      };
    });
  }

  close(): void {
    this.#observer.disconnect();
  }
}

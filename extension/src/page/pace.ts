// Provides precise waits, even in a hidden tab, where Chrome runs timers only once per second.
import { unclobberedDocument } from './unclobbered.ts';

const taskChannel = new MessageChannel();
const taskCallbacks: (() => void)[] = [];
taskChannel.port1.onmessage = () => taskCallbacks.shift()?.();

export function waitForNextTask(): Promise<void> {
  return new Promise((resolve) => {
    taskCallbacks.push(resolve);
    taskChannel.port2.postMessage(0);
  });
}

const MaxTaskMs = 40;

/** TaskSlices divides a long computation into tasks of at most about 40 ms, between which the page can run. */
export class TaskSlices {
  readonly #signal: AbortSignal;
  #taskEndMs = performance.now() + MaxTaskMs;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  get isTaskTimeOver(): boolean {
    return performance.now() > this.#taskEndMs;
  }

  async startNextTask(): Promise<void> {
    await waitForNextTask();
    this.#signal.throwIfAborted();
    this.#taskEndMs = performance.now() + MaxTaskMs;
  }
}

/**
 * runInTasks runs steps to their end in tasks of at most about 40 ms. Before the page can run between two tasks,
 * runInTasks calls onPause with the value of the last step.
 */
export async function runInTasks<V, R>(
  steps: Iterator<V, R>,
  signal: AbortSignal,
  onPause?: (value: V) => void,
): Promise<R> {
  const taskSlices = new TaskSlices(signal);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (!taskSlices.isTaskTimeOver) continue;
    onPause?.(step.value);
    await taskSlices.startNextTask();
  }
}

/** Chrome throttles timers in a hidden tab, but not Atomics.waitAsync on shared memory. */
const waitCells = new Int32Array(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer);
let lastCellIndex = 0;

/** The function `pause` resolves after ms milliseconds, even in a hidden tab. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  lastCellIndex = (lastCellIndex + 1) % waitCells.length;
  const cell = lastCellIndex;
  const wakeWaiter = () => Atomics.notify(waitCells, cell);
  signal.addEventListener('abort', wakeWaiter);
  try {
    await Atomics.waitAsync(waitCells, cell, 0, Math.max(0, ms)).value;
  } finally {
    signal.removeEventListener('abort', wakeWaiter);
  }
  signal.throwIfAborted();
}

/** FrameTimeoutMs limits the wait for an animation frame, because Chrome draws no frames in a covered window. */
const FrameTimeoutMs = 100;

/** HiddenFrameTimeoutMs is the length of a simulated frame in a hidden tab, in milliseconds. */
const HiddenFrameTimeoutMs = 4;

/** waitForNextFrame resolves after the next animation frame, or after limitMs milliseconds. */
export async function waitForNextFrame(signal: AbortSignal, limitMs = FrameTimeoutMs): Promise<void> {
  if (unclobberedDocument.hidden) return await pause(HiddenFrameTimeoutMs, signal);
  await pauseUntil(limitMs, signal, (finish) => {
    const frame = requestAnimationFrame(finish);
    return () => cancelAnimationFrame(frame);
  });
}

async function pauseUntil(
  ms: number,
  signal: AbortSignal,
  startWaiting: (finish: () => void) => () => void,
): Promise<void> {
  const waitEndController = new AbortController();
  let stopWaiting: () => void = () => undefined;
  const finishPromise = new Promise<void>((resolve) => {
    stopWaiting = startWaiting(resolve);
  });
  const timeoutPromise = pause(ms, AbortSignal.any([signal, waitEndController.signal])).catch(() => undefined);
  await Promise.race([finishPromise, timeoutPromise]);
  stopWaiting();
  waitEndController.abort();
  signal.throwIfAborted();
}

export class ChangeWaiter {
  readonly #observer = new MutationObserver(() => this.#onChange());
  #wakeWaiter: (() => void) | undefined;
  #hasChanged = false;

  constructor(roots: Iterable<Node>) {
    for (const root of roots) {
      this.#observer.observe(root, { childList: true, subtree: true, attributes: true, characterData: true });
    }
  }

  #onChange(): void {
    if (this.#wakeWaiter) this.#wakeWaiter();
    else this.#hasChanged = true;
  }

  /** The method `wait` resolves at the first DOM change since the previous wait, or after ms milliseconds. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#hasChanged) {
      this.#hasChanged = false;
      return;
    }
    await pauseUntil(ms, signal, (finish) => {
      this.#wakeWaiter = finish;
      return () => {
        this.#wakeWaiter = undefined;
      };
    });
  }

  close(): void {
    this.#observer.disconnect();
  }
}

import { abortController, apply, construct, NativeAbortController, signalGetter } from './primordials.ts';

/** Cancellation stores whether a call was cancelled, and creates the signal of the call when it is first read. */
export interface Cancellation {
  isCancelled(): boolean;
  /** cancel aborts the signal with a reason, and returns the reason of the first cancel. */
  cancel(reason: unknown): unknown;
  /** readSignal returns the signal of the call. Each read returns the same signal. */
  readSignal(): unknown;
}

/** makeCancellation returns the Cancellation of a new call. */
export function makeCancellation(): Cancellation {
  let isCancelled = false;
  let abortReason: unknown;
  let controller: object | undefined;
  const abort = () => {
    if (controller) apply(abortController, controller, [abortReason]);
  };
  return {
    isCancelled: () => isCancelled,
    cancel: (reason) => {
      if (isCancelled) return abortReason;
      isCancelled = true;
      abortReason = reason;
      abort();
      return abortReason;
    },
    readSignal: () => {
      if (!controller) {
        controller = construct(NativeAbortController, []);
        if (isCancelled) abort();
      }
      return apply(signalGetter, controller, []);
    },
  };
}

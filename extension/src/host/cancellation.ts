import { abortController, apply, construct, NativeAbortController, signalGetter } from './primordials.ts';

/** Cancellation records whether a call was cancelled, and creates the abort signal of the call on first use. */
export interface Cancellation {
  isCancelled(): boolean;
  /** The method `cancel` aborts the signal with a reason, and returns the reason of the first cancellation. */
  cancel(reason: unknown): unknown;
  /** Each call of getSignal returns the same signal. */
  getSignal(): unknown;
}

export function makeCancellation(): Cancellation {
  let isCancelled = false;
  let abortReason: unknown;
  let controller: object | undefined;
  const abortSignal = () => {
    if (controller) apply(abortController, controller, [abortReason]);
  };
  return {
    isCancelled: () => isCancelled,
    cancel: (reason) => {
      if (isCancelled) return abortReason;
      isCancelled = true;
      abortReason = reason;
      abortSignal();
      return abortReason;
    },
    getSignal: () => {
      if (!controller) {
        controller = construct(NativeAbortController, []);
        if (isCancelled) abortSignal();
      }
      return apply(signalGetter, controller, []);
    },
  };
}

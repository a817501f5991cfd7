import type { ToolHandlerContext } from './context.ts';
import {
  abortController,
  addListener,
  isAborted,
  makeController,
  readAbortReason,
  readSignal,
} from './runtime/page-primordials.ts';

// If a call is cancelled, the SDK's waits stop even if the author did not pass `context.signal`. JavaScript cannot
// determine to which call the code after an `await` belongs. While several calls are running, a wait without a signal
// stops only when all of these calls were stopped.

type CallContext = Pick<ToolHandlerContext, 'signal'>;

interface RunningCall {
  /** A read of a context's signal makes the extension create the signal, so the signal is read only when needed. */
  readonly context: CallContext;
  next: RunningCall | undefined;
}

let newestRunningCall: RunningCall | undefined;
/** The context of the call whose handler runs synchronously now, before its first `await`. */
let startingContext: CallContext | undefined;
let sharedSignal: AbortSignal | undefined;

export async function runCall<T>(context: CallContext, handler: () => T | Promise<T>): Promise<T> {
  const runningCall: RunningCall = { context, next: newestRunningCall };
  newestRunningCall = runningCall;
  sharedSignal = undefined;
  try {
    return await startHandler(context, handler);
  } finally {
    removeCall(runningCall);
    sharedSignal = undefined;
  }
}

function removeCall(runningCall: RunningCall): void {
  if (newestRunningCall === runningCall) newestRunningCall = runningCall.next;
  for (let call = newestRunningCall; call !== undefined; call = call.next)
    if (call.next === runningCall) call.next = runningCall.next;
}

function startHandler<T>(context: CallContext, handler: () => T): T {
  const previousContext = startingContext;
  startingContext = context;
  try {
    return handler();
  } finally {
    startingContext = previousContext;
  }
}

/**
 * If the plugin's author passed no signal, the wait stops when the adapter's running calls are stopped. If the plugin's
 * author passed null as the signal, nothing stops the wait.
 */
export function resolveSignal(givenSignal: AbortSignal | null | undefined): AbortSignal | undefined {
  if (givenSignal !== undefined) return givenSignal ?? undefined;
  if (startingContext) return startingContext.signal;
  if (!newestRunningCall) return undefined;
  sharedSignal ??= makeSharedSignal(newestRunningCall);
  return sharedSignal;
}

function makeSharedSignal(newestCall: RunningCall): AbortSignal {
  if (newestCall.next === undefined) return newestCall.context.signal;
  const controller = makeController();
  let unabortedCallCount = 0;
  for (let call: RunningCall | undefined = newestCall; call !== undefined; call = call.next) unabortedCallCount++;
  for (let call: RunningCall | undefined = newestCall; call !== undefined; call = call.next) {
    const { signal } = call.context;
    let isAbortCounted = false;
    const onAbort = () => {
      if (isAbortCounted) return;
      isAbortCounted = true;
      unabortedCallCount--;
      if (unabortedCallCount === 0) abortController(controller, readAbortReason(signal));
    };
    if (isAborted(signal)) onAbort();
    else addListener(signal, 'abort', onAbort);
  }
  return readSignal(controller);
}

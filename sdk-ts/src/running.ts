import type { ToolHandlerContext } from './context.ts';
import {
  abortController,
  addListener,
  isAborted,
  makeController,
  readAbortReason,
  readSignal,
} from './runtime/page-primordials.ts';

// This module tracks the running calls of the adapter that contains the module. If a call is cancelled, the SDK's waits
// and HTTP requests stop even if the author did not pass `context.signal` to them.
//
// JavaScript cannot determine which call the code after an `await` belongs to. While only one call is running, all code
// belongs to that call. While several calls are running, a wait of the SDK without a signal stops only when all of
// these calls were stopped.

/** The context of a call, reduced to `signal`, the only field that this module reads. */
type CallContext = Pick<ToolHandlerContext, 'signal'>;

/** One entry in the linked list of the adapter's running calls, which starts with the newest call. */
interface RunningCall {
  /**
   * The call's context. The signal of the context is read only when a wait needs it, because a read of the signal makes
   * the extension create it.
   */
  readonly context: CallContext;
  next: RunningCall | undefined;
}

let newestRunningCall: RunningCall | undefined;
/** The context of the call whose handler runs synchronously now, before its first `await`. */
let startingContext: CallContext | undefined;
/**
 * sharedSignal aborts once every running call has been stopped. runCall resets `sharedSignal` when a call starts or
 * ends; resolveSignal creates it again on first use.
 */
let sharedSignal: AbortSignal | undefined;

/** Runs a tool's handler, and lets {@link resolveSignal} find the signal of the call until the handler has settled. */
export async function runCall<T>(context: CallContext, handler: () => T | Promise<T>): Promise<T> {
  const entry: RunningCall = { context, next: newestRunningCall };
  newestRunningCall = entry;
  sharedSignal = undefined;
  try {
    return await startHandler(context, handler);
  } finally {
    removeCall(entry);
    sharedSignal = undefined;
  }
}

function removeCall(entry: RunningCall): void {
  if (newestRunningCall === entry) newestRunningCall = entry.next;
  for (let call = newestRunningCall; call !== undefined; call = call.next)
    if (call.next === entry) call.next = entry.next;
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
 * Returns the signal that stops a wait of the SDK. If the plugin's author passed no signal, the wait stops when the
 * adapter's running calls are stopped. If the plugin's author passed null as the signal, nothing stops the wait.
 */
export function resolveSignal(givenSignal: AbortSignal | null | undefined): AbortSignal | undefined {
  if (givenSignal !== undefined) return givenSignal ?? undefined;
  if (startingContext) return startingContext.signal;
  if (!newestRunningCall) return undefined;
  sharedSignal ??= makeSharedSignal(newestRunningCall);
  return sharedSignal;
}

function makeSharedSignal(newest: RunningCall): AbortSignal {
  if (newest.next === undefined) return newest.context.signal;
  const controller = makeController();
  let remainingCount = 0;
  for (let call: RunningCall | undefined = newest; call !== undefined; call = call.next) remainingCount++;
  // The signal of several calls aborts when the last of these calls is stopped, with the abort reason of that call.
  for (let call: RunningCall | undefined = newest; call !== undefined; call = call.next) {
    const { signal } = call.context;
    let isCounted = false;
    const onAbort = () => {
      if (isCounted) return;
      isCounted = true;
      remainingCount--;
      if (remainingCount === 0) abortController(controller, readAbortReason(signal));
    };
    if (isAborted(signal)) onAbort();
    else addListener(signal, 'abort', onAbort);
  }
  return readSignal(controller);
}

import type { ToolHandlerContext } from './context.ts';
import {
  abortController,
  addListener,
  isAborted,
  makeController,
  reasonOf,
  signalOf,
} from './runtime/page-primordials.ts';

// Tracks the running calls of this adapter, so that waits and requests of the SDK stop with their call. Authors need
// not pass `context.signal` to the SDK's functions.
//
// After an `await`, JavaScript cannot determine which call the code belongs to. If only one call is running, all code
// belongs to this call. With several running calls, a wait without a signal stops only when all these calls were
// stopped.

/** The part of the context of a call that this module uses. */
type CallContext = Pick<ToolHandlerContext, 'signal'>;

/** An entry of the linked list of running calls, newest first. */
interface RunningCall {
  /** The context of the call, whose signal is read at the first wait, because hosts create the signal at that time. */
  readonly context: CallContext;
  next: RunningCall | undefined;
}

let newestCall: RunningCall | undefined;
/** The context of the call whose handler runs synchronously now, before its first `await`. */
let startingContext: CallContext | undefined;
/**
 * The signal that aborts once all running calls were stopped. sharedSignal is created on first use and reset when the
 * list of calls changes.
 */
let sharedSignal: AbortSignal | undefined;

/** Runs a handler and registers its call for {@link resolveSignal} until the handler has settled. */
export async function runCall<T>(context: CallContext, handler: () => T | Promise<T>): Promise<T> {
  const entry: RunningCall = { context, next: newestCall };
  newestCall = entry;
  sharedSignal = undefined;
  try {
    return await startHandler(context, handler);
  } finally {
    removeCall(entry);
    sharedSignal = undefined;
  }
}

function removeCall(entry: RunningCall): void {
  if (newestCall === entry) newestCall = entry.next;
  for (let call = newestCall; call !== undefined; call = call.next) if (call.next === entry) call.next = entry.next;
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
 * Returns the signal that stops a wait: `givenSignal`, no signal if `givenSignal` is null, or the signal of the running
 * calls if undefined.
 */
export function resolveSignal(givenSignal: AbortSignal | null | undefined): AbortSignal | undefined {
  if (givenSignal !== undefined) return givenSignal ?? undefined;
  if (startingContext) return startingContext.signal;
  if (!newestCall) return undefined;
  sharedSignal ??= makeSharedSignal(newestCall);
  return sharedSignal;
}

function makeSharedSignal(newest: RunningCall): AbortSignal {
  if (newest.next === undefined) return newest.context.signal;
  const controller = makeController();
  let remainingCount = 0;
  for (let call: RunningCall | undefined = newest; call !== undefined; call = call.next) remainingCount++;
  // The abort reason of the shared signal is the reason of the call that was stopped last.
  for (let call: RunningCall | undefined = newest; call !== undefined; call = call.next) {
    const { signal } = call.context;
    let isCounted = false;
    const onAbort = () => {
      if (isCounted) return;
      isCounted = true;
      remainingCount--;
      if (remainingCount === 0) abortController(controller, reasonOf(signal));
    };
    if (isAborted(signal)) onAbort();
    else addListener(signal, 'abort', onAbort);
  }
  return signalOf(controller);
}

import { abortWith, isAborted, listen, makeController, reasonOf, signalOf } from './runtime/page-primordials.ts';

// Tracks the running calls of this adapter, so that waits and requests of the SDK stop with their call even if the
// author did not pass `context.signal` to them.
//
// After an `await`, JavaScript cannot determine which call the code belongs to. With one running call there is only one
// choice. With several, a wait without a signal stops once all of them were stopped: it never stops for a running call.

/** An entry of the linked list of running calls, newest first. */
interface Running {
  readonly signal: AbortSignal;
  next: Running | undefined;
}

let running: Running | undefined;
/** The signal of the call whose handler is on the stack, before its first `await`. */
let starting: AbortSignal | undefined;
/** The signal that aborts once all of `running` were stopped; created on first use, reset when `running` changes. */
let together: AbortSignal | undefined;

/** Runs a handler and registers its call for {@link signalFor} until the handler has settled. */
export async function runCall<T>(signal: AbortSignal, handler: () => T | Promise<T>): Promise<T> {
  const entry: Running = { signal, next: running };
  running = entry;
  together = undefined;
  try {
    return await start(signal, handler);
  } finally {
    remove(entry);
    together = undefined;
  }
}

function remove(entry: Running): void {
  if (running === entry) running = entry.next;
  for (let at = running; at !== undefined; at = at.next) if (at.next === entry) at.next = entry.next;
}

function start<T>(signal: AbortSignal, handler: () => T): T {
  const before = starting;
  starting = signal;
  try {
    return handler();
  } finally {
    starting = before;
  }
}

/** Returns the signal of a wait: `given`, none for null, that of the running calls for undefined. */
export function signalFor(given: AbortSignal | null | undefined): AbortSignal | undefined {
  if (given !== undefined) return given ?? undefined;
  if (starting) return starting;
  if (!running) return undefined;
  together ??= allOf(running);
  return together;
}

function allOf(first: Running): AbortSignal {
  if (first.next === undefined) return first.signal;
  const controller = makeController();
  let left = 0;
  for (let at: Running | undefined = first; at !== undefined; at = at.next) left++;
  // The reason is that of the call that was stopped last.
  for (let at: Running | undefined = first; at !== undefined; at = at.next) {
    const { signal } = at;
    let isCounted = false;
    const stopped = () => {
      if (isCounted) return;
      isCounted = true;
      left--;
      if (left === 0) abortWith(controller, reasonOf(signal));
    };
    if (isAborted(signal)) stopped();
    else listen(signal, 'abort', stopped);
  }
  return signalOf(controller);
}

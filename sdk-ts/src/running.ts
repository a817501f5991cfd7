import { abortWith, isAborted, listen, makeController, reasonOf, signalOf } from './runtime/page-primordials.ts';

// The calls of this adapter that are running, so that the SDK's waits and requests stop with their call even where the
// author did not pass `context.signal` on.
//
// JavaScript can't tell after an `await` which call it works for. While one call runs there is no doubt. While several
// run, a wait without an own signal stops once all of them were stopped: it never stops for a call that is still wanted.

/** A running call; the running calls are a list, the last one first. */
interface Running {
  readonly signal: AbortSignal;
  next: Running | undefined;
}

let running: Running | undefined;
/** The call whose handler is on the stack right now, before its first `await`. */
let starting: AbortSignal | undefined;
/** The signal for all of `running` together; made when asked for, dropped when `running` changes. */
let together: AbortSignal | undefined;

/** Runs a handler so that {@link signalFor} knows of it until it has settled. */
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

/** Returns the signal of a wait that was given `given`: null asks for none, undefined for that of the running call. */
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
  // The one that was stopped last gives its reason.
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

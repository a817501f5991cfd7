// The calls of this adapter that are running, so that the SDK's waits and requests stop with their call even where the
// author did not pass `context.signal` on.
//
// JavaScript can't tell after an `await` which call it works for. While one call runs there is no doubt. While several
// run, a wait without an own signal stops once all of them were stopped: it never stops for a call that is still wanted.

const running = new Set<AbortSignal>();
/** The call whose handler is on the stack right now, before its first `await`. */
let starting: AbortSignal | undefined;
/** The signal for all of `running` together; made when asked for, dropped when `running` changes. */
let together: AbortSignal | undefined;

/** Runs a handler so that {@link defaultSignal} knows of it until it has settled. */
export async function runCall<T>(signal: AbortSignal, handler: () => T | Promise<T>): Promise<T> {
  running.add(signal);
  together = undefined;
  try {
    return await start(signal, handler);
  } finally {
    running.delete(signal);
    together = undefined;
  }
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
  if (running.size === 0) return undefined;
  together ??= allOf([...running]);
  return together;
}

function allOf(signals: readonly AbortSignal[]): AbortSignal {
  const [first] = signals;
  if (first && signals.length === 1) return first;
  const controller = new AbortController();
  let left = signals.length;
  for (const signal of signals) {
    const stopped = () => {
      left--;
      if (left === 0) controller.abort(signal.reason);
    };
    if (signal.aborted) stopped();
    else signal.addEventListener('abort', stopped, { once: true });
  }
  return controller.signal;
}

import type { Action, ActionResult, FromPanel } from '../panel-message.ts';

/**
 * Act sends an action of the user to the service worker. The promise of an action never rejects: on failure,
 * ActionResult.error is set.
 */
export type Act = (action: Action) => Promise<ActionResult>;

/** Requests tracks the actions to which the service worker has not responded. */
export interface Requests {
  readonly act: Act;
  /** settle resolves the promise of an action with the result from the service worker. */
  settle(requestId: number, done: ActionResult): void;
  /**
   * disconnected fails all unanswered actions, because the service worker stopped. The worker may have executed an
   * action before it stopped.
   */
  disconnected(): void;
}

/**
 * makeRequests returns a Requests with no unanswered actions. send returns false if the service worker is not
 * connected.
 */
export function makeRequests(send: (message: FromPanel) => boolean): Requests {
  const pendingRequests = new Map<number, (done: ActionResult) => void>();
  let lastId = 0;
  return {
    act: (action) =>
      new Promise((resolve) => {
        const requestId = ++lastId;
        pendingRequests.set(requestId, resolve);
        if (send({ requestId, action })) return;
        pendingRequests.delete(requestId);
        resolve({ error: 'The extension is starting. Try again.' });
      }),
    settle: (requestId, done) => {
      pendingRequests.get(requestId)?.(done);
      pendingRequests.delete(requestId);
    },
    disconnected: () => {
      const allPending = [...pendingRequests.values()];
      pendingRequests.clear();
      for (const resolve of allPending)
        resolve({ error: 'The extension restarted. Check whether the action took effect, then try again.' });
    },
  };
}

import type { Action, ActionResult, FromPanel } from '../panel-message.ts';

/**
 * SendAction sends an action of the user to the service worker. The promise of an action never rejects: on failure,
 * ActionResult.error is set.
 */
export type SendAction = (action: Action) => Promise<ActionResult>;

/** Requests tracks the actions to which the service worker has not responded. */
export interface Requests {
  readonly act: SendAction;
  /** settleRequest resolves the promise of an action with the result from the service worker. */
  settleRequest(requestId: number, done: ActionResult): void;
  /**
   * rejectAll fails all unanswered actions, because the service worker stopped. The service worker may have executed an
   * unanswered action before it stopped.
   */
  rejectAll(): void;
}

/**
 * makeRequests returns a Requests with no unanswered actions. The function send returns false if the service worker is
 * not connected.
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
    settleRequest: (requestId, done) => {
      pendingRequests.get(requestId)?.(done);
      pendingRequests.delete(requestId);
    },
    rejectAll: () => {
      const allPending = [...pendingRequests.values()];
      pendingRequests.clear();
      for (const resolve of allPending)
        resolve({ error: 'The extension restarted. Check whether the action took effect, then try again.' });
    },
  };
}

import type { Action, ActionResult, FromPanel } from '../panel-message.ts';

/** Act sends a user action to the worker. Act never rejects: ActionResult.error is set on failure. */
export type Act = (action: Action) => Promise<ActionResult>;

/** Requests tracks the actions that the worker has not answered. */
export interface Requests {
  readonly act: Act;
  /** settle passes the worker's answer to the caller of act. */
  settle(requestId: number, done: ActionResult): void;
  /**
   * disconnected fails all requests that the worker has not answered. The worker may have run open requests before the
   * worker stopped.
   */
  disconnected(): void;
}

/** makeRequests returns a Requests without open requests. send returns false if no worker is connected. */
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

import type { Action, ActionResult, PanelToWorkerMessage } from '../panel-message.ts';

/** The promise of a SendAction never rejects: on failure, ActionResult.error is set. */
export type SendAction = (action: Action) => Promise<ActionResult>;

export interface PanelRequests {
  readonly sendAction: SendAction;
  settleRequest(requestId: number, actionResult: ActionResult): void;
  /** The service worker may have executed an unanswered action before it stopped. */
  failPendingRequests(): void;
}

export function makeRequests(sendMessage: (message: PanelToWorkerMessage) => boolean): PanelRequests {
  const pendingRequests = new Map<number, (actionResult: ActionResult) => void>();
  let lastId = 0;
  return {
    sendAction: (action) =>
      new Promise((resolve) => {
        const requestId = ++lastId;
        pendingRequests.set(requestId, resolve);
        if (sendMessage({ requestId, action })) return;
        pendingRequests.delete(requestId);
        resolve({ error: 'The extension is starting. Try again.' });
      }),
    settleRequest: (requestId, actionResult) => {
      pendingRequests.get(requestId)?.(actionResult);
      pendingRequests.delete(requestId);
    },
    failPendingRequests: () => {
      const resolvers = [...pendingRequests.values()];
      pendingRequests.clear();
      for (const resolve of resolvers)
        resolve({ error: 'The extension restarted. Check whether the action took effect, then try again.' });
    },
  };
}

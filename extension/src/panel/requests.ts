import type { Action, Done, FromPanel } from '../panel-message.ts';

/** Act has the worker act on what the person did. It never rejects: Done.error says what went wrong. */
export type Act = (action: Action) => Promise<Done>;

/** Requests are the actions that wait for the worker. */
export interface Requests {
  readonly act: Act;
  /** done takes the worker's answer. */
  done(ask: number, done: Done): void;
  /** lost ends all that waits: the worker that was asked is gone, and nobody knows what it did. */
  lost(): void;
}

/** makeRequests returns a Requests; send returns false if there is no worker. */
export function makeRequests(send: (message: FromPanel) => boolean): Requests {
  const waiting = new Map<number, (done: Done) => void>();
  let last = 0;
  return {
    act: (action) =>
      new Promise((resolve) => {
        const ask = ++last;
        waiting.set(ask, resolve);
        if (send({ ask, action })) return;
        waiting.delete(ask);
        resolve({ error: 'The extension is just starting. Try again.' });
      }),
    done: (ask, done) => {
      waiting.get(ask)?.(done);
      waiting.delete(ask);
    },
    lost: () => {
      const all = [...waiting.values()];
      waiting.clear();
      for (const resolve of all)
        resolve({ error: 'The extension was started anew. Look whether it was done, then try again.' });
    },
  };
}

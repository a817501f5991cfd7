import { LoadErrorNoAnswer, SiteTimeoutMs } from '../../../wire/wire.gen.ts';

/** Aborted is the error of a cancelled navigation: the tab keeps its page, or a download started. */
const Aborted = 'net::ERR_ABORTED';

/** LoadError is a failed load of a tab's page. */
export interface LoadError {
  /** name is Chrome's name, such as net::ERR_CONNECTION_REFUSED. It is LoadErrorNoAnswer while Chrome still waits. */
  readonly name: string;
  /** atMs is when the load failed, in milliseconds since 1970. */
  readonly atMs: number;
}

/** LoadErrors tracks the tabs that show Chrome's error page, and those whose site does not answer. */
export interface LoadErrors {
  /** of returns why the page of a tab could not be loaded, or undefined if it was loaded. */
  of(tabId: number): LoadError | undefined;
  /** begun notes that a tab requests a page from a site. */
  begun(tabId: number): void;
  /** waits notes that a tab is waiting for a site. Chrome sends no begun event for new tabs. */
  waits(tabId: number): void;
  /** failed notes that a page could not be loaded. */
  failed(tabId: number, name: string): void;
  /** shown notes that a tab shows another page or was closed. */
  shown(tabId: number): void;
}

/** makeLoadErrors returns a LoadErrors without errors. changed is called when an error is added or removed. */
export function makeLoadErrors(changed: () => void): LoadErrors {
  const errors = new Map<number, LoadError>();
  /** timers are the timers of the tabs whose site has not answered yet. */
  const timers = new Map<number, ReturnType<typeof setTimeout>>();

  const note = (tabId: number, name: string) => {
    errors.set(tabId, { name, atMs: Date.now() });
    changed();
  };
  /** stopWaiting stops the timer of a tab. It reports whether the missing answer was already an error. */
  const stopWaiting = (tabId: number): boolean => {
    clearTimeout(timers.get(tabId));
    timers.delete(tabId);
    return errors.get(tabId)?.name === LoadErrorNoAnswer && errors.delete(tabId);
  };
  const startWaiting = (tabId: number) => {
    const isOver = () => {
      timers.delete(tabId);
      note(tabId, LoadErrorNoAnswer);
    };
    timers.set(tabId, setTimeout(isOver, SiteTimeoutMs));
  };
  return {
    of: (tabId) => errors.get(tabId),
    begun: (tabId) => {
      if (stopWaiting(tabId)) changed();
      startWaiting(tabId);
    },
    waits: (tabId) => {
      if (!timers.has(tabId) && errors.get(tabId)?.name !== LoadErrorNoAnswer) startWaiting(tabId);
    },
    failed: (tabId, name) => {
      const wasWaiting = stopWaiting(tabId);
      if (name !== Aborted) note(tabId, name);
      else if (wasWaiting) changed();
    },
    shown: (tabId) => {
      const wasWaiting = stopWaiting(tabId);
      if (errors.delete(tabId) || wasWaiting) changed();
    },
  };
}

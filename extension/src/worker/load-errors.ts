import { LoadErrorNoAnswer, NoAnswerMs } from '../../../wire/wire.gen.ts';

/** Aborted is the error of a navigation that was given up: the tab shows what it showed before, or a download began. */
const Aborted = 'net::ERR_ABORTED';

/** LoadError is a failed load of a tab's page. */
export interface LoadError {
  /** name is Chrome's, such as net::ERR_CONNECTION_REFUSED, or LoadErrorNoAnswer while Chrome still waits. */
  readonly name: string;
  /** atMs is when it failed, in milliseconds since 1970. */
  readonly atMs: number;
}

/** LoadErrors knows the tabs that show Chrome's error page, and those whose site does not answer. */
export interface LoadErrors {
  /** of returns why the page that a tab shows could not be loaded; nothing if it was. */
  of(tabId: number): LoadError | undefined;
  /** begun notes that a tab asks a site for a page. */
  begun(tabId: number): void;
  /** waits notes that a tab was seen to wait for a site: of a new tab Chrome does not say that it has begun. */
  waits(tabId: number): void;
  /** failed notes that a page could not be loaded. */
  failed(tabId: number, name: string): void;
  /** shown notes that a tab shows another page, or is gone. */
  shown(tabId: number): void;
}

/** makeLoadErrors returns a LoadErrors without errors; changed is called when an error comes or goes. */
export function makeLoadErrors(changed: () => void): LoadErrors {
  const errors = new Map<number, LoadError>();
  /** timers are those of the tabs whose site has not answered yet. */
  const timers = new Map<number, ReturnType<typeof setTimeout>>();

  const note = (tabId: number, name: string) => {
    errors.set(tabId, { name, atMs: Date.now() });
    changed();
  };
  /** stopWaiting forgets a site that has not answered, and reports whether that was known as an error. */
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
    timers.set(tabId, setTimeout(isOver, NoAnswerMs));
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

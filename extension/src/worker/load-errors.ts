/** Aborted is the error of a navigation that was given up: the tab shows what it showed before, or a download began. */
const Aborted = 'net::ERR_ABORTED';

/** LoadError is a failed load of a tab's page. */
export interface LoadError {
  /** name is Chrome's, such as net::ERR_CONNECTION_REFUSED. */
  readonly name: string;
  /** atMs is when it failed, in milliseconds since 1970. */
  readonly atMs: number;
}

/** LoadErrors knows the tabs that show Chrome's error page. */
export interface LoadErrors {
  /** of returns why the page that a tab shows could not be loaded; nothing if it was. */
  of(tabId: number): LoadError | undefined;
  /** failed notes that a page could not be loaded. */
  failed(tabId: number, name: string): void;
  /** shown notes that a tab shows another page, or is gone. */
  shown(tabId: number): void;
}

/** makeLoadErrors returns a LoadErrors without errors; changed is called when an error comes or goes. */
export function makeLoadErrors(changed: () => void): LoadErrors {
  const errors = new Map<number, LoadError>();
  return {
    of: (tabId) => errors.get(tabId),
    failed: (tabId, name) => {
      if (name === Aborted) return;
      errors.set(tabId, { name, atMs: Date.now() });
      changed();
    },
    shown: (tabId) => {
      if (errors.delete(tabId)) changed();
    },
  };
}

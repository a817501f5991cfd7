import { getProperty, isObject, realWindow, setProperty } from './primordials.ts';

// An adapter that wants to hear of navigations puts its own functions in the
// place of two methods of `history`, and the former ones back when it is torn
// down. Another plugin of the same document may have put its own on top by
// then; without those it would hear nothing any more.

/** Patches are what an adapter puts in the place of the methods of `history` while it starts. */
export interface Patches {
  /** started ends the start. */
  started(): void;
  /** undone runs tearDown, and sees to it that afterwards the adapter's methods are gone and those of others are there. */
  undone(tearDown: () => void): void;
}

/** watchPatches begins to watch an adapter that is about to start. */
export function watchPatches(): Patches {
  const methods = [watchMethod('pushState'), watchMethod('replaceState')];
  return {
    started: () => {
      for (let i = 0; i < methods.length; i++) methods[i]?.started();
    },
    undone: (tearDown) => {
      const afters = [methods[0]?.after(), methods[1]?.after()];
      tearDown();
      for (let i = 0; i < afters.length; i++) afters[i]?.();
    },
  };
}

interface Method {
  started(): void;
  /** after returns what to do once the adapter is torn down. */
  after(): () => void;
}

function watchMethod(name: string): Method {
  const before = read(name);
  let mine = before;
  return {
    started: () => {
      mine = read(name);
    },
    after: () => {
      const now = read(name);
      return () => {
        if (mine === before) return;
        const wanted = now === mine ? before : now;
        if (read(name) !== wanted) write(name, wanted);
      };
    },
  };
}

function read(name: string): unknown {
  try {
    const on: unknown = getProperty(realWindow, 'history');
    return isObject(on) ? getProperty(on, name) : undefined;
  } catch {
    return undefined;
  }
}

function write(name: string, value: unknown): void {
  try {
    const on: unknown = getProperty(realWindow, 'history');
    if (isObject(on)) setProperty(on, name, value);
  } catch {
    // The page lets nobody write there; then the adapter could not either.
  }
}

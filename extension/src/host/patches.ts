import { getProperty, isObject, realWindow, setProperty } from './primordials.ts';

// An adapter that watches navigations replaces two methods of `history`, and
// restores the previous methods in its teardown. Another plugin of the document
// may have replaced them in the meantime. The restore would remove the methods
// of that plugin, which would then miss all navigations.

/** Patches are the methods of `history` that an adapter has replaced during its start. */
export interface Patches {
  /** started stores the methods at the end of the start. */
  started(): void;
  /** undone runs tearDown, then removes the adapter's methods and keeps those of other plugins. */
  undone(tearDown: () => void): void;
}

/** watchPatches stores the methods of `history` before an adapter starts. */
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
  /** after returns a function to call after the teardown. */
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
    // The page has locked the method, so the adapter could not replace it either.
  }
}

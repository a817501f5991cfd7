import { getProperty, isObject, realWindow, setProperty } from './primordials.ts';

// An adapter that watches navigations replaces two methods of `history`, and restores the previous methods in its
// teardown function. If another plugin later replaced methods of `history`, restoring the previous methods would remove
// the methods of the other plugin. Without its own methods of `history`, a plugin would miss all further navigations.

/** BuiltInPatchHistory records the methods of `history` that an adapter replaced when it started. */
export interface BuiltInPatchHistory {
  recordPatched(): void;
  /**
   * undoAfter runs the adapter's teardown and then removes the adapter's methods of `history`, but keeps methods of
   * other plugins.
   */
  undoAfter(tearDown: () => void): void;
}

export function watchBuiltInPatches(): BuiltInPatchHistory {
  const methods = [watchMethod('pushState'), watchMethod('replaceState')];
  return {
    recordPatched: () => {
      for (let i = 0; i < methods.length; i++) methods[i]?.recordPatched();
    },
    undoAfter: (tearDown) => {
      const restoreFunctions = [methods[0]?.prepareRestore(), methods[1]?.prepareRestore()];
      tearDown();
      for (let i = 0; i < restoreFunctions.length; i++) restoreFunctions[i]?.();
    },
  };
}

interface WatchedMethod {
  recordPatched(): void;
  /**
   * prepareRestore returns a function that restores methods of `history`, to be called after the adapter's teardown.
   */
  prepareRestore(): () => void;
}

function watchMethod(name: string): WatchedMethod {
  const originalMethod = readHistory(name);
  let patchedMethod = originalMethod;
  return {
    recordPatched: () => {
      patchedMethod = readHistory(name);
    },
    prepareRestore: () => {
      const currentMethod = readHistory(name);
      return () => {
        if (patchedMethod === originalMethod) return;
        const wantedMethod = currentMethod === patchedMethod ? originalMethod : currentMethod;
        if (readHistory(name) !== wantedMethod) writeHistory(name, wantedMethod);
      };
    },
  };
}

function readHistory(name: string): unknown {
  try {
    const history: unknown = getProperty(realWindow, 'history');
    return isObject(history) ? getProperty(history, name) : undefined;
  } catch {
    return undefined;
  }
}

function writeHistory(name: string, value: unknown): void {
  try {
    const history: unknown = getProperty(realWindow, 'history');
    if (isObject(history)) setProperty(history, name, value);
  } catch {
    // The page has locked the method of `history`, so the adapter could not replace it and there is nothing to undo.
  }
}

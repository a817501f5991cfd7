import { getProperty, isObject, realWindow, setProperty } from './primordials.ts';

// An adapter that watches navigations replaces two methods of `history`, and restores the previous methods in its
// teardown function. If another plugin later replaced methods of `history`, restoring the previous methods would remove
// the methods of the other plugin. A plugin whose methods of `history` are removed misses all further navigations.

/** BuiltInPatchHistory records the methods of `history` that an adapter replaced when it started. */
export interface BuiltInPatchHistory {
  recordPatchedMethods(): void;
  /**
   * tearDownAndUndoPatches runs the adapter's teardown and then removes the adapter's methods of `history`, but keeps
   * methods of other plugins.
   */
  tearDownAndUndoPatches(tearDown: () => void): void;
}

export function watchBuiltInPatches(): BuiltInPatchHistory {
  const methods = [watchMethod('pushState'), watchMethod('replaceState')];
  return {
    recordPatchedMethods: () => {
      for (let i = 0; i < methods.length; i++) methods[i]?.recordPatchedMethod();
    },
    tearDownAndUndoPatches: (tearDown) => {
      const restoreFunctions = [methods[0]?.prepareRestore(), methods[1]?.prepareRestore()];
      tearDown();
      for (let i = 0; i < restoreFunctions.length; i++) restoreFunctions[i]?.();
    },
  };
}

interface WatchedMethod {
  recordPatchedMethod(): void;
  /**
   * prepareRestore returns a function that restores methods of `history`, to be called after the adapter's teardown.
   */
  prepareRestore(): () => void;
}

function watchMethod(name: string): WatchedMethod {
  const originalMethod = readHistoryMethod(name);
  let patchedMethod = originalMethod;
  return {
    recordPatchedMethod: () => {
      patchedMethod = readHistoryMethod(name);
    },
    prepareRestore: () => {
      const currentMethod = readHistoryMethod(name);
      return () => {
        if (patchedMethod === originalMethod) return;
        const restoredMethod = currentMethod === patchedMethod ? originalMethod : currentMethod;
        if (readHistoryMethod(name) !== restoredMethod) writeHistoryMethod(name, restoredMethod);
      };
    },
  };
}

function readHistoryMethod(name: string): unknown {
  try {
    const history: unknown = getProperty(realWindow, 'history');
    return isObject(history) ? getProperty(history, name) : undefined;
  } catch {
    return undefined;
  }
}

function writeHistoryMethod(name: string, value: unknown): void {
  try {
    const history: unknown = getProperty(realWindow, 'history');
    if (isObject(history)) setProperty(history, name, value);
  } catch {
    // If the page made a method of `history` read-only, the adapter could not replace the method, so there is nothing
    // to undo.
  }
}

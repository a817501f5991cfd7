// Registers scripts in Chrome, and runs code in documents.

import type { Sender } from './chrome.ts';

/** RegisteredScript describes a registered script: the sites, the frames and the world in which Chrome runs it. */
export interface RegisteredScript {
  readonly id: string;
  readonly matches: readonly string[];
  readonly excludeMatches: readonly string[];
  readonly isIsolated: boolean;
  /** worldId names the separate isolated world of the script. */
  readonly worldId?: string;
  /** allFrames makes the script also run in frames. */
  readonly allFrames: boolean;
}

/** areUserScriptsAllowed reports whether the user has allowed user scripts. */
export async function areUserScriptsAllowed(): Promise<boolean> {
  try {
    await chrome.userScripts.getScripts({ ids: [] });
    return true;
  } catch {
    // chrome.userScripts is undefined until the user allows user scripts. If the user later turns off "Allow User
    // Scripts", the methods of chrome.userScripts throw.
    return false;
  }
}

/**
 * listUserScripts returns the registered user scripts. Listing user scripts is slow, because Chrome also returns the
 * code of all scripts.
 */
export async function listUserScripts(): Promise<RegisteredScript[]> {
  const scripts = await chrome.userScripts.getScripts();
  return scripts.map((s) => ({
    id: s.id,
    matches: s.matches ?? [],
    excludeMatches: s.excludeMatches ?? [],
    isIsolated: s.world === 'USER_SCRIPT',
    allFrames: s.allFrames === true,
  }));
}

/**
 * registerUserScripts registers code that Chrome runs in each future document. If Chrome rejects one of the user
 * scripts, Chrome registers none of them. Each call of registerUserScripts is slow, because Chrome rewrites its whole
 * script store.
 */
export async function registerUserScripts(
  scripts: readonly (RegisteredScript & { readonly code: string })[],
): Promise<void> {
  await chrome.userScripts.register(
    scripts.map(({ code, ...script }) => ({ ...toUserScriptRegistration(script), js: [{ code }] })),
  );
}

/** updateUserScript changes the sites, the frames and the world in which a registered user script runs. */
export async function updateUserScript(script: RegisteredScript): Promise<void> {
  await chrome.userScripts.update([toUserScriptRegistration(script)]);
}

function toUserScriptRegistration(script: RegisteredScript): chrome.userScripts.RegisteredUserScript {
  // Each plugin has a separate isolated world, so that two plugins never share a JavaScript realm.
  const world = script.isIsolated
    ? ({ world: 'USER_SCRIPT', worldId: script.worldId ?? script.id.slice(0, 250) } as const)
    : ({ world: 'MAIN' } as const);
  return {
    ...world,
    id: script.id,
    matches: [...script.matches],
    excludeMatches: [...script.excludeMatches],
    runAt: 'document_start',
    allFrames: script.allFrames,
  };
}

/** unregisterUserScripts removes the user scripts with the given IDs. */
export async function unregisterUserScripts(ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await chrome.userScripts.unregister({ ids: [...ids] });
}

/**
 * runInPage runs scripts in order in one document, and returns the value of the last script. `worldId` selects an
 * isolated world; without worldId, the scripts run in the page's main world. If a script throws or cannot be parsed,
 * its value is undefined. runInPage rejects if the document no longer exists.
 */
export async function runInPage(
  { tabId, documentId }: Pick<Sender, 'tabId' | 'documentId'>,
  scripts: readonly [string, ...string[]],
  worldId?: string,
): Promise<unknown> {
  const target = { tabId, documentIds: [documentId] };
  const world = worldId === undefined ? ({ world: 'MAIN' } as const) : ({ world: 'USER_SCRIPT', worldId } as const);
  const [first, ...others] = scripts;
  const js: [{ code: string }, ...{ code: string }[]] = [{ code: first }, ...others.map((code) => ({ code }))];
  const [frame] = await chrome.userScripts.execute({ ...world, target, js, injectImmediately: true });
  return frame?.result;
}

/** listFileScripts returns the registered content scripts. */
export async function listFileScripts(): Promise<RegisteredScript[]> {
  const scripts = await chrome.scripting.getRegisteredContentScripts();
  return scripts.map((s) => ({
    id: s.id,
    matches: s.matches ?? [],
    excludeMatches: s.excludeMatches ?? [],
    isIsolated: s.world === 'ISOLATED',
    allFrames: s.allFrames === true,
  }));
}

/**
 * registerFiles registers files of the extension as content scripts for future documents. If one of the script files is
 * missing, Chrome registers none of them.
 */
export async function registerFiles(scripts: readonly (RegisteredScript & { readonly file: string })[]): Promise<void> {
  if (scripts.length === 0) return;
  await chrome.scripting.registerContentScripts(
    scripts.map(({ file, ...script }) => toContentScriptRegistration(script, file)),
  );
}

/** updateFile changes the sites, the frames and the world in which a registered content script runs. */
export async function updateFile(script: RegisteredScript, file: string): Promise<void> {
  await chrome.scripting.updateContentScripts([toContentScriptRegistration(script, file)]);
}

function toContentScriptRegistration(script: RegisteredScript, file: string): chrome.scripting.RegisteredContentScript {
  return {
    id: script.id,
    js: [file],
    matches: [...script.matches],
    excludeMatches: [...script.excludeMatches],
    world: script.isIsolated ? 'ISOLATED' : 'MAIN',
    runAt: 'document_start',
    allFrames: script.allFrames,
    persistAcrossSessions: true,
  };
}

/** unregisterFiles removes the content scripts with the given IDs. */
export async function unregisterFiles(ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await chrome.scripting.unregisterContentScripts({ ids: [...ids] });
}

// Registers scripts in Chrome, and runs code in documents.

import type { MessageSender } from './chrome.ts';

export interface RegisteredScript {
  readonly id: string;
  readonly matches: readonly string[];
  readonly excludeMatches: readonly string[];
  readonly isIsolated: boolean;
  readonly worldId?: string;
  readonly allFrames: boolean;
}

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

/** Listing user scripts is slow, because Chrome also returns the code of all scripts. */
export async function listUserScripts(): Promise<RegisteredScript[]> {
  const scripts = await chrome.userScripts.getScripts();
  return scripts.map((userScript) => ({
    id: userScript.id,
    matches: userScript.matches ?? [],
    excludeMatches: userScript.excludeMatches ?? [],
    isIsolated: userScript.world === 'USER_SCRIPT',
    allFrames: userScript.allFrames === true,
  }));
}

/**
 * If Chrome rejects one of the user scripts, registerUserScripts registers none of them. Each call of
 * registerUserScripts is slow, because Chrome rewrites its whole script store.
 */
export async function registerUserScripts(
  scripts: readonly (RegisteredScript & { readonly code: string })[],
): Promise<void> {
  await chrome.userScripts.register(
    scripts.map(({ code, ...script }) => ({ ...toUserScriptRegistration(script), js: [{ code }] })),
  );
}

export async function updateUserScript(script: RegisteredScript): Promise<void> {
  await chrome.userScripts.update([toUserScriptRegistration(script)]);
}

function toUserScriptRegistration(script: RegisteredScript): chrome.userScripts.RegisteredUserScript {
  // Each plugin has a separate isolated world, so that two plugins never share a JavaScript realm.
  const scriptWorld = script.isIsolated
    ? ({ world: 'USER_SCRIPT', worldId: script.worldId ?? script.id.slice(0, 250) } as const)
    : ({ world: 'MAIN' } as const);
  return {
    ...scriptWorld,
    id: script.id,
    matches: [...script.matches],
    excludeMatches: [...script.excludeMatches],
    runAt: 'document_start',
    allFrames: script.allFrames,
  };
}

export async function unregisterUserScripts(ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await chrome.userScripts.unregister({ ids: [...ids] });
}

/**
 * `worldId` selects an isolated world; without worldId, scripts run in the page's main world. If a script throws or
 * cannot be parsed, the value of the script is undefined.
 */
export async function runInPage(
  { tabId, documentId }: Pick<MessageSender, 'tabId' | 'documentId'>,
  scripts: readonly [string, ...string[]],
  worldId?: string,
): Promise<unknown> {
  const target = { tabId, documentIds: [documentId] };
  const scriptWorld =
    worldId === undefined ? ({ world: 'MAIN' } as const) : ({ world: 'USER_SCRIPT', worldId } as const);
  const [firstScript, ...otherScripts] = scripts;
  const js: [{ code: string }, ...{ code: string }[]] = [
    { code: firstScript },
    ...otherScripts.map((code) => ({ code })),
  ];
  const [frame] = await chrome.userScripts.execute({ ...scriptWorld, target, js, injectImmediately: true });
  return frame?.result;
}

export async function listFileScripts(): Promise<RegisteredScript[]> {
  const scripts = await chrome.scripting.getRegisteredContentScripts();
  return scripts.map((userScript) => ({
    id: userScript.id,
    matches: userScript.matches ?? [],
    excludeMatches: userScript.excludeMatches ?? [],
    isIsolated: userScript.world === 'ISOLATED',
    allFrames: userScript.allFrames === true,
  }));
}

/** If one of the script files is missing, Chrome registers none of them. */
export async function registerFiles(scripts: readonly (RegisteredScript & { readonly file: string })[]): Promise<void> {
  if (scripts.length === 0) return;
  await chrome.scripting.registerContentScripts(
    scripts.map(({ file, ...script }) => toContentScriptRegistration(script, file)),
  );
}

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

export async function unregisterFiles(ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await chrome.scripting.unregisterContentScripts({ ids: [...ids] });
}

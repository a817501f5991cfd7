// The functions in this file wrap Chrome's API chrome.debugger. The manifest contains the permission `debugger` only if
// the user chose the debugger during the installation.

import type { Fields } from './record.ts';

const ProtocolVersion = '1.3';

export function hasDebugger(): boolean {
  return chrome.runtime.getManifest().permissions?.includes('debugger') === true;
}

export async function attachDebugger(tabId: number): Promise<void> {
  try {
    await chrome.debugger.attach({ tabId }, ProtocolVersion);
  } catch (error) {
    // Chrome counts debuggers by extension, so an earlier run of this extension's worker has attached the debugger.
    if (!String(error).includes('Another debugger is already attached')) throw error;
  }
}

export async function detachDebugger(tabId: number): Promise<void> {
  await chrome.debugger.detach({ tabId });
}

/**
 * `childId` identifies a cross-site frame or a worker of the tab by its debugger session; empty means the tab itself.
 */
export async function sendToDebugger(
  tabId: number,
  method: string,
  params: Fields = {},
  childId = '',
): Promise<Fields> {
  const target = childId === '' ? { tabId } : { tabId, sessionId: childId };
  try {
    return (await chrome.debugger.sendCommand(target, method, params)) ?? {};
  } catch (error) {
    throw new Error(readProtocolMessage(error instanceof Error ? error.message : String(error)));
  }
}

/** Chrome reports an error of the protocol as JSON text with the members code and message. */
function readProtocolMessage(text: string): string {
  try {
    const { message }: Fields = JSON.parse(text);
    return typeof message === 'string' ? message : text;
  } catch {
    return text;
  }
}

/**
 * listDebuggedTabs returns the IDs of the tabs to which a debugger is attached, including debuggers of other programs.
 */
export async function listDebuggedTabs(): Promise<number[]> {
  const targets = await chrome.debugger.getTargets();
  return targets.flatMap(({ attached, tabId }) => (attached && tabId !== undefined ? [tabId] : []));
}

export interface DebuggerListener {
  /**
   * `childId` identifies a cross-site frame or a worker of the tab by its debugger session; empty means the tab itself.
   */
  onEvent(tabId: number, method: string, params: Fields, childId: string): void;
  onDetach(tabId: number, isCancelledByUser: boolean): void;
}

/** Without the permission `debugger`, watchDebugger does nothing. */
export function watchDebugger(listener: DebuggerListener): void {
  if (!hasDebugger()) return;
  chrome.debugger.onEvent.addListener(({ tabId, sessionId = '' }, method, params = {}) => {
    if (tabId !== undefined) listener.onEvent(tabId, method, params, sessionId);
  });
  chrome.debugger.onDetach.addListener(({ tabId }, reason) => {
    if (tabId !== undefined) listener.onDetach(tabId, reason === 'canceled_by_user');
  });
}

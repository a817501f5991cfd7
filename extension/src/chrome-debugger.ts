// The functions in this file wrap Chrome's API chrome.debugger. The manifest contains the permission `debugger` only if
// the user chose the debugger during the installation.

import type { Fields } from './record.ts';

/** ProtocolVersion is the version of the Chrome DevTools Protocol that the extension uses. */
const ProtocolVersion = '1.3';

/** hasDebugger reports whether the extension has the permission `debugger`. */
export function hasDebugger(): boolean {
  return chrome.runtime.getManifest().permissions?.includes('debugger') === true;
}

/**
 * attachDebugger attaches the extension's debugger to a tab, so that the extension can send DevTools commands. If the
 * extension's debugger is already attached, attachDebugger does nothing.
 */
export async function attachDebugger(tabId: number): Promise<void> {
  try {
    await chrome.debugger.attach({ tabId }, ProtocolVersion);
  } catch (error) {
    // The error "Another debugger is already attached" is ignored. Chrome counts the debuggers of each extension
    // separately, so an earlier run of this extension's worker has attached the debugger.
    if (!String(error).includes('Another debugger is already attached')) throw error;
  }
}

export async function detachDebugger(tabId: number): Promise<void> {
  await chrome.debugger.detach({ tabId });
}

/**
 * sendToDebugger sends a DevTools protocol command to a tab with an attached debugger. `childId` identifies a
 * cross-site frame or a worker in the tab by its debugger session. childId is empty for the tab itself.
 */
export async function sendToDebugger(
  tabId: number,
  method: string,
  params: Fields = {},
  childId = '',
): Promise<Fields> {
  const target = childId === '' ? { tabId } : { tabId, sessionId: childId };
  return (await chrome.debugger.sendCommand(target, method, params)) ?? {};
}

/**
 * listDebuggedTabs returns the IDs of the tabs to which a debugger is attached, including debuggers of other programs.
 */
export async function listDebuggedTabs(): Promise<number[]> {
  const targets = await chrome.debugger.getTargets();
  return targets.flatMap(({ attached, tabId }) => (attached && tabId !== undefined ? [tabId] : []));
}

/** DebuggerListener contains the callbacks for events of the debugger in tabs. */
export interface DebuggerListener {
  /**
   * childId identifies the cross-site frame or worker of the tab that sent the event, by its debugger session. childId
   * is empty if the tab itself sent the event.
   */
  onEvent(tabId: number, method: string, params: Fields, childId: string): void;
  onDetach(tabId: number, isCancelledByUser: boolean): void;
}

/**
 * watchDebugger passes debugger events of all attached tabs to the listener. If the extension lacks the permission
 * `debugger`, watchDebugger does nothing.
 */
export function watchDebugger(listener: DebuggerListener): void {
  if (!hasDebugger()) return;
  chrome.debugger.onEvent.addListener(({ tabId, sessionId = '' }, method, params = {}) => {
    if (tabId !== undefined) listener.onEvent(tabId, method, params, sessionId);
  });
  chrome.debugger.onDetach.addListener(({ tabId }, reason) => {
    if (tabId !== undefined) listener.onDetach(tabId, reason === 'canceled_by_user');
  });
}

import type * as chromePages from '../../../chrome-pages.ts';
import { type Fields, isRecord } from '../../../record.ts';
import { sleep } from '../../../within.ts';
import type { BrowserCall } from '../browser-tool.ts';
import type { DebuggerSession } from '../debugger/debuggers.ts';
import { filterAllowedFrames } from '../frame-rules.ts';
import { makeDocumentGoneFailure } from '../tool-failure.ts';

export type DebuggedFramesBrowser = Pick<typeof chromePages, 'listTabFrames'>;

/** DebuggedFrame is a frame that a call is allowed to read, as reported by the debugger. */
export interface DebuggedFrame {
  /** childId is the ID of the frame's debugger session, or an empty string for a frame in the tab's own process. */
  readonly childId: string;
  readonly frameId: string;
  readonly url: string;
  readonly mimeType: string;
  readonly resources: readonly Fields[];
}

export interface DebuggedFrames {
  readonly frames: readonly DebuggedFrame[];
  readonly childIds: readonly string[];
  /** omittedFrameCount is the number of frames on sites that the user has forbidden. */
  readonly omittedFrameCount: number;
  /** sessionsWithForbiddenFrames contains the IDs of debugger sessions that also include frames on forbidden sites. */
  readonly sessionsWithForbiddenFrames: ReadonlySet<string>;
}

const ChildFramesTimeoutMs = 500;
const PollIntervalMs = 25;

/**
 * readDebuggedFrames returns the frames of a tab except frames on sites that the user has forbidden. readDebuggedFrames
 * needs a debugger session with the feature "children". readDebuggedFrames fails if the tab no longer shows the
 * document of the call.
 */
export async function readDebuggedFrames(
  session: DebuggerSession,
  browser: DebuggedFramesBrowser,
  call: Pick<BrowserCall, 'tabId' | 'documentId' | 'args'>,
): Promise<DebuggedFrames> {
  const allFrames = await browser.listTabFrames(call.tabId);
  const topFrame = allFrames.find(({ frameId }) => frameId === 0);
  if (call.documentId !== '' && topFrame?.documentId !== call.documentId) throw makeDocumentGoneFailure('open', false);
  const allowedFrames = new Set(filterAllowedFrames(allFrames, call.args));
  const forbiddenUrls = new Set(
    allFrames.filter((frame) => !allowedFrames.has(frame)).map(({ url }) => removeFragment(url)),
  );
  const foundFrames = await gatherFrames(session, allFrames.length);
  const frames = foundFrames.filter(({ url }) => !forbiddenUrls.has(removeFragment(url)));
  const omittedFrames = foundFrames.filter((frame) => !frames.includes(frame));
  return {
    frames,
    childIds: [...new Set(frames.map(({ childId }) => childId))],
    omittedFrameCount: omittedFrames.length,
    sessionsWithForbiddenFrames: new Set(omittedFrames.map(({ childId }) => childId)),
  };
}

/** gatherFrames waits for cross-site frames until it has found `count` frames or the wait times out. */
async function gatherFrames(session: DebuggerSession, count: number): Promise<DebuggedFrame[]> {
  const frames = await readFrameTree(session, '');
  const stopListening = session.onChildTarget(async ({ id, kind }) => {
    if (kind === 'iframe') frames.push(...(await readFrameTree(session, id)));
  });
  try {
    for (let waitedMs = 0; frames.length < count && waitedMs < ChildFramesTimeoutMs; waitedMs += PollIntervalMs)
      await sleep(PollIntervalMs);
  } finally {
    stopListening();
  }
  return [...frames];
}

async function readFrameTree(session: DebuggerSession, childId: string): Promise<DebuggedFrame[]> {
  const { frameTree } = await session.send('Page.getResourceTree', {}, undefined, childId);
  return listFrames(frameTree, childId);
}

function listFrames(frameTree: unknown, childId: string): DebuggedFrame[] {
  const { frame, childFrames, resources } = toFields(frameTree);
  const { id, url, mimeType } = toFields(frame);
  const children = toArrayOrEmpty(childFrames).flatMap((child) => listFrames(child, childId));
  if (typeof id !== 'string' || typeof url !== 'string') return children;
  const resourceEntries = toArrayOrEmpty(resources).filter(isRecord);
  return [{ childId, frameId: id, url, mimeType: String(mimeType ?? ''), resources: resourceEntries }, ...children];
}

function removeFragment(url: string): string {
  return url.split('#')[0] ?? url;
}

export function toFields(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

export function toArrayOrEmpty(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

import type { Fields } from '../../../record.ts';
import { awaitWithin } from '../../../within.ts';
import type { DebuggerSession } from '../debugger/debuggers.ts';
import { toolFailure } from '../tool-failure.ts';
import { toArrayOrEmpty, toFields } from './debugged-frames.ts';
import { makeSharedElementExpression } from './evaluate-script.ts';

/** DebuggerWorldName is the name of the isolated world that the debugger creates in each frame. */
export const DebuggerWorldName = 'opentabs';

export interface NodeInFrame {
  /** childId is the ID of the frame's debugger session, or an empty string for a frame in the tab's own process. */
  readonly childId: string;
  readonly objectId: string;
}

const ChildFramesTimeoutMs = 2000;

/**
 * findSharedNode searches the tab's own process and then its cross-site frames for a node that a page script has
 * shared. Only the document whose page script shared the node contains it. The parameter `name` is different for each
 * call, and is also the name of the object group of the node, which the caller must release. With a shared object group,
 * a call would release the nodes of other calls.
 */
export async function findSharedNode(
  session: DebuggerSession,
  isInTopFrame: boolean,
  name: string,
): Promise<NodeInFrame> {
  const topProcessNode = await findNodeInProcess(session, '', name);
  if (topProcessNode) return topProcessNode;
  const childFrameNode = isInTopFrame ? undefined : await findInChildFrames(session, name);
  if (childFrameNode) return childFrameNode;
  throw toolFailure('not_found', 'the debugger did not find the document of the call. Take a new snapshot');
}

async function findInChildFrames(session: DebuggerSession, name: string): Promise<NodeInFrame | undefined> {
  let stopSearch: () => void = () => undefined;
  const nodeSearch = new Promise<NodeInFrame>((resolve) => {
    stopSearch = session.onChildTarget(async ({ id, kind }) => {
      const foundNode = kind === 'iframe' ? await findNodeInProcess(session, id, name) : undefined;
      if (foundNode) resolve(foundNode);
    });
  });
  try {
    return await awaitWithin(nodeSearch, ChildFramesTimeoutMs);
  } finally {
    stopSearch();
  }
}

/** If childId is an empty string, findNodeInProcess searches the process of the tab's top frame. */
async function findNodeInProcess(
  session: DebuggerSession,
  childId: string,
  name: string,
): Promise<NodeInFrame | undefined> {
  const sendCommand = (method: string, params: Fields) => session.send(method, params, undefined, childId);
  const { frameTree } = await sendCommand('Page.getFrameTree', {});
  for (const frameId of listFrameIds(frameTree)) {
    const { executionContextId } = await sendCommand('Page.createIsolatedWorld', {
      frameId,
      worldName: DebuggerWorldName,
    });
    const expression = `CSS.highlights.has(${JSON.stringify(name)}) ? ${makeSharedElementExpression(name)} : undefined`;
    const evaluation = { expression, contextId: executionContextId, objectGroup: name };
    const { objectId } = toFields((await sendCommand('Runtime.evaluate', evaluation)).result);
    if (typeof objectId === 'string') return { childId, objectId };
  }
  return undefined;
}

export function listFrameIds(frameTree: unknown): string[] {
  const { frame, childFrames } = toFields(frameTree);
  const { id } = toFields(frame);
  const children = toArrayOrEmpty(childFrames).flatMap(listFrameIds);
  return typeof id === 'string' ? [id, ...children] : children;
}

import type { Fields } from '../../../record.ts';
import { awaitWithin } from '../../../within.ts';
import type { DebuggerSession } from '../debugger/debuggers.ts';
import { toolFailure } from '../tool-failure.ts';
import { toFields, toList } from './debugged-frames.ts';
import { makeSharedElementExpression } from './evaluate-script.ts';

/** DebuggerWorldName is the name of the isolated world that the debugger creates in each frame. */
export const DebuggerWorldName = 'opentabs';
/** ObjectGroupName is the name of a group of page objects, which the debugger releases at the end of a call. */
export const ObjectGroupName = 'opentabs';

export interface NodeInFrame {
  /** childId is the ID of the frame's debugger session, or an empty string for a frame in the tab's own process. */
  readonly childId: string;
  readonly objectId: string;
}

const ChildFramesTimeoutMs = 2000;

/** A shared node is stored only in the document whose page script has shared the node. */
export async function findSharedNode(
  session: DebuggerSession,
  isInTopFrame: boolean,
  name: string,
): Promise<NodeInFrame> {
  const inTab = await findInProcess(session, '', name);
  if (inTab) return inTab;
  const inChild = isInTopFrame ? undefined : await findInChildFrames(session, name);
  if (inChild) return inChild;
  throw toolFailure('not_found', 'the debugger did not find the document of the call. Take a new snapshot');
}

async function findInChildFrames(session: DebuggerSession, name: string): Promise<NodeInFrame | undefined> {
  let stopSearch: () => void = () => undefined;
  const nodeSearch = new Promise<NodeInFrame>((resolve) => {
    stopSearch = session.onChild(async ({ id, kind }) => {
      const foundNode = kind === 'iframe' ? await findInProcess(session, id, name) : undefined;
      if (foundNode) resolve(foundNode);
    });
  });
  try {
    return await awaitWithin(nodeSearch, ChildFramesTimeoutMs);
  } finally {
    stopSearch();
  }
}

/** If childId is an empty string, findInProcess searches the process of the tab's top frame. */
async function findInProcess(
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
    const evaluation = { expression, contextId: executionContextId, objectGroup: ObjectGroupName };
    const { objectId } = toFields((await sendCommand('Runtime.evaluate', evaluation)).result);
    if (typeof objectId === 'string') return { childId, objectId };
  }
  return undefined;
}

export function listFrameIds(tree: unknown): string[] {
  const { frame, childFrames } = toFields(tree);
  const { id } = toFields(frame);
  const children = toList(childFrames).flatMap(listFrameIds);
  return typeof id === 'string' ? [id, ...children] : children;
}

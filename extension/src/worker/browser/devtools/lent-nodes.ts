import type { Fields } from '../../../record.ts';
import { within } from '../../../within.ts';
import type { DebuggerSession } from '../debugger/debuggers.ts';
import { toolFailure } from '../tool-failure.ts';
import { listOf, readFields } from './debugged-frames.ts';
import { lentElement } from './evaluate-script.ts';

/** WorldName is the name of the debugger's isolated world in each frame. */
export const WorldName = 'opentabs';
/** ObjectGroup is the name of the group of page objects that the debugger keeps until the end of a call. */
export const ObjectGroup = 'opentabs';

/** PlacedNode is a DOM node in the isolated world of its frame. */
export interface PlacedNode {
  /** childId is the ID of the frame's debugger session, or empty for a frame in the process of the tab. */
  readonly childId: string;
  readonly objectId: string;
}

/** ChildrenMs is how long Chrome may take to report the cross-site frames, in milliseconds. */
const ChildrenMs = 2000;

/**
 * findLentNode finds the node that a page script shares under a name. Only the document in which the page script
 * runs has the node.
 */
export async function findLentNode(session: DebuggerSession, isInTopFrame: boolean, name: string): Promise<PlacedNode> {
  const inTab = await findInProcess(session, '', name);
  if (inTab) return inTab;
  const inChild = isInTopFrame ? undefined : await findInChildren(session, name);
  if (inChild) return inChild;
  throw toolFailure('not_found', 'the debugger did not find the document of the call. Take a new snapshot');
}

/** findInChildren searches the cross-site frames for a shared node. */
async function findInChildren(session: DebuggerSession, name: string): Promise<PlacedNode | undefined> {
  let stop: () => void = () => undefined;
  const search = new Promise<PlacedNode>((resolve) => {
    stop = session.onChild(async ({ id, kind }) => {
      const found = kind === 'iframe' ? await findInProcess(session, id, name) : undefined;
      if (found) resolve(found);
    });
  });
  try {
    return await within(search, ChildrenMs);
  } finally {
    stop();
  }
}

/**
 * findInProcess searches the frames of one process for a shared node: the process of the tab, or of one child
 * target.
 */
async function findInProcess(session: DebuggerSession, childId: string, name: string): Promise<PlacedNode | undefined> {
  const send = (method: string, params: Fields) => session.send(method, params, undefined, childId);
  const { frameTree } = await send('Page.getFrameTree', {});
  for (const frameId of frameIdsOf(frameTree)) {
    const { executionContextId } = await send('Page.createIsolatedWorld', { frameId, worldName: WorldName });
    const expression = `CSS.highlights.has(${JSON.stringify(name)}) ? ${lentElement(name)} : undefined`;
    const evaluation = { expression, contextId: executionContextId, objectGroup: ObjectGroup };
    const { objectId } = readFields((await send('Runtime.evaluate', evaluation)).result);
    if (typeof objectId === 'string') return { childId, objectId };
  }
  return undefined;
}

/** frameIdsOf returns the IDs of all frames in the result of the debugger command Page.getFrameTree. */
export function frameIdsOf(tree: unknown): string[] {
  const { frame, childFrames } = readFields(tree);
  const { id } = readFields(frame);
  const children = listOf(childFrames).flatMap(frameIdsOf);
  return typeof id === 'string' ? [id, ...children] : children;
}

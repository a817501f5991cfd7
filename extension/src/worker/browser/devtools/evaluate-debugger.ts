import type { Fields } from '../../../record.ts';
import type { DebuggerSession, Debuggers } from '../debugger/debuggers.ts';
import type { DebuggerFeature } from '../debugger/features.ts';
import type { TabFrames } from '../tab-frames.ts';
import { toFields } from './debugged-frames.ts';
import { type EvaluateRequest, makeSyntaxFailure, quoteError } from './evaluate.ts';
import { makeEvaluateScript } from './evaluate-script.ts';
import { findSharedNode, type NodeInFrame } from './lent-nodes.ts';

const FunctionPrefix = 'function () { return ';
/**
 * DebuggerPrefixCharacters is the number of characters before the script in the first line of the function that the
 * debugger calls.
 */
export const DebuggerPrefixCharacters = FunctionPrefix.length + 1;

export async function evaluateWithDebugger(
  debuggers: Debuggers,
  frames: TabFrames,
  request: EvaluateRequest,
  limitMs: number,
): Promise<unknown> {
  const { call, frame, code, world, target } = request;
  const features: DebuggerFeature[] = frame.frameId === 0 ? ['dialogs'] : ['dialogs', 'children'];
  return await debuggers.use(call.tabId, features, async (session) => {
    const { name } = await frames.run(call, frame, 'lend', target === undefined ? {} : { target });
    const { childId, objectId } = await findSharedNode(session, frame.frameId === 0, name);
    try {
      const worldObjectId =
        world === 'main' ? await resolveInMainWorld(session, { childId, objectId }, name) : objectId;
      call.signal.throwIfAborted();
      const terminateScript = () =>
        void session.send('Runtime.terminateExecution', {}, undefined, childId).catch(() => undefined);
      call.signal.addEventListener('abort', terminateScript, { once: true });
      const script = makeEvaluateScript(code, target === undefined ? 'undefined' : 'this');
      const evaluateAnswer = await session.send(
        'Runtime.callFunctionOn',
        {
          objectId: worldObjectId,
          functionDeclaration: `${FunctionPrefix}${script}}`,
          awaitPromise: true,
          returnByValue: true,
          userGesture: false,
        },
        limitMs,
        childId,
      );
      call.signal.removeEventListener('abort', terminateScript);
      return readValue(evaluateAnswer);
    } finally {
      void session.send('Runtime.releaseObjectGroup', { objectGroup: name }, undefined, childId).catch(() => undefined);
    }
  });
}

async function resolveInMainWorld(
  session: DebuggerSession,
  { childId, objectId }: NodeInFrame,
  objectGroup: string,
): Promise<unknown> {
  const { node } = await session.send('DOM.describeNode', { objectId }, undefined, childId);
  const { backendNodeId } = toFields(node);
  const options = { backendNodeId, objectGroup };
  const { object } = await session.send('DOM.resolveNode', options, undefined, childId);
  return toFields(object).objectId;
}

function readValue({ result, exceptionDetails }: Fields): unknown {
  if (exceptionDetails === undefined) return toFields(result).value;
  // The evaluation script catches all exceptions of the agent's code. If Chrome reports an exception of the script, the
  // exception is a syntax error, unless the page has replaced built-in functions that the script calls.
  const { exception, lineNumber, text } = toFields(exceptionDetails);
  const { description } = toFields(exception);
  const exceptionMessage = typeof description === 'string' ? description : String(text);
  return /^SyntaxError/.test(exceptionMessage)
    ? Promise.reject(makeSyntaxFailure(Number(lineNumber) + 1, '', quoteError(exceptionMessage.split('\n')[0] ?? '')))
    : undefined;
}

import type {
  ActionArguments,
  PageActionResult,
  PageOperationName,
  PageOperationOf,
  PageResult,
} from '../../../page/operations.ts';
import type { BrowserCall } from '../browser-tool.ts';
import type { FrameTarget, TabFrames } from '../tab-frames.ts';
import { ToolFailure, toolFailure } from '../tool-failure.ts';
import type { UserInput } from '../user-input.ts';
import {
  type DebuggerSession,
  type Debuggers,
  DebuggerUnavailableError,
  debuggerInstallTexts,
  debuggerRefusedNote,
} from './debuggers.ts';
import type { DebuggerFeature } from './features.ts';
import { TabInput } from './tab-input.ts';

/** ActionName is the name of a page script operation that acts on the page, such as click or drag. */
export type ActionName = {
  [N in PageOperationName]: PageResult<N> extends PageActionResult ? N : never;
}[PageOperationName];

export interface ActionOperation<N extends ActionName> {
  readonly name: N;
  readonly args: PageOperationOf<N>['arguments'];
  readonly isTrusted: boolean;
  /** destinationFrame is the second frame that receives input, such as the destination of a drag between frames. */
  readonly destinationFrame?: FrameTarget;
}

/**
 * ActsBeforeInput contains the operations with trusted input that can change the page before they request input, and so
 * must not run twice.
 */
const ActsBeforeInput: ReadonlySet<ActionName> = new Set(['type', 'press', 'fill', 'select']);

const fileChooserNote =
  'The page asked for files. The file chooser of the browser was not shown: use browser_file_upload with the file field ' +
  'or the element as target.';

/** ActionStopper ends an operation when the user clicks or types in the operation's tab, or stops the client there. */
export type ActionStopper = Pick<UserInput, 'stopOnInput' | 'released'>;

/**
 * TrustedInput runs operations with input events that a page cannot distinguish from a user's input. Without the
 * debugger, TrustedInput falls back to synthetic events, which scripts of the page can detect.
 */
export class TrustedInput {
  readonly #debuggers: Debuggers;
  readonly #frames: TabFrames;
  readonly #userInput: ActionStopper;

  constructor(debuggers: Debuggers, frames: TabFrames, userInput: ActionStopper) {
    this.#debuggers = debuggers;
    this.#frames = frames;
    this.#userInput = userInput;
    // A call that the page's dialog has suspended has already returned, so the server cannot cancel the call when the
    // user stops the client in the tab.
    userInput.released.addListener((tabId) => debuggers.dialogs.stopSuspendedTools(tabId));
  }

  /**
   * The method `run` attaches the debugger before the operation, so that Chrome reports the page's dialogs. Focus
   * emulation is on only during trusted input, so that a background page handles the input like a focused page. If the
   * debugger cannot be attached, `run` uses synthetic events. If the user clicks or types in the tab, `run` ends the
   * operation.
   */
  async run<N extends ActionName>(
    call: BrowserCall,
    frame: FrameTarget,
    operation: ActionOperation<N>,
  ): Promise<PageResult<N>> {
    const result = await this.#userInput.stopOnInput(call, (stoppableCall) =>
      this.#run(stoppableCall, frame, operation),
    );
    call.markActed();
    return result;
  }

  async #run<N extends ActionName>(
    call: BrowserCall,
    frame: FrameTarget,
    operation: ActionOperation<N>,
  ): Promise<PageResult<N>> {
    const { name, args, isTrusted } = operation;
    const runInPage = () => this.#frames.run(call, frame, name, args);
    if (this.#debuggers.state === 'absent') return await runInPage();
    const stopController = new AbortController();
    const stoppableCall = { ...call, signal: AbortSignal.any([call.signal, stopController.signal]) };
    const trustedAttempt: TrustedInputAttempt = { input: undefined };
    let runningOperation: Promise<PageResult<N>> | undefined;
    try {
      return await this.#debuggers.use(call.tabId, listRequiredFeatures(frame, operation), (session) => {
        runningOperation = isTrusted
          ? this.#runWithTrustedInput(session, stoppableCall, frame, name, args, trustedAttempt)
          : runInPage();
        return runningOperation;
      });
    } catch (error) {
      const fallbackNote = makeFallbackNote(error);
      if (fallbackNote === undefined || call.signal.aborted || trustedAttempt.input?.hasSentInput) throw error;
      if (runningOperation && isTrusted) stopController.abort(error);
      if (runningOperation && isTrusted && ActsBeforeInput.has(name)) return await runningOperation;
      if (!runningOperation || isTrusted) {
        await runningOperation?.catch(() => undefined);
        runningOperation = runInPage();
      }
      return addFallbackNotes(await runningOperation, [fallbackNote]);
    }
  }

  async dragBetween(
    call: BrowserCall,
    [startFrame, end]: readonly [FrameTarget, FrameTarget],
    args: ActionArguments & { readonly startTarget: string; readonly endTarget: string },
  ): Promise<PageActionResult> {
    const { startTarget, endTarget, ...options } = args;
    if (this.#debuggers.state !== 'ready')
      throw toolFailure('needs_debugger', {
        forAgent: `a drag from one frame to another needs the debugger. ${debuggerInstallTexts.forAgent}`,
        forUser: `A drag from one frame to another needs the debugger. ${debuggerInstallTexts.forUser}`,
      });
    // Measure the end of the drag again, because scrolling to the start may move the end.
    await this.#locateElement(call, end, endTarget, true);
    await this.#locateElement(call, startFrame, startTarget, true);
    const to = await this.#locateElement(call, end, endTarget, false);
    const [origin, referencePoint] = await Promise.all([
      this.#frames.findPoint(call, startFrame, { x: 0, y: 0 }, false),
      this.#frames.findPoint(call, startFrame, { x: 100, y: 100 }, false),
    ]);
    if (!to || !origin || !referencePoint)
      throw toolFailure('not_hittable', 'the two elements cannot be seen at the same time, or a frame is rotated');
    const endPoint = {
      x: ((to.x - origin.x) * 100) / (referencePoint.x - origin.x),
      y: ((to.y - origin.y) * 100) / (referencePoint.y - origin.y),
    };
    const { snapshot: sinceSnapshot } = await this.#frames.run(call, end, 'watch', {});
    const operation = { ...options, startTarget, endPoint };
    const result = await this.run(call, startFrame, {
      name: 'drag',
      args: operation,
      isTrusted: true,
      destinationFrame: end,
    });
    const destinationChanges = await this.#frames.run(call, end, 'changes', { ...options, since: sinceSnapshot });
    const changeTexts = [result.changes, destinationChanges.changes]
      .filter((changeText) => changeText !== undefined)
      .join('\n');
    return {
      ...result,
      changed: result.changed || destinationChanges.changed,
      ...(changeTexts === '' ? {} : { changes: changeTexts }),
    };
  }

  async #locateElement(call: BrowserCall, frame: FrameTarget, target: string, isReady: boolean) {
    const { point: locatedPoint } = await this.#frames.run(call, frame, 'locate', { target, ready: isReady });
    return locatedPoint && (await this.#frames.findPoint(call, frame, locatedPoint, isReady));
  }

  async #runWithTrustedInput<N extends ActionName>(
    session: DebuggerSession,
    call: BrowserCall,
    frame: FrameTarget,
    name: N,
    args: PageOperationOf<N>['arguments'],
    trustedAttempt: TrustedInputAttempt,
  ): Promise<PageResult<N>> {
    const dialog = this.#debuggers.dialogs.waitForNextDialog(call.tabId);
    const fallbackNotes: string[] = [];
    const children: string[] = [];
    const framePreparations: Promise<void>[] = [];
    const input = new TabInput({
      session,
      findPoint: (locatedPoint, isShown) => this.#frames.findPoint(call, frame, locatedPoint, isShown),
      children,
      focus: () => this.#frames.focus(call, frame),
      dialogOpened: dialog.opened,
    });
    trustedAttempt.input = input;
    const stopFunctions = [
      dialog.stop,
      session.onEvent((method) => {
        if (method === 'Page.fileChooserOpened' && fallbackNotes.length === 0) fallbackNotes.push(fileChooserNote);
      }),
      session.onChildTarget((child) => {
        if (child.kind !== 'iframe') return Promise.resolve();
        children.push(child.id);
        const preparation = prepareFrame(session, child.id);
        framePreparations.push(preparation);
        return preparation;
      }),
    ];
    try {
      await Promise.allSettled(framePreparations);
      const result = await this.#frames.run(call, frame, name, args, async (request) =>
        // After a call is cancelled, its page script receives no further trusted input.
        call.signal.aborted && request.kind !== 'leave' ? false : await input.sendRequest(request),
      );
      return addFallbackNotes(result, fallbackNotes);
    } catch (error) {
      const canRepeat = input.hasUnmappablePoint && !input.hasSentInput && error instanceof ToolFailure;
      if (!canRepeat) throw error;
      const fallbackNote = 'The position of the element in the tab is unknown, so no trusted input was used.';
      return addFallbackNotes(await this.#frames.run(call, frame, name, args), [fallbackNote]);
    } finally {
      await input.releaseAll();
      for (const stop of stopFunctions) stop();
      await Promise.all(children.map((childId) => resetFrame(session, childId)));
    }
  }
}

interface TrustedInputAttempt {
  input: TabInput | undefined;
}

/**
 * makeFallbackNote returns a note for the agent if an operation can continue without the debugger after the given
 * error.
 */
function makeFallbackNote(error: unknown): string | undefined {
  if (!(error instanceof ToolFailure)) return undefined;
  if (error.error.tool?.code === 'debugger_refused') return debuggerRefusedNote;
  return error instanceof DebuggerUnavailableError ? `The debugger was not used: ${error.message}.` : undefined;
}

/** prepareFrame turns on the interception of file choosers and the focus emulation in a cross-site frame. */
async function prepareFrame(session: DebuggerSession, childId: string): Promise<void> {
  // Send all commands at once, so that a later resetFrame cannot overtake a command.
  await Promise.all([
    session.send('Page.enable', {}, undefined, childId),
    ...frameModes.map((method) => session.send(method, { enabled: true }, undefined, childId)),
  ]);
}

/**
 * resetFrame undoes prepareFrame, because the debugger stays attached to the frame if another tool, such as a network
 * recording, uses the feature "children".
 */
async function resetFrame(session: DebuggerSession, childId: string): Promise<void> {
  const commands = frameModes.map((method) => session.send(method, { enabled: false }, FrameResetTimeoutMs, childId));
  await Promise.allSettled(commands);
}

const frameModes = ['Page.setInterceptFileChooserDialog', 'Emulation.setFocusEmulationEnabled'] as const;
const FrameResetTimeoutMs = 1000;

function listRequiredFeatures<N extends ActionName>(
  frame: FrameTarget,
  { name, isTrusted, destinationFrame = frame }: ActionOperation<N>,
): DebuggerFeature[] {
  const debuggerFeatures: DebuggerFeature[] = ['dialogs'];
  if (!isTrusted) return debuggerFeatures;
  // Without the feature "drawing", Chrome delays pointer moves in a background tab by up to 1 s, and runs no animation
  // frames.
  debuggerFeatures.push('focus', 'files', 'drawing');
  if (name === 'drag') debuggerFeatures.push('drags');
  // With the feature "children", prepareFrame can intercept the file choosers of cross-site frames.
  if (frame.frameId !== 0 || destinationFrame.frameId !== 0) debuggerFeatures.push('children');
  return debuggerFeatures;
}

function addFallbackNotes<R extends PageActionResult>(result: R, fallbackNotes: readonly string[]): R {
  return fallbackNotes.length === 0 ? result : { ...result, notes: [...result.notes, ...fallbackNotes] };
}

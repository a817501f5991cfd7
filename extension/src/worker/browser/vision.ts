import type { InputRequest } from '../../page/input-request.ts';
import type { MouseButton, PageActionResult } from '../../page/operations.ts';
import type { PageActions } from './acts.ts';
import { readChoice, readNumber } from './arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from './browser-tool.ts';
import type { DebuggerSession, Debuggers } from './debugger/debuggers.ts';
import { TabInput, type TabPoint } from './debugger/tab-input.ts';
import type { ActionStopper } from './debugger/trusted-input.ts';
import type { FrameTarget, TabFrames } from './tab-frames.ts';
import { makeCallFailure, toolFailure } from './tool-failure.ts';

const mouseButtons: readonly MouseButton[] = ['left', 'right', 'middle'];
const MaxDepth = 10;
const DragSteps = 10;

/** makeVisionTools returns the tools that act at coordinates of a screenshot, all of which need the debugger. */
export function makeVisionTools(
  frames: TabFrames,
  pageActions: PageActions,
  debuggers: Debuggers,
  userInput: ActionStopper,
): [string, BrowserTool][] {
  const visionTools = new VisionTools(frames, pageActions, debuggers, userInput);
  return [
    ['browser_mouse_click_xy', (call) => visionTools.click(call)],
    ['browser_mouse_move_xy', (call) => visionTools.move(call)],
    ['browser_mouse_drag_xy', (call) => visionTools.drag(call)],
    ['browser_mouse_wheel', (call) => visionTools.scrollWheel(call)],
  ];
}

interface VisionInput {
  sendInput(request: InputRequest): Promise<void>;
  readonly session: DebuggerSession;
}

/** VisionTools implements the tools that act at coordinates of a screenshot, with one method for each tool. */
class VisionTools {
  readonly #frames: TabFrames;
  readonly #pageActions: PageActions;
  readonly #debuggers: Debuggers;
  readonly #userInput: ActionStopper;

  constructor(frames: TabFrames, pageActions: PageActions, debuggers: Debuggers, userInput: ActionStopper) {
    this.#userInput = userInput;
    this.#frames = frames;
    this.#pageActions = pageActions;
    this.#debuggers = debuggers;
  }

  async click(call: BrowserCall): Promise<BrowserResult> {
    const clickPoint = requirePoint(call, 'x', 'y');
    const button = readChoice(call.args, 'button', mouseButtons) ?? 'left';
    const clickCount = readNumber(call.args, 'clickCount') ?? 1;
    return await this.#runAction(
      call,
      `Clicked ${formatPoint(clickPoint)}`,
      [clickPoint],
      async ({ sendInput: makeInput }) => {
        await makeInput(makeMouseRequest('move', clickPoint, button));
        for (let count = 1; count <= clickCount; count++) {
          await makeInput(makeMouseRequest('press', clickPoint, button, count));
          await makeInput(makeMouseRequest('release', clickPoint, button, count));
        }
      },
    );
  }

  async move(call: BrowserCall): Promise<BrowserResult> {
    const clickPoint = requirePoint(call, 'x', 'y');
    return await this.#runAction(
      call,
      `Moved the pointer to ${formatPoint(clickPoint)}`,
      [clickPoint],
      async ({ sendInput: makeInput }) => {
        await makeInput(makeMouseRequest('move', clickPoint, 'left'));
      },
    );
  }

  async drag(call: BrowserCall): Promise<BrowserResult> {
    const [startPoint, end] = [requirePoint(call, 'startX', 'startY'), requirePoint(call, 'endX', 'endY')];
    const actionText = `Dragged from ${formatPoint(startPoint)} to ${formatPoint(end)}`;
    return await this.#runAction(call, actionText, [startPoint, end], async ({ sendInput: makeInput }) => {
      await makeInput(makeMouseRequest('move', startPoint, 'left'));
      await makeInput(makeMouseRequest('press', startPoint, 'left', 1));
      for (let step = 1; step <= DragSteps; step++) {
        const fraction = step / DragSteps;
        const clickPoint = {
          x: startPoint.x + (end.x - startPoint.x) * fraction,
          y: startPoint.y + (end.y - startPoint.y) * fraction,
        };
        await makeInput(makeMouseRequest('move', clickPoint, 'left'));
      }
      await makeInput(makeMouseRequest('release', end, 'left', 1));
    });
  }

  async scrollWheel(call: BrowserCall): Promise<BrowserResult> {
    const clickPoint = requirePoint(call, 'x', 'y');
    const [deltaX, deltaY] = [readDelta(call, 'deltaX'), readDelta(call, 'deltaY')];
    if (deltaX === 0 && deltaY === 0)
      throw makeCallFailure('invalid_arguments', 'browser_mouse_wheel needs deltaX or deltaY');
    return await this.#runAction(
      call,
      `Turned the wheel at ${formatPoint(clickPoint)}`,
      [clickPoint],
      async ({ session }) => {
        await session.send('Input.dispatchMouseEvent', {
          type: 'mouseWheel',
          ...clickPoint,
          deltaX,
          deltaY,
          pointerType: 'mouse',
        });
      },
    );
  }

  async #runAction(
    call: BrowserCall,
    actionText: string,
    hitPoints: readonly TabPoint[],
    makeInput: (tools: VisionInput) => Promise<void>,
  ): Promise<BrowserResult> {
    const top = await this.#frames.top(call);
    const act = await this.#pageActions.run(call, top, () =>
      this.#userInput.stopOnInput(call, (stoppableCall) => this.#runAtPoints(stoppableCall, top, hitPoints, makeInput)),
    );
    const targetLine = act.result?.target;
    const content = targetLine === undefined || !act.result?.changed ? [] : [`hit: ${targetLine}`];
    return await this.#pageActions.describe(call, actionText, act, { content });
  }

  async #runAtPoints(
    call: BrowserCall,
    top: FrameTarget,
    hitPoints: readonly TabPoint[],
    makeInput: (tools: VisionInput) => Promise<void>,
  ): Promise<PageActionResult> {
    return await this.#debuggers.use(call.tabId, ['dialogs', 'focus', 'files', 'drags', 'drawing'], async (session) => {
      const hitTargets: string[] = [];
      for (const hitPoint of hitPoints) hitTargets.push(await this.#requireHitElement(call, top, hitPoint));
      const { snapshot: snapshotNumber } = await this.#frames.run(call, top, 'watch', {});
      const dialog = this.#debuggers.dialogs.waitForNextDialog(call.tabId);
      const input = new TabInput({
        session,
        children: [],
        findPoint: async (hitPoint) => hitPoint,
        focus: async () => false,
        dialogOpened: dialog.opened,
      });
      try {
        const sendUnlessAborted = async (request: InputRequest) => {
          call.signal.throwIfAborted();
          await input.sendRequest(request);
        };
        await makeInput({ sendInput: sendUnlessAborted, session });
        call.markActed();
        call.signal.throwIfAborted();
      } finally {
        await input.releaseAll();
        dialog.stop();
      }
      const snapshot = readChoice(call.args, 'snapshot', ['diff', 'none', 'full']) ?? 'diff';
      const result = await this.#frames.run(call, top, 'changes', { since: snapshotNumber, snapshot });
      return { ...result, target: hitTargets.join('\n'), input: 'trusted' };
    });
  }

  /**
   * #requireHitElement throws if a point is in a frame of a forbidden site, because the frame would receive the input.
   */
  async #requireHitElement(call: BrowserCall, top: FrameTarget, clickPoint: TabPoint): Promise<string> {
    let frame = top;
    let hitPoint = clickPoint;
    for (let depth = 0; depth < MaxDepth; depth++) {
      const { line: targetLine, frame: info } = await this.#frames.run(call, frame, 'hit', {
        x: hitPoint.x,
        y: hitPoint.y,
      });
      if (targetLine === undefined)
        throw toolFailure(
          'not_hittable',
          `${formatPoint(clickPoint)} is outside of the visible part of the page. Take a new picture`,
        );
      if (!info) return targetLine;
      const [child] = await this.#frames.findChildFrames(call, frame, [info]);
      const origin = child && (await this.#frames.findOrigin(call, child.frame));
      if (!child || !origin)
        throw toolFailure('not_hittable', {
          forAgent: `${formatPoint(clickPoint)} is in a frame that tools may not use or cannot read. Only the user can act there`,
          forUser: `${formatPoint(clickPoint)} is in a frame that tools may not use or cannot read. Act there yourself.`,
        });
      frame = child.frame;
      hitPoint = { x: clickPoint.x - origin.x, y: clickPoint.y - origin.y };
    }
    throw toolFailure('not_hittable', `${formatPoint(clickPoint)} is in too many frames`);
  }
}

function makeMouseRequest(kind: 'move' | 'press' | 'release', { x, y }: TabPoint, button: MouseButton, count = 0) {
  return { kind, x, y, button, count, modifiers: [] } as const;
}

function formatPoint({ x, y }: TabPoint): string {
  return `${x}, ${y}`;
}

function requirePoint({ args }: BrowserCall, xArgument: string, yArgument: string): TabPoint {
  const [x, y] = [readNumber(args, xArgument), readNumber(args, yArgument)];
  if (x === undefined || y === undefined)
    throw makeCallFailure('invalid_arguments', `${xArgument} and ${yArgument} are needed`);
  return { x, y };
}

function readDelta({ args }: BrowserCall, key: string): number {
  const value = args[key] ?? 0;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw makeCallFailure('invalid_arguments', `the argument ${key} must be a number`);
}

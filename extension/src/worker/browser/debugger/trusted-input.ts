import type { ActArguments, ActResult } from '../../../page/operations.ts';
import type { BrowserCall } from '../browser-tool.ts';
import type { FrameTarget, TabFrames } from '../tab-frames.ts';
import { type DebuggerSession, type Debuggers, DebuggerUnavailable } from './debuggers.ts';

/** MaxMoves limits how often the pointer follows an element that moves away when the pointer comes. */
const MaxMoves = 3;

/** TrustedInput acts with input that looks to the page like a user's. Without the debugger, the page script acts. */
export class TrustedInput {
  readonly #debuggers: Debuggers;
  readonly #frames: TabFrames;

  constructor(debuggers: Debuggers, frames: TabFrames) {
    this.#debuggers = debuggers;
    this.#frames = frames;
  }

  /**
   * hover moves the pointer over an element. The page believes to have the focus only meanwhile. In a child frame, the
   * page script acts, because the pointer does not reach frames of other sites in a background tab.
   */
  async hover(call: BrowserCall, frame: FrameTarget, target: string, options: ActArguments): Promise<ActResult> {
    try {
      if (this.#debuggers.state === 'ready' && frame.frameId === 0)
        return await this.#debuggers.use(call.tabId, ['focus'], (session) =>
          this.#hover(session, call, frame, target, options),
        );
    } catch (error) {
      if (!(error instanceof DebuggerUnavailable)) throw error;
    }
    return await this.#frames.run(call, frame, 'hover', { ...options, target });
  }

  async #hover(
    session: DebuggerSession,
    call: BrowserCall,
    frame: FrameTarget,
    target: string,
    options: ActArguments,
  ): Promise<ActResult> {
    const { snapshot: since } = await this.#frames.run(call, frame, 'watch', {});
    const line = await this.#moveTo(session, call, frame, target);
    const result = await this.#frames.run(call, frame, 'changes', { ...options, since });
    return { ...result, target: line, input: 'trusted' };
  }

  /** #moveTo moves the pointer onto an element, and returns the line of the element. */
  async #moveTo(session: DebuggerSession, call: BrowserCall, frame: FrameTarget, target: string): Promise<string> {
    for (let move = 1; ; move++) {
      const { point, line } = await this.#frames.run(call, frame, 'locate', { target, ready: true });
      if (!point) throw new DebuggerUnavailable('needs_debugger', `the place of ${target} in the tab is unknown`);
      call.signal.throwIfAborted();
      await session.send('Input.dispatchMouseEvent', { type: 'mouseMoved', ...point });
      const after = await this.#frames.run(call, frame, 'locate', { target });
      const isSame = after.hit && after.point?.x === point.x && after.point.y === point.y;
      if (isSame || move === MaxMoves) return line;
    }
  }
}

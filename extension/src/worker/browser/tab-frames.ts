import type { TabFrame } from '../../chrome-pages.ts';
import type { FramePointArguments } from '../../page/frame-operations.ts';
import type { InputRequest } from '../../page/input-request.ts';
import type { FrameInfo, PageOperationName, PageOperationOf, PageResult } from '../../page/operations.ts';
import { awaitWithin, sleep } from '../../within.ts';
import type { BrowserCall } from './browser-tool.ts';
import { filterAllowedFrames } from './frame-rules.ts';
import type { PageDocument, PageScripts, RunOptions } from './page-scripts.ts';
import { makeDocumentGoneFailure, type ToolFailure, toolFailure } from './tool-failure.ts';

export interface FrameTarget extends PageDocument {
  /**
   * The field `prefix` is the start of every ref in a frame, such as "f3" in the ref "f3e12". The refs of the top frame
   * have no prefix, so the prefix of the top frame is an empty string.
   */
  readonly prefix: string;
}

type CallTarget = Pick<BrowserCall, 'tabId' | 'documentId' | 'args'>;

/** MaxFrames limits how many frames of a tab the tools read, because pages with advertisements have many frames. */
export const MaxFrames = 30;
/**
 * FrameAnswerTimeoutMs limits how long a child frame may take to answer before a tool skips the frame, in milliseconds.
 */
const FrameAnswerTimeoutMs = 2000;
/**
 * MaxCoveredWaitMs is how long another element may cover a child frame before input to the frame fails, in
 * milliseconds.
 */
const MaxCoveredWaitMs = 2000;

export interface TabFramesOptions {
  readonly scripts: Pick<PageScripts, 'run'>;
  listTabFrames(tabId: number): Promise<readonly TabFrame[]>;
  isInFront(tabId: number): Promise<boolean>;
}

/** TabFrames finds the frames of a tab and runs page script operations in the frames. */
export class TabFrames {
  readonly #options: TabFramesOptions;

  constructor(options: TabFramesOptions) {
    this.#options = options;
  }

  /**
   * The method `list` returns the frames in which a call is allowed to run, starting with the top frame. `list` fails
   * if the call's document no longer exists.
   */
  async list({ tabId, documentId, args }: CallTarget): Promise<FrameTarget[]> {
    const frames = filterAllowedFrames(await this.#options.listTabFrames(tabId), args);
    const topFrame = frames.find((frame) => frame.frameId === 0);
    if (!topFrame)
      throw toolFailure('not_found', 'the tab shows no page that scripts can read. Navigate to a page first');
    if (documentId !== '' && topFrame.documentId !== documentId) throw makeDocumentGoneFailure('open', false);
    const otherFrames = frames.filter((frame) => frame.frameId !== 0);
    return [topFrame, ...otherFrames].map((frame) => makeFrameTarget(tabId, frame));
  }

  async top(call: CallTarget): Promise<FrameTarget> {
    const { tabId, documentId } = call;
    if (documentId !== '') return { tabId, documentId, frameId: 0, prefix: '' };
    const [topFrame] = await this.list(call);
    if (!topFrame) throw makeDocumentGoneFailure('open', false);
    return topFrame;
  }

  /** A ref without a frame prefix belongs to the top frame. */
  async findFrameByRef(call: BrowserCall, elementRef: string): Promise<FrameTarget> {
    const prefix = /^(f\d+)e\d+$/.exec(elementRef)?.[1];
    if (prefix === undefined) return await this.top(call);
    const frame = (await this.list(call)).find((candidateFrame) => candidateFrame.prefix === prefix);
    if (frame) return frame;
    throw toolFailure('stale_ref', `the frame of ${elementRef} is gone. Take a new snapshot and use a ref from it`);
  }

  /**
   * If the caller passes a function onInput, the page script calls onInput to request trusted input events. If the
   * active tab's page does not answer, `run` fails with dialog_open.
   */
  async run<N extends PageOperationName>(
    call: Pick<BrowserCall, 'signal' | 'report'>,
    frame: FrameTarget,
    name: N,
    args: PageOperationOf<N>['arguments'],
    onInput?: (request: InputRequest) => Promise<boolean>,
  ): Promise<PageResult<N>> {
    const options: RunOptions = {
      ...(onInput ? { onInput } : {}),
      signal: call.signal,
      report: (report) => call.report(report),
      onSilence: async () => ((await this.#options.isInFront(frame.tabId)) ? makeDialogFailure() : undefined),
    };
    return await this.#options.scripts.run(frame, makeOperation(name, frame.prefix, args), options);
  }

  /** If the child frame does not answer or the operation fails, runInChildFrame returns undefined. */
  async runInChildFrame<N extends PageOperationName>(
    call: Pick<BrowserCall, 'signal' | 'report'>,
    frame: FrameTarget,
    name: N,
    args: PageOperationOf<N>['arguments'],
  ): Promise<PageResult<N> | undefined> {
    const options: RunOptions = { signal: call.signal, report: () => undefined };
    const runningOperation = this.#options.scripts.run(frame, makeOperation(name, frame.prefix, args), options);
    const frameResult = await awaitWithin(runningOperation, FrameAnswerTimeoutMs);
    call.signal.throwIfAborted();
    return frameResult;
  }

  /**
   * findOrigin returns where a frame's document starts in the tab's viewport, in CSS pixels. findOrigin returns
   * undefined if the frame is scaled, rotated or in a shadow root.
   */
  async findOrigin(call: BrowserCall, frame: FrameTarget): Promise<{ x: number; y: number } | undefined> {
    let [x, y] = [0, 0];
    const frames = await this.#options.listTabFrames(call.tabId);
    for (let child = frame; child.frameId !== 0; ) {
      const parentId = frames.find(({ documentId }) => documentId === child.documentId)?.parentFrameId;
      const parent = frames.find(({ frameId }) => frameId === parentId);
      if (!parent) return undefined;
      const parentTarget = makeFrameTarget(call.tabId, parent);
      const [frameFacts, foundFrames] = await Promise.all([
        this.runInChildFrame(call, child, 'facts', {}),
        this.runInChildFrame(call, parentTarget, 'frameAreas', {}),
      ]);
      const frameArea = foundFrames?.areas.find(({ index }) => index === frameFacts?.index)?.area;
      if (!frameArea) return undefined;
      [x, y, child] = [x + frameArea.x, y + frameArea.y, parentTarget];
    }
    return { x, y };
  }

  /**
   * findPoint converts a point of a frame to the tab's viewport. findPoint returns undefined if the position of the
   * frame is unknown, for example because the frame is rotated. If isShown is true, findPoint scrolls the point into
   * view, and fails with not_hittable if another element covers the point.
   */
  async findPoint(
    call: BrowserCall,
    frame: FrameTarget,
    tabPoint: { readonly x: number; readonly y: number },
    isShown: boolean,
  ): Promise<{ readonly x: number; readonly y: number } | undefined> {
    let framePoint = { x: tabPoint.x, y: tabPoint.y };
    if (frame.frameId === 0) return framePoint;
    const frames = await this.#options.listTabFrames(call.tabId);
    for (let child = frame; child.frameId !== 0; ) {
      const knownFrame = frames.find(({ documentId }) => documentId === child.documentId);
      const parent = frames.find(({ frameId }) => frameId === knownFrame?.parentFrameId);
      if (!knownFrame || !parent) return undefined;
      const parentTarget = makeFrameTarget(call.tabId, parent);
      const frameFacts = await this.runInChildFrame(call, child, 'facts', {});
      if (!frameFacts) return undefined;
      const { index, url, size } = frameFacts;
      const mappedPoint = await this.#mapPointToParent(call, parentTarget, {
        index,
        url,
        ...size,
        ...framePoint,
        scroll: isShown,
      });
      if (!mappedPoint) return undefined;
      [framePoint, child] = [mappedPoint, parentTarget];
    }
    return framePoint;
  }

  /** The method `focus` moves the keyboard focus to a frame by focusing the frame element in each ancestor frame. */
  async focus(call: BrowserCall, frame: FrameTarget): Promise<boolean> {
    const frames = await this.#options.listTabFrames(call.tabId);
    const parentId = frames.find(({ documentId }) => documentId === frame.documentId)?.parentFrameId;
    const parent = frames.find(({ frameId }) => frameId === parentId);
    if (!parent) return frame.frameId === 0;
    const parentTarget = makeFrameTarget(call.tabId, parent);
    if (!(await this.focus(call, parentTarget))) return false;
    const frameFacts = await this.runInChildFrame(call, frame, 'facts', {});
    if (!frameFacts) return false;
    const child = { index: frameFacts.index, url: frameFacts.url, ...frameFacts.size };
    return (await this.runInChildFrame(call, parentTarget, 'focusFrame', child))?.focused === true;
  }

  /**
   * If another element covers the point, mapPointToParent waits until that element disappears, for at most
   * MaxCoveredWaitMs.
   */
  async #mapPointToParent(
    call: BrowserCall,
    parent: FrameTarget,
    args: FramePointArguments,
  ): Promise<{ readonly x: number; readonly y: number } | undefined> {
    const endMs = Date.now() + MaxCoveredWaitMs;
    for (;;) {
      const frameResult = await this.runInChildFrame(call, parent, 'framePoint', args);
      if (!frameResult?.point) return undefined;
      if (frameResult.hit || !args.scroll) return frameResult.point;
      if (Date.now() >= endMs) {
        const { covered: coveringLine } = frameResult;
        throw toolFailure(
          'not_hittable',
          'input cannot reach the frame of the element: another element is in front of it. Close or move it first',
          coveringLine === undefined ? undefined : `in front of the frame: ${coveringLine}`,
        );
      }
      await sleep(100, call.signal);
    }
  }

  /** findChildFrames matches each frame element with its document by the index of both in window.frames. */
  async findChildFrames(
    call: BrowserCall,
    parent: FrameTarget,
    frameInfos: readonly FrameInfo[],
  ): Promise<{ readonly info: FrameInfo; readonly frame: FrameTarget }[]> {
    if (frameInfos.length === 0) return [];
    const frames = filterAllowedFrames(await this.#options.listTabFrames(call.tabId), call.args);
    const children = frames.filter((frame) => frame.parentFrameId === parent.frameId && frame.frameId !== 0);
    const childCandidates = await Promise.all(
      children.slice(0, MaxFrames).map(async (child) => {
        const frame = makeFrameTarget(call.tabId, child);
        const frameFacts = await this.runInChildFrame(call, frame, 'facts', {});
        return frameFacts ? [{ frame, index: frameFacts.index, url: child.url }] : [];
      }),
    );
    const unmatchedFrames = new Set(childCandidates.flat());
    const foundFrames: { info: FrameInfo; frame: FrameTarget }[] = [];
    for (const frameInfo of frameInfos) {
      for (const candidateFrame of unmatchedFrames) {
        // window.frames does not list frames in shadow roots, so match frames in shadow roots by their URLs.
        const isSameFrame =
          candidateFrame.index === frameInfo.index && (frameInfo.index >= 0 || candidateFrame.url === frameInfo.src);
        if (!isSameFrame) continue;
        unmatchedFrames.delete(candidateFrame);
        foundFrames.push({ info: frameInfo, frame: candidateFrame.frame });
        break;
      }
    }
    return foundFrames;
  }
}

function makeFrameTarget(tabId: number, { frameId, documentId }: TabFrame): FrameTarget {
  return { tabId, documentId, frameId, prefix: frameId === 0 ? '' : `f${frameId}` };
}

function makeOperation<N extends PageOperationName>(
  name: N,
  prefix: string,
  args: PageOperationOf<N>['arguments'],
): { readonly name: N; readonly prefix: string; readonly arguments: PageOperationOf<N>['arguments'] } {
  return { name, prefix, arguments: args };
}

function makeDialogFailure(): ToolFailure {
  return toolFailure('dialog_open', {
    forAgent:
      'the page has not answered for 2 s. It probably shows a dialog (alert, confirm or prompt) to the user, and the ' +
      'tool may have acted before. Ask the user to answer the dialog, then take a new snapshot',
    forUser:
      'The page has not answered for 2 s, because it probably shows a dialog (alert, confirm or prompt). Answer it in ' +
      'the tab. The tool may have acted before.',
  });
}

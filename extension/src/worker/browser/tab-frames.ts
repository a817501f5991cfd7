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
    const top = frames.find((frame) => frame.frameId === 0);
    if (!top) throw toolFailure('not_found', 'the tab shows no page that scripts can read. Navigate to a page first');
    if (documentId !== '' && top.documentId !== documentId) throw makeDocumentGoneFailure('open', false);
    const others = frames.filter((frame) => frame.frameId !== 0);
    return [top, ...others].map((frame) => makeFrameTarget(tabId, frame));
  }

  async top(call: CallTarget): Promise<FrameTarget> {
    const { tabId, documentId } = call;
    if (documentId !== '') return { tabId, documentId, frameId: 0, prefix: '' };
    const [top] = await this.list(call);
    if (!top) throw makeDocumentGoneFailure('open', false);
    return top;
  }

  /** A ref without a frame prefix belongs to the top frame. */
  async findByRef(call: BrowserCall, ref: string): Promise<FrameTarget> {
    const prefix = /^(f\d+)e\d+$/.exec(ref)?.[1];
    if (prefix === undefined) return await this.top(call);
    const frame = (await this.list(call)).find((candidate) => candidate.prefix === prefix);
    if (frame) return frame;
    throw toolFailure('stale_ref', `the frame of ${ref} is gone. Take a new snapshot and use a ref from it`);
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
      onSilent: async () => ((await this.#options.isInFront(frame.tabId)) ? makeDialogFailure() : undefined),
    };
    return await this.#options.scripts.run(frame, makeOperation(name, frame.prefix, args), options);
  }

  /** If the child frame does not answer or the operation fails, runInChild returns undefined. */
  async runInChild<N extends PageOperationName>(
    call: Pick<BrowserCall, 'signal' | 'report'>,
    frame: FrameTarget,
    name: N,
    args: PageOperationOf<N>['arguments'],
  ): Promise<PageResult<N> | undefined> {
    const options: RunOptions = { signal: call.signal, report: () => undefined };
    const running = this.#options.scripts.run(frame, makeOperation(name, frame.prefix, args), options);
    const result = await awaitWithin(running, FrameAnswerTimeoutMs);
    call.signal.throwIfAborted();
    return result;
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
      const [facts, found] = await Promise.all([
        this.runInChild(call, child, 'facts', {}),
        this.runInChild(call, parentTarget, 'frameAreas', {}),
      ]);
      const area = found?.areas.find(({ index }) => index === facts?.index)?.area;
      if (!area) return undefined;
      [x, y, child] = [x + area.x, y + area.y, parentTarget];
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
    point: { readonly x: number; readonly y: number },
    isShown: boolean,
  ): Promise<{ readonly x: number; readonly y: number } | undefined> {
    let found = { x: point.x, y: point.y };
    if (frame.frameId === 0) return found;
    const frames = await this.#options.listTabFrames(call.tabId);
    for (let child = frame; child.frameId !== 0; ) {
      const entry = frames.find(({ documentId }) => documentId === child.documentId);
      const parent = frames.find(({ frameId }) => frameId === entry?.parentFrameId);
      if (!entry || !parent) return undefined;
      const parentTarget = makeFrameTarget(call.tabId, parent);
      const facts = await this.runInChild(call, child, 'facts', {});
      if (!facts) return undefined;
      const { index, url, size } = facts;
      const mapped = await this.#mapPoint(call, parentTarget, { index, url, ...size, ...found, scroll: isShown });
      if (!mapped) return undefined;
      [found, child] = [mapped, parentTarget];
    }
    return found;
  }

  /** The method `focus` moves the keyboard focus to a frame by focusing the frame element in each ancestor frame. */
  async focus(call: BrowserCall, frame: FrameTarget): Promise<boolean> {
    const frames = await this.#options.listTabFrames(call.tabId);
    const parentId = frames.find(({ documentId }) => documentId === frame.documentId)?.parentFrameId;
    const parent = frames.find(({ frameId }) => frameId === parentId);
    if (!parent) return frame.frameId === 0;
    const parentTarget = makeFrameTarget(call.tabId, parent);
    if (!(await this.focus(call, parentTarget))) return false;
    const facts = await this.runInChild(call, frame, 'facts', {});
    if (!facts) return false;
    const child = { index: facts.index, url: facts.url, ...facts.size };
    return (await this.runInChild(call, parentTarget, 'focusFrame', child))?.focused === true;
  }

  /**
   * If another element covers the point, mapPoint waits until that element disappears, for at most MaxCoveredWaitMs.
   */
  async #mapPoint(
    call: BrowserCall,
    parent: FrameTarget,
    args: FramePointArguments,
  ): Promise<{ readonly x: number; readonly y: number } | undefined> {
    const endMs = Date.now() + MaxCoveredWaitMs;
    for (;;) {
      const result = await this.runInChild(call, parent, 'framePoint', args);
      if (!result?.point) return undefined;
      if (result.hit || !args.scroll) return result.point;
      if (Date.now() >= endMs)
        throw toolFailure(
          'not_hittable',
          `input cannot reach the frame of the element: ${result.covered ?? 'another element'} is in front of it`,
        );
      await sleep(100, call.signal);
    }
  }

  /** findChildren matches a frame element with its document by their index in window.frames. */
  async findChildren(
    call: BrowserCall,
    parent: FrameTarget,
    infos: readonly FrameInfo[],
  ): Promise<{ readonly info: FrameInfo; readonly frame: FrameTarget }[]> {
    if (infos.length === 0) return [];
    const frames = filterAllowedFrames(await this.#options.listTabFrames(call.tabId), call.args);
    const children = frames.filter((frame) => frame.parentFrameId === parent.frameId && frame.frameId !== 0);
    const candidates = await Promise.all(
      children.slice(0, MaxFrames).map(async (child) => {
        const frame = makeFrameTarget(call.tabId, child);
        const facts = await this.runInChild(call, frame, 'facts', {});
        return facts ? [{ frame, index: facts.index, url: child.url }] : [];
      }),
    );
    const unused = new Set(candidates.flat());
    const found: { info: FrameInfo; frame: FrameTarget }[] = [];
    for (const info of infos) {
      for (const candidate of unused) {
        // window.frames does not list frames in shadow roots, so match frames in shadow roots by their URLs.
        const isSame = candidate.index === info.index && (info.index >= 0 || candidate.url === info.src);
        if (!isSame) continue;
        unused.delete(candidate);
        found.push({ info, frame: candidate.frame });
        break;
      }
    }
    return found;
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

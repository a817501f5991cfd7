import { type ChildFrame, joinFrames } from '../../page/join-frames.ts';
import type { SnapshotArguments, SnapshotMode, SnapshotResult } from '../../page/operations.ts';
import { awaitWithin, sleep } from '../../within.ts';
import { readChoice, readNumber, readText } from './arguments.ts';
import type { BrowserCall, BrowserResult, PageState } from './browser-tool.ts';
import { type FrameTarget, MaxFrames, type TabFrames } from './tab-frames.ts';
import { ToolFailure } from './tool-failure.ts';

const DefaultMaxTokens = 6000;
/** MinTokens is the smallest limit that a client can set for the size of a snapshot, in tokens. */
const MinTokens = 200;
/** MinFrameTokens is the smallest limit for the size of the snapshot of a child frame, in tokens. */
const MinFrameTokens = 200;
const ChangedFrameMaxTokens = 800;
const MaxDepth = 4;
/** MaxStoredSnapshots limits for how many snapshots the worker also stores the snapshots of their child frames. */
const MaxStoredSnapshots = 200;

const NewPageMaxTokens = 1500;
const NewPageTimeoutMs = 2000;
/**
 * NewDocumentWaitMs is how long takeOfNewDocument waits for a script of the page to redirect to another document, in
 * milliseconds.
 */
const NewDocumentWaitMs = 50;

export interface FullSnapshot {
  readonly content: string;
  readonly snapshot: string;
  readonly page: PageState;
  /** The field `note` describes the missing parts of a snapshot, and is empty for a complete snapshot. */
  readonly note: string;
}

interface DescribedTree {
  readonly content: string;
  readonly snapshot: string;
  readonly folded: number;
  readonly notes: readonly string[];
}

export const StillLoadingNote =
  'The page is still loading, so more may follow. Use browser_wait_for with a text that should appear.';

const snapshotModes: readonly SnapshotMode[] = ['full', 'interactive', 'viewport'];

/** ChildSnapshot is the snapshot of a child frame that was part of an earlier snapshot. */
interface ChildSnapshot {
  readonly frame: FrameTarget;
  readonly snapshot: string;
}

/** Snapshots takes snapshots of a tab including its frames. */
export class Snapshots {
  readonly #frames: TabFrames;
  readonly #childSnapshots = new Map<string, readonly ChildSnapshot[]>();

  constructor(frames: TabFrames) {
    this.#frames = frames;
  }

  async takeSnapshot(call: BrowserCall): Promise<BrowserResult> {
    const { args } = call;
    const target = readText(args, 'target');
    const frame = target === undefined ? await this.#frames.top(call) : await this.#frames.findFrameByRef(call, target);
    const sinceSnapshot = readText(args, 'since');
    const depth = readNumber(args, 'depth');
    const options: SnapshotArguments = {
      mode: readChoice(args, 'mode', snapshotModes) ?? 'full',
      maxTokens: limitSnapshotTokens(readNumber(args, 'maxTokens') ?? DefaultMaxTokens),
      ...(target === undefined ? {} : { target }),
      ...(sinceSnapshot === undefined ? {} : { since: sinceSnapshot }),
      ...(depth === undefined ? {} : { depth }),
    };
    const result = await this.#frames.run(call, frame, 'snapshot', options);
    if (sinceSnapshot !== undefined && !result.full)
      return await this.#describeChanges(call, frame, result, sinceSnapshot);
    const { content, snapshot, folded, notes } = await this.#describeTree(call, frame, result, options);
    const sentences = [`Snapshot ${snapshot}.`];
    if (sinceSnapshot !== undefined)
      sentences.push(
        `It is a complete snapshot: most of the page changed since ${sinceSnapshot}, or ${sinceSnapshot} is unknown.`,
      );
    if (folded > 0)
      sentences.push(`At least ${folded} elements are left out. Use browser_find, target or maxTokens to see more.`);
    return { text: [...sentences, ...notes].join(' '), content, snapshot };
  }

  /**
   * takeFull also returns the URL of the snapshot's document, because the tab may navigate before the tool ends. The
   * server uses the URL of the snapshot's document to decide whether the client is allowed to read the snapshot.
   */
  async takeFull(call: BrowserCall, maxTokens = DefaultMaxTokens): Promise<FullSnapshot> {
    return (await this.#takeFullSnapshot(call, maxTokens)).full;
  }

  async #takeFullSnapshot(call: BrowserCall, maxTokens: number): Promise<{ full: FullSnapshot; isLoading: boolean }> {
    const frame = await this.#frames.top(call);
    const options: SnapshotArguments = { mode: 'full', maxTokens };
    const result = await this.#frames.run(call, frame, 'snapshot', options);
    const { content, snapshot, folded, notes } = await this.#describeTree(call, frame, result, options);
    const omittedElementsNote =
      folded > 0 ? [`At least ${folded} elements are left out. Use browser_snapshot to see more.`] : [];
    const page = { url: result.url, title: result.title };
    const full = { content, snapshot, page, note: [...omittedElementsNote, ...notes].join(' ') };
    return { full, isLoading: result.loading === true };
  }

  /**
   * takeOfNewDocument returns a short snapshot of a new document after an action or a navigation, so that the agent
   * needs no further call.
   */
  async takeOfNewDocument(call: BrowserCall): Promise<FullSnapshot | undefined> {
    const endMs = Date.now() + NewPageTimeoutMs;
    for (;;) {
      let isDocumentLost = false;
      const snapshotPromise = this.#takeFullSnapshot({ ...call, documentId: '' }, NewPageMaxTokens).catch(
        (error: unknown) => {
          isDocumentLost =
            error instanceof ToolFailure &&
            (error.error.code === 'navigated' || error.error.tool?.code === 'not_found');
          throw error;
        },
      );
      const awaitedSnapshot = await awaitWithin(snapshotPromise, endMs - Date.now());
      call.signal.throwIfAborted();
      // A page that redirects by a script is replaced while the snapshot is taken, or shortly before.
      const isFinal = awaitedSnapshot ? !awaitedSnapshot.isLoading : !isDocumentLost;
      if (isFinal || Date.now() + NewDocumentWaitMs >= endMs) return awaitedSnapshot?.full;
      await sleep(NewDocumentWaitMs, call.signal);
    }
  }

  async #describeTree(
    call: BrowserCall,
    frame: FrameTarget,
    result: SnapshotResult,
    options: SnapshotArguments,
  ): Promise<DescribedTree> {
    const childSnapshots: ChildSnapshot[] = [];
    const notes: string[] = result.loading ? [StillLoadingNote] : [];
    if (result.shortened) notes.push('Long texts end with "…". Use browser_read_page to read them.');
    const children = await this.#takeChildSnapshots(call, frame, result, options, { childSnapshots, notes }, 1);
    this.#storeChildSnapshots(frame, result.snapshot, childSnapshots);
    const foldedCount = result.folded + countFoldedElements(children);
    return { content: joinFrames(result, children), snapshot: result.snapshot, folded: foldedCount, notes };
  }

  async #takeChildSnapshots(
    call: BrowserCall,
    parent: FrameTarget,
    { frames, tokens }: SnapshotResult,
    options: SnapshotArguments,
    { childSnapshots: allSnapshots, notes }: { readonly childSnapshots: ChildSnapshot[]; readonly notes: string[] },
    depth: number,
  ): Promise<ChildFrame[]> {
    const shown = frames.filter(({ line, visible }) => line >= 0 && (options.mode !== 'viewport' || visible));
    if (shown.length === 0 || depth > MaxDepth) return [];
    const all = await this.#frames.findChildFrames(call, parent, shown);
    const isInView = depth === 1 || options.view !== undefined;
    const maxChildFrames = countFrames(options.maxTokens ?? DefaultMaxTokens, tokens);
    const childFrames = all
      .filter(({ info }, i) => i < maxChildFrames || (isInView && info.visible !== undefined))
      .slice(0, MaxFrames - allSnapshots.length);
    if (childFrames.length < all.length) notes.push(describeOmittedFrames(all.length - childFrames.length));
    const maxTokens = limitChildTokens(options.maxTokens ?? DefaultMaxTokens, tokens, childFrames.length);
    const childSnapshots = await Promise.all(
      childFrames.map(async ({ info, frame }): Promise<ChildFrame[]> => {
        const childSnapshotOptions: SnapshotArguments = {
          mode: options.mode ?? 'full',
          maxTokens,
          ...(info.visible ? { view: info.visible } : {}),
        };
        const snapshot = await this.#frames.runInChildFrame(call, frame, 'snapshot', childSnapshotOptions);
        if (!snapshot) {
          notes.push(`Frame ${frame.prefix} did not answer and is left out.`);
          return [];
        }
        allSnapshots.push({ frame, snapshot: snapshot.snapshot });
        const children = await this.#takeChildSnapshots(
          call,
          frame,
          snapshot,
          childSnapshotOptions,
          { childSnapshots: allSnapshots, notes },
          depth + 1,
        );
        return [{ ref: info.ref, snapshot, children }];
      }),
    );
    return childSnapshots.flat();
  }

  async #describeChanges(
    call: BrowserCall,
    frame: FrameTarget,
    result: SnapshotResult,
    sinceSnapshot: string,
  ): Promise<BrowserResult> {
    const earlierSnapshots = this.#childSnapshots.get(makeSnapshotKey(frame, sinceSnapshot)) ?? [];
    const childSnapshots: ChildSnapshot[] = [];
    const textSections = isUnchanged(result) ? [] : [result.text];
    textSections.push(...(await this.#describeFrameChanges(call, frame, result, earlierSnapshots, childSnapshots, 1)));
    this.#storeChildSnapshots(frame, result.snapshot, childSnapshots);
    const text =
      textSections.length === 0 ? `Nothing changed since ${sinceSnapshot}.` : `What changed since ${sinceSnapshot}.`;
    const loadingNote = result.loading ? ` ${StillLoadingNote}` : '';
    const content = textSections.length === 0 ? {} : { content: textSections.join('\n') };
    return { text: `Snapshot ${result.snapshot}. ${text}${loadingNote}`, ...content, snapshot: result.snapshot };
  }

  /** A frame that is new, or that shows another document than in the earlier snapshot, is described completely. */
  async #describeFrameChanges(
    call: BrowserCall,
    parent: FrameTarget,
    { frames }: SnapshotResult,
    earlierSnapshots: readonly ChildSnapshot[],
    childSnapshots: ChildSnapshot[],
    depth: number,
  ): Promise<string[]> {
    if (frames.length === 0 || depth > MaxDepth) return [];
    const childFrames = (await this.#frames.findChildFrames(call, parent, frames)).slice(
      0,
      MaxFrames - childSnapshots.length,
    );
    const textSections: string[] = [];
    for (const { frame } of childFrames) {
      const old = earlierSnapshots.find((child) => child.frame.documentId === frame.documentId);
      const options: SnapshotArguments = {
        maxTokens: ChangedFrameMaxTokens,
        ...(old === undefined ? {} : { since: old.snapshot }),
      };
      const changes = await this.#frames.runInChildFrame(call, frame, 'snapshot', options);
      if (!changes) continue;
      childSnapshots.push({ frame, snapshot: changes.snapshot });
      if (!isUnchanged(changes) && changes.text !== '')
        textSections.push(`in frame ${frame.prefix}${old === undefined ? ' (a new document)' : ''}:\n${changes.text}`);
      textSections.push(
        ...(await this.#describeFrameChanges(call, frame, changes, earlierSnapshots, childSnapshots, depth + 1)),
      );
    }
    return textSections;
  }

  #storeChildSnapshots(frame: FrameTarget, snapshot: string, childSnapshots: readonly ChildSnapshot[]): void {
    if (childSnapshots.length === 0) return;
    this.#childSnapshots.set(makeSnapshotKey(frame, snapshot), childSnapshots);
    for (const key of this.#childSnapshots.keys()) {
      if (this.#childSnapshots.size <= MaxStoredSnapshots) break;
      this.#childSnapshots.delete(key);
    }
  }
}

function isUnchanged({ text, full }: SnapshotResult): boolean {
  return !full && text.startsWith('nothing changed since');
}

function makeSnapshotKey(frame: FrameTarget, snapshot: string): string {
  return `${frame.documentId} ${snapshot}`;
}

/** If limitSnapshotTokens returns 0, the size of the snapshot is not limited. */
function limitSnapshotTokens(maxTokens: number): number {
  return maxTokens === 0 ? 0 : Math.max(MinTokens, maxTokens);
}

/** countFrames returns for how many child frames a snapshot has enough tokens left. */
function countFrames(maxTokens: number, usedTokens: number): number {
  return maxTokens === 0 ? MaxFrames : Math.floor((maxTokens - usedTokens) / MinFrameTokens);
}

function describeOmittedFrames(count: number): string {
  const frames = count === 1 ? '1 frame' : `${count} frames`;
  return `The content of ${frames} is left out. Use the ref of an iframe as target to read it.`;
}

/** If limitChildTokens returns 0, the size of the snapshots is not limited. */
function limitChildTokens(maxTokens: number, usedTokens: number, count: number): number {
  if (maxTokens === 0 || count === 0) return 0;
  return Math.max(MinFrameTokens, Math.floor((maxTokens - usedTokens) / count));
}

function countFoldedElements(children: readonly ChildFrame[]): number {
  return children.reduce((sum, { snapshot, children: inner }) => sum + snapshot.folded + countFoldedElements(inner), 0);
}

import { type ChildFrame, joinFrames } from '../../page/join-frames.ts';
import type { SnapshotArguments, SnapshotMode, SnapshotResult } from '../../page/operations.ts';
import { awaitWithin, sleep } from '../../within.ts';
import { readChoice, readNumber, readText } from './arguments.ts';
import type { BrowserCall, BrowserResult, PageState } from './browser-tool.ts';
import { type FrameTarget, MaxFrames, type TabFrames } from './tab-frames.ts';
import { ToolFailure } from './tool-failure.ts';

const DefaultTokens = 6000;
/** MinTokens is the smallest limit that a client can set for the size of a snapshot, in tokens. */
const MinTokens = 200;
/** MinFrameTokens is the smallest limit for the size of the snapshot of a child frame, in tokens. */
const MinFrameTokens = 200;
const ChangedFrameTokens = 800;
const MaxDepth = 4;
/** MaxStoredSnapshots limits for how many snapshots the worker also stores the snapshots of their child frames. */
const MaxStoredSnapshots = 200;

const NewPageTokens = 1500;
const NewPageTimeoutMs = 2000;
/** RetryMs is how long takeOfNewDocument waits for the next document of a page that redirects by a script. */
const RetryMs = 50;

export interface FullSnapshot {
  readonly content: string;
  readonly snapshot: string;
  readonly page: PageState;
  /** note describes what the snapshot lacks, and is empty for a complete snapshot. */
  readonly note: string;
}

interface DescribedTree {
  readonly content: string;
  readonly snapshot: string;
  readonly folded: number;
  readonly notes: readonly string[];
}

export const StillLoading =
  'The page is still loading, so more may follow. Use browser_wait_for with a text that should appear.';

const modes: readonly SnapshotMode[] = ['full', 'interactive', 'viewport'];

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

  async take(call: BrowserCall): Promise<BrowserResult> {
    const { args } = call;
    const target = readText(args, 'target');
    const frame = target === undefined ? await this.#frames.top(call) : await this.#frames.findByRef(call, target);
    const since = readText(args, 'since');
    const depth = readNumber(args, 'depth');
    const options: SnapshotArguments = {
      mode: readChoice(args, 'mode', modes) ?? 'full',
      maxTokens: limitSnapshotTokens(readNumber(args, 'maxTokens') ?? DefaultTokens),
      ...(target === undefined ? {} : { target }),
      ...(since === undefined ? {} : { since }),
      ...(depth === undefined ? {} : { depth }),
    };
    const result = await this.#frames.run(call, frame, 'snapshot', options);
    if (since !== undefined && !result.full) return await this.#describeChanges(call, frame, result, since);
    const { content, snapshot, folded, notes } = await this.#describeTree(call, frame, result, options);
    const words = [`Snapshot ${snapshot}.`];
    if (since !== undefined)
      words.push(`It is a complete snapshot: most of the page changed since ${since}, or ${since} is unknown.`);
    if (folded > 0)
      words.push(`At least ${folded} elements are left out. Use browser_find, target or maxTokens to see more.`);
    return { text: [...words, ...notes].join(' '), content, snapshot };
  }

  /**
   * takeFull also returns the URL of the snapshot's document, because the tab may navigate before the tool ends. The
   * server uses the URL of the snapshot's document to decide whether the client is allowed to read the snapshot.
   */
  async takeFull(call: BrowserCall, maxTokens = DefaultTokens): Promise<FullSnapshot> {
    return (await this.#takeTop(call, maxTokens)).full;
  }

  async #takeTop(call: BrowserCall, maxTokens: number): Promise<{ full: FullSnapshot; isLoading: boolean }> {
    const frame = await this.#frames.top(call);
    const options: SnapshotArguments = { mode: 'full', maxTokens };
    const result = await this.#frames.run(call, frame, 'snapshot', options);
    const { content, snapshot, folded, notes } = await this.#describeTree(call, frame, result, options);
    const foldNote = folded > 0 ? [`At least ${folded} elements are left out. Use browser_snapshot to see more.`] : [];
    const page = { url: result.url, title: result.title };
    const full = { content, snapshot, page, note: [...foldNote, ...notes].join(' ') };
    return { full, isLoading: result.loading === true };
  }

  /**
   * takeOfNewDocument returns a short snapshot of a new document after an action or a navigation, so that the agent
   * needs no further call.
   */
  async takeOfNewDocument(call: BrowserCall): Promise<FullSnapshot | undefined> {
    const endMs = Date.now() + NewPageTimeoutMs;
    for (;;) {
      let isLost = false;
      const taking = this.#takeTop({ ...call, documentId: '' }, NewPageTokens).catch((error: unknown) => {
        isLost =
          error instanceof ToolFailure && (error.error.code === 'navigated' || error.error.tool?.code === 'not_found');
        throw error;
      });
      const taken = await awaitWithin(taking, endMs - Date.now());
      call.signal.throwIfAborted();
      // A page that redirects by a script is replaced while the snapshot is taken, or shortly before.
      const isFinal = taken ? !taken.isLoading : !isLost;
      if (isFinal || Date.now() + RetryMs >= endMs) return taken?.full;
      await sleep(RetryMs, call.signal);
    }
  }

  async #describeTree(
    call: BrowserCall,
    frame: FrameTarget,
    result: SnapshotResult,
    options: SnapshotArguments,
  ): Promise<DescribedTree> {
    const family: ChildSnapshot[] = [];
    const notes: string[] = result.loading ? [StillLoading] : [];
    if (result.shortened) notes.push('Long texts end with "…". Use browser_read_page to read them.');
    const children = await this.#takeChildren(call, frame, result, options, { family, notes }, 1);
    this.#storeChildSnapshots(frame, result.snapshot, family);
    const folded = result.folded + sumFolded(children);
    return { content: joinFrames(result, children), snapshot: result.snapshot, folded, notes };
  }

  async #takeChildren(
    call: BrowserCall,
    parent: FrameTarget,
    { frames, tokens }: SnapshotResult,
    options: SnapshotArguments,
    { family, notes }: { readonly family: ChildSnapshot[]; readonly notes: string[] },
    depth: number,
  ): Promise<ChildFrame[]> {
    const shown = frames.filter(({ line, visible }) => line >= 0 && (options.mode !== 'viewport' || visible));
    if (shown.length === 0 || depth > MaxDepth) return [];
    const all = await this.#frames.findChildren(call, parent, shown);
    const isInView = depth === 1 || options.view !== undefined;
    const room = countFrames(options.maxTokens ?? DefaultTokens, tokens);
    const found = all
      .filter(({ info }, i) => i < room || (isInView && info.visible !== undefined))
      .slice(0, MaxFrames - family.length);
    if (found.length < all.length) notes.push(describeOmittedFrames(all.length - found.length));
    const maxTokens = limitChildTokens(options.maxTokens ?? DefaultTokens, tokens, found.length);
    const taken = await Promise.all(
      found.map(async ({ info, frame }): Promise<ChildFrame[]> => {
        const childOptions: SnapshotArguments = {
          mode: options.mode ?? 'full',
          maxTokens,
          ...(info.visible ? { view: info.visible } : {}),
        };
        const snapshot = await this.#frames.runInChild(call, frame, 'snapshot', childOptions);
        if (!snapshot) {
          notes.push(`Frame ${frame.prefix} did not answer and is left out.`);
          return [];
        }
        family.push({ frame, snapshot: snapshot.snapshot });
        const children = await this.#takeChildren(call, frame, snapshot, childOptions, { family, notes }, depth + 1);
        return [{ ref: info.ref, snapshot, children }];
      }),
    );
    return taken.flat();
  }

  async #describeChanges(
    call: BrowserCall,
    frame: FrameTarget,
    result: SnapshotResult,
    since: string,
  ): Promise<BrowserResult> {
    const earlier = this.#childSnapshots.get(makeSnapshotKey(frame, since)) ?? [];
    const family: ChildSnapshot[] = [];
    const sections = isUnchanged(result) ? [] : [result.text];
    sections.push(...(await this.#describeFrameChanges(call, frame, result, earlier, family, 1)));
    this.#storeChildSnapshots(frame, result.snapshot, family);
    const text = sections.length === 0 ? `Nothing changed since ${since}.` : `What changed since ${since}.`;
    const loading = result.loading ? ` ${StillLoading}` : '';
    const content = sections.length === 0 ? {} : { content: sections.join('\n') };
    return { text: `Snapshot ${result.snapshot}. ${text}${loading}`, ...content, snapshot: result.snapshot };
  }

  /** A frame that is new, or that shows another document than in the earlier snapshot, is described completely. */
  async #describeFrameChanges(
    call: BrowserCall,
    parent: FrameTarget,
    { frames }: SnapshotResult,
    earlier: readonly ChildSnapshot[],
    family: ChildSnapshot[],
    depth: number,
  ): Promise<string[]> {
    if (frames.length === 0 || depth > MaxDepth) return [];
    const found = (await this.#frames.findChildren(call, parent, frames)).slice(0, MaxFrames - family.length);
    const sections: string[] = [];
    for (const { frame } of found) {
      const old = earlier.find((child) => child.frame.documentId === frame.documentId);
      const options: SnapshotArguments = {
        maxTokens: ChangedFrameTokens,
        ...(old === undefined ? {} : { since: old.snapshot }),
      };
      const changes = await this.#frames.runInChild(call, frame, 'snapshot', options);
      if (!changes) continue;
      family.push({ frame, snapshot: changes.snapshot });
      if (!isUnchanged(changes) && changes.text !== '')
        sections.push(`in frame ${frame.prefix}${old === undefined ? ' (a new document)' : ''}:\n${changes.text}`);
      sections.push(...(await this.#describeFrameChanges(call, frame, changes, earlier, family, depth + 1)));
    }
    return sections;
  }

  #storeChildSnapshots(frame: FrameTarget, snapshot: string, family: readonly ChildSnapshot[]): void {
    if (family.length === 0) return;
    this.#childSnapshots.set(makeSnapshotKey(frame, snapshot), family);
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

/** countFrames returns how many child frames a snapshot has tokens for. */
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

function sumFolded(children: readonly ChildFrame[]): number {
  return children.reduce((sum, { snapshot, children: inner }) => sum + snapshot.folded + sumFolded(inner), 0);
}

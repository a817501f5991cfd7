// Takes snapshots of the content of a frame.
import { finishAnimations } from './animations.ts';
import { diffLines } from './diff.ts';
import { PageFailure } from './failure.ts';
import { foldLines } from './fold.ts';
import { makeFrameInfo } from './frames.ts';
import { joinLines, type Line, SnapshotPrinter } from './lines.ts';
import type { Rect, SnapshotArguments, SnapshotMode, SnapshotResult } from './operations.ts';
import { runInTasks, TaskSlices } from './pace.ts';
import { collectSecrets } from './secrets.ts';
import { findTarget, type PageContext, type StoredLine, type StoredSnapshot } from './state.ts';
import type { TreeNode } from './tree.ts';
import { unclobberedDocument } from './unclobbered.ts';
import { getViewportRect, ViewportElementFinder } from './view.ts';
import { cleanText, countTokens } from './visible-text.ts';
import { TreeWalk } from './walk.ts';

export const DefaultMaxTokens = 6_000;
const MaxTitleCharacters = 200;

export interface SnapshotOptions {
  readonly root: Element;
  readonly mode: SnapshotMode;
  readonly maxTokens: number;
  readonly depth?: number;
  readonly view?: Rect;
  readonly unfoldedList?: Element | undefined;
  readonly alwaysShown?: ReadonlySet<Element>;
}

export interface TakenSnapshot {
  readonly lines: readonly Line[];
  readonly folded: number;
  /** The field `shortened` is the number of snapshot lines with truncated text. */
  readonly shortened: number;
  readonly frames: readonly TreeNode[];
}

/** PdfNote is the text that snapshots and reads return for a PDF file. */
export const PdfNote =
  'This is a PDF file. Extensions cannot read its text. Use browser_take_screenshot, or another source of the text.';

export function isPdf(): boolean {
  return unclobberedDocument.contentType === 'application/pdf';
}

const emptyElementSet: ReadonlySet<Element> = new Set();

/** If a snapshot has more than MaxLinesPerTask lines, each of its last steps runs in a separate task. */
const MaxLinesPerTask = 5_000;

/** While takeSnapshot works, it lets the page run about every 40 ms. */
export async function takeSnapshot(options: SnapshotOptions, context: PageContext): Promise<TakenSnapshot> {
  const { root, mode, maxTokens } = options;
  // In a hidden tab, animations do not advance, so content that an animation reveals would never appear.
  if (unclobberedDocument.hidden) finishAnimations();
  const { refs } = context.state;
  const view = new ViewportElementFinder(options.view ?? getViewportRect());
  const walk = new TreeWalk({
    refs,
    prefix: context.prefix,
    mode,
    maxTokens,
    view,
    depth: options.depth ?? Number.POSITIVE_INFINITY,
    unfoldedList: options.unfoldedList,
    alwaysShown: options.alwaysShown ?? emptyElementSet,
    onRowsOmitted: (container) => context.state.rowAdditions.watch(container),
  });
  const tree = await runWalk(walk, root, context);
  if (isPdf()) tree.children.unshift({ kind: 'text', element: root, elements: [root], text: PdfNote });
  const printer = new SnapshotPrinter(refs, mode);
  await runInTasks(printer.printParts(tree, 0, 'root'), context.signal);
  const taskSlices = new TaskSlices(context.signal);
  const isLong = printer.lines.length > MaxLinesPerTask;
  if (isLong) await taskSlices.startNextTask();
  const secrets = collectSecrets();
  const lines = printer.lines.map((line) => {
    const text = secrets.maskText(line.text);
    return text === line.text ? line : { ...line, text };
  });
  if (isLong) await taskSlices.startNextTask();
  const foldedLines = foldLines(lines, maxTokens, view.clip.rect);
  return {
    lines: foldedLines.lines,
    folded: walk.folded + foldedLines.removed,
    shortened: foldedLines.lines.filter((line) => line.isShortened).length,
    frames: walk.frames,
  };
}

function runWalk(walk: TreeWalk, root: Element, context: PageContext): Promise<TreeNode> {
  let total: number | undefined;
  return runInTasks(walk.run(root), context.signal, (visitedCount) => {
    total ??= unclobberedDocument.getElementsByTagName('*').length;
    context.report({ message: `read ${visitedCount} elements`, progress: Math.min(visitedCount, total), total });
  });
}

export function buildTree(root: Element, context: PageContext): Promise<TreeNode> {
  const walk = new TreeWalk({
    refs: context.state.refs,
    prefix: context.prefix,
    mode: 'full',
    maxTokens: 0,
    view: new ViewportElementFinder(getViewportRect()),
    depth: Number.POSITIVE_INFINITY,
    unfoldedList: undefined,
    isSearch: true,
    alwaysShown: emptyElementSet,
    onRowsOmitted: () => undefined,
  });
  return runWalk(walk, root, context);
}

export function getRootElement(): Element {
  // If a script has removed the root of the document, a new body element serves as the empty content.
  return unclobberedDocument.body ?? unclobberedDocument.documentElement ?? unclobberedDocument.createElement('body');
}

export async function readSnapshot(args: SnapshotArguments, context: PageContext): Promise<SnapshotResult> {
  const { mode = 'full', maxTokens = DefaultMaxTokens, target = '' } = args;
  if (!Number.isFinite(maxTokens) || maxTokens < 0 || (maxTokens > 0 && maxTokens < 200)) {
    throw new PageFailure('invalid_arguments', `maxTokens is ${maxTokens}. Use 0 for the whole tree, or at least 200.`);
  }
  const root = target ? findTarget(target, context) : getRootElement();
  const base = args.since === undefined ? undefined : context.state.findSnapshot(args.since);
  const options: SnapshotOptions = {
    root,
    mode: base?.mode ?? mode,
    maxTokens,
    unfoldedList: target ? root : undefined,
    ...(args.depth === undefined ? {} : { depth: args.depth }),
    ...(args.view ? { view: args.view } : {}),
  };
  const takenSnapshot = await takeSnapshot(options, context);
  const id = context.state.storeSnapshot(
    takenSnapshot.lines,
    { mode: options.mode, target, maxTokens },
    context.prefix,
  );
  if (args.since !== undefined) {
    const diff = base && base.target === target ? makeSnapshotDiff(base, takenSnapshot, maxTokens, context) : undefined;
    if (diff !== undefined) return { ...makeSnapshotResult(id, diff, takenSnapshot), folded: 0, full: false };
    return { ...makeSnapshotResult(id, joinLines(takenSnapshot.lines), takenSnapshot), full: true };
  }
  return { ...makeSnapshotResult(id, joinLines(takenSnapshot.lines), takenSnapshot), full: false };
}

function makeSnapshotResult(id: string, text: string, takenSnapshot: TakenSnapshot): Omit<SnapshotResult, 'full'> {
  const lineIndexByRef = new Map<string, number>();
  if (text === joinLines(takenSnapshot.lines))
    for (const [i, line] of takenSnapshot.lines.entries()) if (line.frame) lineIndexByRef.set(line.frame, i);
  return {
    snapshot: id,
    text,
    title: readDocumentTitle(),
    url: location.href,
    tokens: countTokens(text),
    folded: takenSnapshot.folded,
    ...(text === '' || takenSnapshot.shortened === 0 ? {} : { shortened: takenSnapshot.shortened }),
    ...(unclobberedDocument.readyState === 'loading' ? { loading: true } : {}),
    frames: takenSnapshot.frames.map((node) =>
      makeFrameInfo(node.element, node.ref, lineIndexByRef.get(node.ref) ?? -1),
    ),
  };
}

export function readDocumentTitle(): string {
  return cleanText(unclobberedDocument.title).slice(0, MaxTitleCharacters);
}

const MaxChangedLineFraction = 0.6;
const MinLinesForFractionLimit = 12;

function makeSnapshotDiff(
  base: StoredSnapshot,
  takenSnapshot: TakenSnapshot,
  maxTokens: number,
  context: PageContext,
): string | undefined {
  const diff = diffLines(base.lines, takenSnapshot.lines, {
    isStillShown: makeLineShownTest(takenSnapshot),
    chooseNewLineMark: (line) =>
      line.folded && !context.state.rowAdditions.wasAddedSince(line.element, base.number) ? '>' : '+',
    maxTokens: maxTokens || DefaultMaxTokens,
  });
  if (diff.changedFraction > MaxChangedLineFraction && takenSnapshot.lines.length > MinLinesForFractionLimit)
    return undefined;
  return diff.changes === 0 ? `nothing changed since ${base.id}` : diff.text;
}

export function makeLineShownTest(takenSnapshot: TakenSnapshot): (line: StoredLine) => boolean {
  if (takenSnapshot.folded === 0) return () => false;
  const keys = new Set(takenSnapshot.lines.map((line) => line.key));
  return (line) => {
    const element = line.element.deref();
    if (!element?.isConnected) return false;
    const text = line.key.indexOf(':');
    if (text >= 0 && keys.has(line.key.slice(0, text))) return false;
    return element.checkVisibility({ visibilityProperty: true });
  };
}

// Performs the actions of browser tools, such as a click: watches the page, waits until the page has settled, and
// reports what changed.
import { describeElement } from './describe.ts';
import { diffLines } from './diff.ts';
import { PageFailure } from './failure.ts';
import { findShadowRoots } from './flat-tree.ts';
import { joinLines, type Line } from './lines.ts';
import type { ActionArguments, ChangesArguments, ChangeWatchResult, PageActionResult } from './operations.ts';
import { dispatchMissingFocusEvents } from './pointer.ts';
import {
  DefaultMaxTokens,
  getRootElement,
  makeLineShownTest,
  readDocumentTitle,
  type TakenSnapshot,
  takeSnapshot,
} from './snapshot.ts';
import type { PageContext } from './state.ts';
import { unclobberedDocument } from './unclobbered.ts';
import { ChangeWatch } from './watch.ts';

/** MaxChangeTokens limits the length of the list of changes in an action's result, in tokens. */
const MaxChangeTokens = 1_500;
/**
 * MaxChangedLineFraction is the fraction of changed lines above which a full snapshot is shorter than the list of
 * changes.
 */
const MaxChangedLineFraction = 0.6;
const MinLinesForFractionLimit = 12;

export interface ActionOutcome {
  readonly target?: Element | undefined;
  readonly input: PageActionResult['input'];
  readonly notes?: readonly string[];
  /**
   * hasEffect reports whether the action changed something that is not a DOM node, such as a value or a scroll
   * position.
   */
  readonly hasEffect?: () => boolean;
  /** showsSuggestions is true if the target is a field to which the page may show a list of suggestions. */
  readonly showsSuggestions?: boolean;
}

const NoChangeNote =
  'Nothing changed. The element may do nothing, or the page may accept only trusted input, which needs the debugger';

const OnlyScrolledNote = 'Only the scroll position of the page or of an area changed.';

const NoFramesNote =
  'Chrome draws no frames in a background tab: a page that waits for one reacts only in front (browser_tabs select, focus: true).';

/** runAction performs an action between two snapshots, and returns what changed on the page. */
export async function runAction(
  args: ActionArguments,
  context: PageContext,
  performAction: (watch: ChangeWatch) => Promise<ActionOutcome>,
): Promise<PageActionResult> {
  const snapshotBefore = await takeSnapshotBeforeAction(args, context);
  const watch = new ChangeWatch();
  let act: ActionOutcome;
  let isBusy: boolean;
  try {
    act = await performAction(watch);
    isBusy = await watch.waitUntilSettled(context.signal, act.hasEffect ?? (() => false), act.showsSuggestions);
    dispatchMissingFocusEvents();
  } finally {
    await context.trustedInput?.endFocusEmulation();
    watch.close();
  }
  return finishAction(args, context, snapshotBefore, watch, act, isBusy);
}

async function takeSnapshotBeforeAction(
  args: ActionArguments,
  context: PageContext,
): Promise<TakenSnapshot | undefined> {
  if ((args.snapshot ?? 'diff') === 'none') return undefined;
  return takeSnapshot({ root: getRootElement(), mode: 'full', maxTokens: DefaultMaxTokens }, context);
}

async function finishAction(
  args: ActionArguments,
  context: PageContext,
  snapshotBefore: TakenSnapshot | undefined,
  watch: ChangeWatch,
  act: ActionOutcome,
  isBusy: boolean,
): Promise<PageActionResult> {
  const notes = [...(act.notes ?? [])];
  const hasEffect = act.hasEffect?.() ?? false;
  const changeSummary =
    snapshotBefore && watch.navigating === undefined
      ? await describeChanges(snapshotBefore, watch, args, context)
      : undefined;
  if (!changeSummary && act.target?.isConnected) findShadowRoots();
  const isNavigating = watch.navigating !== undefined || watch.download !== undefined;
  const formats = listAddedFormats(watch);
  const hasChanged =
    (changeSummary ? changeSummary.changed : watch.changes > 0) ||
    hasEffect ||
    watch.hasUrlOrTitleChanged ||
    isNavigating ||
    formats.length > 0;
  const hasOnlyScrolled = !hasChanged && watch.hasScrolled;
  if (changeSummary && !changeSummary.changed && formats.length > 0)
    notes.push(`No text or state changed, but the page added formatting: ${formats.join(', ')}.`);
  else if (hasOnlyScrolled) notes.push(OnlyScrolledNote);
  else if (!hasChanged && watch.changes > 0 && act.input !== 'none') notes.push(describeInvisibleChanges(watch));
  else if (!hasChanged && act.input === 'synthetic') notes.push(NoChangeNote);
  // If a scroll or a synthetic action changed nothing, the page may react only in the next animation frame.
  const needsAnimationFrame =
    act.input === 'none' ? hasEffect : act.input === 'synthetic' && !hasChanged && !hasOnlyScrolled;
  if (unclobberedDocument.hidden && watch.changes === 0 && !isNavigating && needsAnimationFrame)
    notes.push(NoFramesNote);
  if (watch.download !== undefined) notes.push('A download began.');
  return {
    ...(act.target?.isConnected ? { target: describeElement(act.target, context) } : {}),
    input: act.input,
    changed: hasChanged || hasOnlyScrolled,
    ...(changeSummary?.text ? { changes: changeSummary.text } : {}),
    ...(changeSummary?.full ? { full: true } : {}),
    ...(changeSummary ? { snapshot: changeSummary.id } : {}),
    ...(watch.navigating === undefined ? {} : { navigating: watch.navigating }),
    ...(location.href === watch.url ? {} : { url: location.href }),
    ...(unclobberedDocument.title === watch.title ? {} : { title: readDocumentTitle() }),
    ...(isBusy ? { busy: true } : {}),
    ...(watch.download === undefined ? {} : { download: watch.download }),
    notes,
  };
}

const MaxNamedFormats = 5;
const FormatTags = /^(a|b|strong|i|em|u|s|del|ins|mark|code|pre|sub|sup|h[1-6]|ul|ol|li|blockquote)$/;

/**
 * listAddedFormats returns the tag names of formatting elements that the page added, because snapshots do not show
 * formatting.
 */
function listAddedFormats(watch: ChangeWatch): string[] {
  const formats = [...watch.addedElements].filter(
    (element) => element.isConnected && FormatTags.test(element.localName),
  );
  const editableFormats = formats.filter((element) => element instanceof HTMLElement && element.isContentEditable);
  return [...new Set(editableFormats.map((element) => `<${element.localName}>`))].slice(0, MaxNamedFormats);
}

function describeInvisibleChanges(watch: ChangeWatch): string {
  return `No text or state changed, but the look of ${watch.changed.size} elements may have: their attributes changed.`;
}

interface ChangeDescription {
  readonly id: string;
  readonly text: string;
  readonly changed: boolean;
  readonly full: boolean;
}

async function describeChanges(
  snapshotBefore: TakenSnapshot,
  watch: ChangeWatch,
  args: ActionArguments,
  context: PageContext,
): Promise<ChangeDescription> {
  const alwaysShown = watch.affectedElements();
  const snapshotAfter = await takeSnapshot(
    { root: getRootElement(), mode: 'full', maxTokens: DefaultMaxTokens, alwaysShown },
    context,
  );
  const id = context.state.storeSnapshot(
    snapshotAfter.lines,
    { mode: 'full', target: '', maxTokens: DefaultMaxTokens },
    context.prefix,
  );
  const isLineStillShown = makeLineShownTest(snapshotAfter);
  const diff = diffLines(snapshotBefore.lines, snapshotAfter.lines, {
    isStillShown: (line) => isLineStillShown({ ...line, element: new WeakRef(line.element) }),
    chooseNewLineMark: (line) => chooseAddedLineMark(line, watch),
    maxTokens: MaxChangeTokens,
  });
  const isLargeChange =
    diff.changedFraction > MaxChangedLineFraction && snapshotAfter.lines.length > MinLinesForFractionLimit;
  const full = args.snapshot === 'full' || isLargeChange;
  return { id, text: full ? joinLines(snapshotAfter.lines) : diff.text, changed: diff.changes > 0, full };
}

function chooseAddedLineMark(line: Line, watch: ChangeWatch): '+' | '~' | '>' {
  if (!line.folded || watch.isAddedElement(line.element)) return '+';
  return watch.changed.has(line.element) ? '~' : '>';
}

const pendingActions = new Map<string, { readonly snapshotBefore: TakenSnapshot; readonly watch: ChangeWatch }>();
const MaxPendingActions = 4;

export async function watch(_: unknown, context: PageContext): Promise<ChangeWatchResult> {
  const snapshotBefore = await takeSnapshot(
    { root: getRootElement(), mode: 'full', maxTokens: DefaultMaxTokens },
    context,
  );
  const id = context.state.storeSnapshot(
    snapshotBefore.lines,
    { mode: 'full', target: '', maxTokens: DefaultMaxTokens },
    context.prefix,
  );
  pendingActions.set(id, { snapshotBefore, watch: new ChangeWatch() });
  for (const [old, entry] of pendingActions) {
    if (pendingActions.size <= MaxPendingActions) break;
    entry.watch.close();
    pendingActions.delete(old);
  }
  return { snapshot: id };
}

export async function readChanges(args: ChangesArguments, context: PageContext): Promise<PageActionResult> {
  const entry = pendingActions.get(args.since);
  if (!entry) throw new PageFailure('invalid_arguments', `There is no watch "${args.since}" in this document.`);
  pendingActions.delete(args.since);
  context.markActed();
  let isBusy: boolean;
  try {
    isBusy = await entry.watch.waitUntilSettled(context.signal, () => false);
  } finally {
    entry.watch.close();
  }
  return finishAction(args, context, entry.snapshotBefore, entry.watch, { input: 'none' }, isBusy);
}

// Performs the actions of browser tools, such as a click: watches the page, waits until the page has settled, and
// reports what changed.
import { describeElement } from './describe.ts';
import { diffLines } from './diff.ts';
import { PageFailure } from './failure.ts';
import { findShadowRoots } from './flat-tree.ts';
import { joinLines, type Line } from './lines.ts';
import type { ActionArguments, ChangesArguments, PageActionResult, WatchResult } from './operations.ts';
import { announceFocus } from './pointer.ts';
import {
  DefaultMaxTokens,
  getRootElement,
  makeStillShownTest,
  readDocumentTitle,
  type TakenSnapshot,
  takeSnapshot,
} from './snapshot.ts';
import type { Context } from './state.ts';
import { unclobbered } from './unclobbered.ts';
import { ChangeWatch } from './watch.ts';

/** MaxChangeTokens limits the length of the list of changes in an action's result, in tokens. */
const MaxChangeTokens = 1_500;
/** MaxChangedShare is the fraction of changed lines above which a full snapshot is shorter than the list of changes. */
const MaxChangedShare = 0.6;
const MinLinesForShare = 12;

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

const ScrolledNote = 'Only the scroll position of the page or of an area changed.';

const NoFramesNote =
  'Chrome draws no frames in a background tab: a page that waits for one reacts only in front (browser_tabs select, focus: true).';

/** runAction performs an action between two snapshots, and returns what changed on the page. */
export async function runAction(
  args: ActionArguments,
  context: Context,
  perform: (watch: ChangeWatch) => Promise<ActionOutcome>,
): Promise<PageActionResult> {
  const before = await takeSnapshotBefore(args, context);
  const watch = new ChangeWatch();
  let act: ActionOutcome;
  let isBusy: boolean;
  try {
    act = await perform(watch);
    isBusy = await watch.settle(context.signal, act.hasEffect ?? (() => false), act.showsSuggestions);
    announceFocus();
  } finally {
    await context.trusted?.endFocusEmulation();
    watch.close();
  }
  return finishAction(args, context, before, watch, act, isBusy);
}

async function takeSnapshotBefore(args: ActionArguments, context: Context): Promise<TakenSnapshot | undefined> {
  if ((args.snapshot ?? 'diff') === 'none') return undefined;
  return takeSnapshot({ root: getRootElement(), mode: 'full', maxTokens: DefaultMaxTokens }, context);
}

async function finishAction(
  args: ActionArguments,
  context: Context,
  before: TakenSnapshot | undefined,
  watch: ChangeWatch,
  act: ActionOutcome,
  isBusy: boolean,
): Promise<PageActionResult> {
  const notes = [...(act.notes ?? [])];
  const hasEffect = act.hasEffect?.() ?? false;
  const shown =
    before && watch.navigating === undefined ? await describeChanges(before, watch, args, context) : undefined;
  if (!shown && act.target?.isConnected) findShadowRoots();
  const isNavigating = watch.navigating !== undefined || watch.download !== undefined;
  const formats = listAddedFormats(watch);
  const changed =
    (shown ? shown.changed : watch.changes > 0) ||
    hasEffect ||
    watch.hasUrlOrTitleChanged ||
    isNavigating ||
    formats.length > 0;
  const hasOnlyScrolled = !changed && watch.hasScrolled;
  if (shown && !shown.changed && formats.length > 0)
    notes.push(`No text or state changed, but the page added formatting: ${formats.join(', ')}.`);
  else if (hasOnlyScrolled) notes.push(ScrolledNote);
  else if (!changed && watch.changes > 0 && act.input !== 'none') notes.push(describeInvisibleChanges(watch));
  else if (!changed && act.input === 'synthetic') notes.push(NoChangeNote);
  // If a scroll or a synthetic action changed nothing, the page may be waiting for an animation frame before it reacts.
  const needsFrame = act.input === 'none' ? hasEffect : act.input === 'synthetic' && !changed && !hasOnlyScrolled;
  if (unclobbered.hidden && watch.changes === 0 && !isNavigating && needsFrame) notes.push(NoFramesNote);
  if (watch.download !== undefined) notes.push('A download began.');
  return {
    ...(act.target?.isConnected ? { target: describeElement(act.target, context) } : {}),
    input: act.input,
    changed: changed || hasOnlyScrolled,
    ...(shown?.text ? { changes: shown.text } : {}),
    ...(shown?.full ? { full: true } : {}),
    ...(shown ? { snapshot: shown.id } : {}),
    ...(watch.navigating === undefined ? {} : { navigating: watch.navigating }),
    ...(location.href === watch.url ? {} : { url: location.href }),
    ...(unclobbered.title === watch.title ? {} : { title: readDocumentTitle() }),
    ...(isBusy ? { busy: true } : {}),
    ...(watch.download === undefined ? {} : { download: watch.download }),
    notes,
  };
}

const MaxNamedFormats = 5;
const FormatTags = /^(a|b|strong|i|em|u|s|del|ins|mark|code|pre|sub|sup|h[1-6]|ul|ol|li|blockquote)$/;

/** listAddedFormats returns the tags of the formatting that the page added, which snapshots do not show. */
function listAddedFormats(watch: ChangeWatch): string[] {
  const formats = [...watch.added].filter((element) => element.isConnected && FormatTags.test(element.localName));
  const inEditors = formats.filter((element) => element instanceof HTMLElement && element.isContentEditable);
  return [...new Set(inEditors.map((element) => `<${element.localName}>`))].slice(0, MaxNamedFormats);
}

function describeInvisibleChanges(watch: ChangeWatch): string {
  return `No text or state changed, but the look of ${watch.changed.size} elements may have: their attributes changed.`;
}

interface DescribedChanges {
  readonly id: string;
  readonly text: string;
  readonly changed: boolean;
  readonly full: boolean;
}

async function describeChanges(
  before: TakenSnapshot,
  watch: ChangeWatch,
  args: ActionArguments,
  context: Context,
): Promise<DescribedChanges> {
  const forced = watch.affectedElements();
  const after = await takeSnapshot(
    { root: getRootElement(), mode: 'full', maxTokens: DefaultMaxTokens, forced },
    context,
  );
  const id = context.state.storeSnapshot(
    after.lines,
    { mode: 'full', target: '', maxTokens: DefaultMaxTokens },
    context.prefix,
  );
  const isGone = makeStillShownTest(after);
  const diff = diffLines(before.lines, after.lines, {
    isStillShown: (line) => isGone({ ...line, element: new WeakRef(line.element) }),
    markFresh: (line) => markAddedLine(line, watch),
    maxTokens: MaxChangeTokens,
  });
  const isLarge = diff.share > MaxChangedShare && after.lines.length > MinLinesForShare;
  const full = args.snapshot === 'full' || isLarge;
  return { id, text: full ? joinLines(after.lines) : diff.text, changed: diff.changes > 0, full };
}

function markAddedLine(line: Line, watch: ChangeWatch): '+' | '~' | '>' {
  if (!line.folded || watch.isAddedElement(line.element)) return '+';
  return watch.changed.has(line.element) ? '~' : '>';
}

const pendingActions = new Map<string, { readonly before: TakenSnapshot; readonly watch: ChangeWatch }>();
const MaxPendingActions = 4;

export async function watch(_: unknown, context: Context): Promise<WatchResult> {
  const before = await takeSnapshot({ root: getRootElement(), mode: 'full', maxTokens: DefaultMaxTokens }, context);
  const id = context.state.storeSnapshot(
    before.lines,
    { mode: 'full', target: '', maxTokens: DefaultMaxTokens },
    context.prefix,
  );
  pendingActions.set(id, { before, watch: new ChangeWatch() });
  for (const [old, entry] of pendingActions) {
    if (pendingActions.size <= MaxPendingActions) break;
    entry.watch.close();
    pendingActions.delete(old);
  }
  return { snapshot: id };
}

export async function readChanges(args: ChangesArguments, context: Context): Promise<PageActionResult> {
  const entry = pendingActions.get(args.since);
  if (!entry) throw new PageFailure('invalid_arguments', `There is no watch "${args.since}" in this document.`);
  pendingActions.delete(args.since);
  let isBusy: boolean;
  try {
    isBusy = await entry.watch.settle(context.signal, () => false);
  } finally {
    entry.watch.close();
  }
  return finishAction(args, context, entry.before, entry.watch, { input: 'none' }, isBusy);
}

// Moves the caret and scrolls, as the browser does for trusted presses of the arrow keys, Home, End and the page keys.
import { getFocusedElement } from './flat-tree.ts';
import type { Key } from './keys.ts';
import { findScroller } from './scroll.ts';
import { scrollWithEvents } from './scroll-events.ts';

const CaretMoves: Readonly<Record<string, readonly ['backward' | 'forward', 'character' | 'line' | 'lineboundary']>> = {
  ArrowLeft: ['backward', 'character'],
  ArrowRight: ['forward', 'character'],
  ArrowUp: ['backward', 'line'],
  ArrowDown: ['forward', 'line'],
  Home: ['backward', 'lineboundary'],
  End: ['forward', 'lineboundary'],
};

/**
 * moveCaret moves the caret of the focused field, and describes the effect, or returns an empty string if the caret did
 * not move.
 */
export function moveCaret(key: Key): string {
  const move = Object.hasOwn(CaretMoves, key.key) ? CaretMoves[key.key] : undefined;
  if (!move) return '';
  const caretBefore = readCaret();
  getSelection()?.modify(key.pressed.shiftKey ? 'extend' : 'move', ...move);
  const caretAfter = readCaret();
  return caretAfter.every((part, i) => part === caretBefore[i]) ? '' : 'moved the caret';
}

/** readCaret returns the positions of the caret and the selection as a list of values that callers can compare. */
function readCaret(): readonly unknown[] {
  const focusedElement = getFocusedElement();
  if (focusedElement instanceof HTMLInputElement || focusedElement instanceof HTMLTextAreaElement)
    return [focusedElement.selectionStart, focusedElement.selectionEnd, focusedElement.selectionDirection];
  const { anchorNode, anchorOffset, focusNode, focusOffset } = getSelection() ?? {};
  return [anchorNode, anchorOffset, focusNode, focusOffset];
}

/** ArrowScrollPixels is how far an arrow key scrolls, in pixels. */
const ArrowScrollPixels = 40;
/** PageScrollShare is the fraction of the visible height by which a page key scrolls. */
const PageScrollShare = 0.9;

/**
 * scrollByKey scrolls the scrollable area around an element, and describes the effect, or returns an empty string if
 * nothing scrolled.
 */
export function scrollByKey(target: Element, { key, pressed }: Key): string {
  const scrollArea = findScroller(target, key === 'ArrowLeft' || key === 'ArrowRight');
  const page = scrollArea.clientHeight * PageScrollShare;
  const scrollSteps: Readonly<Record<string, readonly [left: number, top: number]>> = {
    ArrowUp: [0, -ArrowScrollPixels],
    ArrowDown: [0, ArrowScrollPixels],
    ArrowLeft: [-ArrowScrollPixels, 0],
    ArrowRight: [ArrowScrollPixels, 0],
    PageUp: [0, -page],
    PageDown: [0, page],
    ' ': [0, pressed.shiftKey ? -page : page],
    Home: [0, -scrollArea.scrollHeight],
    End: [0, scrollArea.scrollHeight],
  };
  const step = Object.hasOwn(scrollSteps, key) ? scrollSteps[key] : undefined;
  if (!step) return '';
  const [left, top] = [scrollArea.scrollLeft, scrollArea.scrollTop];
  scrollWithEvents(scrollArea, () => scrollArea.scrollBy({ left: step[0], top: step[1], behavior: 'instant' }));
  return scrollArea.scrollLeft === left && scrollArea.scrollTop === top ? '' : 'scrolled';
}

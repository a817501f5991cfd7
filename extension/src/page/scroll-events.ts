// Scrolls elements, and dispatches the scroll events that are missing in hidden tabs. The browser dispatches no scroll
// events in a hidden tab, because a hidden tab draws no frames.
import { getFlatParent } from './flat-tree.ts';
import { unclobberedDocument } from './unclobbered.ts';

export function scrollWithEvents(element: Element, performScroll: () => void): void {
  if (!unclobberedDocument.hidden) {
    performScroll();
    return;
  }
  const scrollPositions = new Map<Element, readonly [left: number, top: number]>();
  for (let at: Element | null = element; at; at = getFlatParent(at))
    scrollPositions.set(at, [at.scrollLeft, at.scrollTop]);
  const page = unclobberedDocument.scrollingElement;
  if (page) scrollPositions.set(page, [page.scrollLeft, page.scrollTop]);
  performScroll();
  for (const [area, [left, top]] of scrollPositions) {
    if (area.scrollLeft === left && area.scrollTop === top) continue;
    const target = area === page ? document : area;
    for (const type of ['scroll', 'scrollend']) target.dispatchEvent(new Event(type, { bubbles: area === page }));
  }
}

// Scrolls elements, and dispatches the scroll events that are missing in hidden tabs. The browser dispatches no scroll
// events in a hidden tab, because a hidden tab draws no frames.
import { getFlatParent } from './flat-tree.ts';
import { unclobbered } from './unclobbered.ts';

export function scrollWithEvents(element: Element, perform: () => void): void {
  if (!unclobbered.hidden) {
    perform();
    return;
  }
  const areas = new Map<Element, readonly [left: number, top: number]>();
  for (let at: Element | null = element; at; at = getFlatParent(at)) areas.set(at, [at.scrollLeft, at.scrollTop]);
  const page = unclobbered.scrollingElement;
  if (page) areas.set(page, [page.scrollLeft, page.scrollTop]);
  perform();
  for (const [area, [left, top]] of areas) {
    if (area.scrollLeft === left && area.scrollTop === top) continue;
    const target = area === page ? document : area;
    for (const type of ['scroll', 'scrollend']) target.dispatchEvent(new Event(type, { bubbles: area === page }));
  }
}

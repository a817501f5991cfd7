const FRAME = 'opentabsFrame';

/** isFramed reports whether this document is in a frame of another one. */
export function isFramed(): boolean {
  return window !== window.top;
}

/** hasOriginOfTop reports whether this document has the same origin as the tab's; those without one have nothing in common. */
export function hasOriginOfTop(): boolean {
  const { ancestorOrigins } = location;
  return !isFramed() || (origin !== 'null' && ancestorOrigins[ancestorOrigins.length - 1] === origin);
}

/** mayShareWindow reports whether this document may have got its Window from the empty page before it (host/intact.ts). */
export function mayShareWindow(): boolean {
  if (isFramed()) return true; // the page may have reached into the frame before its document came
  if (history.length !== 1) return false;
  const [entry] = performance.getEntriesByType('navigation');
  return !(entry instanceof PerformanceNavigationTiming) || entry.type !== 'reload';
}

/** addProbeFrame gives a document that may share a Window a frame, once. Call it before any host starts. */
export function addProbeFrame(): void {
  if (Reflect.has(globalThis, FRAME) || !mayShareWindow() || !hasOriginOfTop()) return;
  const frame = document.createElementNS('http://www.w3.org/1999/xhtml', 'iframe');
  document.documentElement.append(frame);
  Reflect.set(globalThis, FRAME, frame);
}

/** probeFrame returns the frame that hosts compared with, if it is still in its place. */
export function probeFrame(): Element | undefined {
  const frame: unknown = Reflect.get(globalThis, FRAME);
  return frame instanceof Element && frame.parentNode === document.documentElement ? frame : undefined;
}

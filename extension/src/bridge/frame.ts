const FRAME = 'opentabsFrame';

/** mayShareWindow tells whether this document may have got its Window from the empty page before it (host/intact.ts). */
export function mayShareWindow(): boolean {
  if (history.length !== 1) return false;
  const [entry] = performance.getEntriesByType('navigation');
  return !(entry instanceof PerformanceNavigationTiming) || entry.type !== 'reload';
}

/** addProbeFrame gives a document that may share a Window a frame, once. Call it before any host starts. */
export function addProbeFrame(): void {
  if (Reflect.has(globalThis, FRAME) || !mayShareWindow()) return;
  const frame = document.createElementNS('http://www.w3.org/1999/xhtml', 'iframe');
  document.documentElement.append(frame);
  Reflect.set(globalThis, FRAME, frame);
}

/** probeFrame returns the frame that hosts compared with, if it is still in its place. */
export function probeFrame(): Element | undefined {
  const frame: unknown = Reflect.get(globalThis, FRAME);
  return frame instanceof Element && frame.parentNode === document.documentElement ? frame : undefined;
}

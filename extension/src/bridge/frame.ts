const PROBE_FRAME_KEY = 'opentabsFrame';

function isFramed(): boolean {
  return window !== window.top;
}

/**
 * hasOriginOfTop reports whether this document has the same origin as the tab's top document. A sandboxed frame has an
 * opaque origin, which never equals the top document's origin.
 */
export function hasOriginOfTop(): boolean {
  const { ancestorOrigins } = location;
  return !isFramed() || (origin !== 'null' && ancestorOrigins[ancestorOrigins.length - 1] === origin);
}

/**
 * mayShareWindow reports whether this document possibly inherited its Window object from the initial empty document
 * (host/intact.ts).
 */
export function mayShareWindow(): boolean {
  if (isFramed()) return true; // the page may have changed the frame's Window before this document loaded
  if (history.length !== 1) return false;
  const [timingEntry] = performance.getEntriesByType('navigation');
  return !(timingEntry instanceof PerformanceNavigationTiming) || timingEntry.type !== 'reload';
}

/**
 * addProbeFrame adds an iframe with unmodified built-in functions if the document possibly shares a Window with an
 * older document. addProbeFrame must run once, before any host starts.
 */
export function addProbeFrame(): void {
  if (Reflect.has(globalThis, PROBE_FRAME_KEY) || !mayShareWindow() || !hasOriginOfTop()) return;
  const frame = document.createElementNS('http://www.w3.org/1999/xhtml', 'iframe');
  document.documentElement.append(frame);
  Reflect.set(globalThis, PROBE_FRAME_KEY, frame);
}

/** findProbeFrame returns the iframe that addProbeFrame added, or undefined if the page has moved or removed it. */
export function findProbeFrame(): Element | undefined {
  const frame: unknown = Reflect.get(globalThis, PROBE_FRAME_KEY);
  return frame instanceof Element && frame.parentNode === document.documentElement ? frame : undefined;
}

const PROBE_FRAME_KEY = 'opentabsFrame';

function isInSubframe(): boolean {
  return window !== window.top;
}

/**
 * isSameOriginAsTop reports whether this document has the same origin as the tab's top document. A sandboxed frame has
 * an opaque origin, which never equals the top document's origin.
 */
export function isSameOriginAsTop(): boolean {
  const { ancestorOrigins } = location;
  return !isInSubframe() || (origin !== 'null' && ancestorOrigins[ancestorOrigins.length - 1] === origin);
}

/**
 * mayHaveInheritedWindow reports whether this document possibly inherited its Window object from the initial empty
 * document (host/intact.ts).
 */
export function mayHaveInheritedWindow(): boolean {
  if (isInSubframe()) return true; // the page may have changed the frame's Window before this document loaded
  if (history.length !== 1) return false;
  const [timingEntry] = performance.getEntriesByType('navigation');
  return !(timingEntry instanceof PerformanceNavigationTiming) || timingEntry.type !== 'reload';
}

/**
 * addProbeFrame adds an iframe with unmodified built-in functions if the document possibly shares a Window with an
 * older document. addProbeFrame must run once, before any host starts.
 */
export function addProbeFrame(): void {
  if (Reflect.has(globalThis, PROBE_FRAME_KEY) || !mayHaveInheritedWindow() || !isSameOriginAsTop()) return;
  const frame = document.createElementNS('http://www.w3.org/1999/xhtml', 'iframe');
  document.documentElement.append(frame);
  Reflect.set(globalThis, PROBE_FRAME_KEY, frame);
}

/** findProbeFrame returns the iframe that addProbeFrame added, or undefined if the page has moved or removed it. */
export function findProbeFrame(): Element | undefined {
  const frame: unknown = Reflect.get(globalThis, PROBE_FRAME_KEY);
  return frame instanceof Element && frame.parentNode === document.documentElement ? frame : undefined;
}

// performance-script.ts contains the script that measures the performance of a document. The performance script runs in
// an isolated world, where the page cannot change built-in functions.

const RecorderGlobalName = 'opentabsPerformance';

/** newDocumentScript starts a performance recorder in a document that is about to load. */
export const newDocumentScript = `(${makeRecorderSource()})(0)`;

/** currentDocumentScript starts a performance recorder in a document that has already loaded. */
export const currentDocumentScript = `(${makeRecorderSource()})(performance.now())`;

/**
 * readScript evaluates to a promise of the performance metrics as JSON text. If no recorder runs in the document,
 * readScript uses the performance entries that Chrome has buffered.
 */
export const readScript = `(globalThis.${RecorderGlobalName} ?? (${makeRecorderSource()})(0)).read()`;

export const stopRecorderScript = `globalThis.${RecorderGlobalName}?.stop()`;

/** The recorder ignores events before startMs. */
function makeRecorderSource(): string {
  return `(startMs) => {
  globalThis.${RecorderGlobalName}?.stop();
  const getter = (prototype, name) => Function.prototype.call.bind(Object.getOwnPropertyDescriptor(prototype, name).get);
  // Read DOM properties through the prototype, because a form field can hide a DOM property of the same name.
  const parentOf = getter(Node.prototype, 'parentElement');
  const nameOf = getter(Element.prototype, 'localName');
  const previousOf = getter(Element.prototype, 'previousElementSibling');
  const nextOf = getter(Element.prototype, 'nextElementSibling');
  const childCountOf = getter(Element.prototype, 'childElementCount');
  const textOf = getter(Node.prototype, 'textContent');
  const attributeOf = (element, name) => Element.prototype.getAttribute.call(element, name) ?? '';
  const positionOf = (element) => {
    const name = nameOf(element);
    let before = 0, isRepeated = false;
    for (let other = previousOf(element); other && before < 1000; other = previousOf(other)) if (nameOf(other) === name) before++;
    for (let other = nextOf(element), steps = 0; other && !isRepeated && steps < 1000; other = nextOf(other), steps++)
      isRepeated = nameOf(other) === name;
    return before > 0 || isRepeated ? ':nth-of-type(' + (before + 1) + ')' : '';
  };
  const selectorOf = (element) => {
    const parts = [];
    for (let part = element; part && parts.length < 12; part = parentOf(part)) {
      const name = CSS.escape(nameOf(part)), id = attributeOf(part, 'id');
      if (id !== '' && id.length <= 80 && document.querySelectorAll('#' + CSS.escape(id)).length === 1) {
        parts.unshift(name + '#' + CSS.escape(id));
        break;
      }
      parts.unshift(name + positionOf(part));
      if (name === 'body' || name === 'html') break;
    }
    return parts.join(' > ');
  };
  const describe = (node) => {
    const element = node instanceof Element ? node : node ? parentOf(node) : null;
    if (!element) return '';
    const isField = ['input', 'textarea', 'select'].includes(nameOf(element));
    const text = isField || childCountOf(element) > 3 ? '' : textOf(element).slice(0, 400);
    const label = (attributeOf(element, 'aria-label') || attributeOf(element, 'alt') || text).replace(/\\s+/g, ' ').trim();
    return selectorOf(element) + (label === '' ? '' : ' ' + JSON.stringify(label.length > 40 ? label.slice(0, 40) + '…' : label));
  };
  const rect = ({ x, y, width, height }) => ({ x, y, width, height });
  const found = { lcp: null, shifts: [], interactions: [], interactionCount: 0, longTasks: [], longTaskCount: 0, scripts: [] };
  const counted = new Map();
  const keepLongest = (list, item, limit) => {
    list.push(item);
    list.sort((a, b) => b.durationMs - a.durationMs);
    list.length = Math.min(list.length, limit);
  };
  const take = {
    'largest-contentful-paint': (entry) => {
      found.lcp = { atMs: entry.startTime, size: entry.size, url: entry.url, element: describe(entry.element), loadedMs: entry.loadTime };
    },
    'layout-shift': (entry) => {
      if (entry.startTime < startMs || entry.hadRecentInput || found.shifts.length >= 2000) return;
      const sources = entry.sources.map(({ node, previousRect, currentRect }) => ({ element: describe(node), from: rect(previousRect), to: rect(currentRect) }));
      found.shifts.push({ atMs: entry.startTime, value: entry.value, sources });
    },
    event: (entry) => {
      const { interactionId: id, startTime: atMs, duration: durationMs, name: type, processingStart } = entry;
      if (!id || atMs < startMs) return;
      const handlersMs = entry.processingEnd - processingStart;
      const old = counted.get(id);
      if (!old) found.interactionCount++;
      // One interaction consists of several events, such as pointerdown and click. The interaction gets the name of the
      // event whose handlers ran longest.
      const named = old && old.handlersMs >= handlersMs ? old : { type, handlersMs, element: describe(entry.target) };
      const item = {
        type: named.type,
        handlersMs: named.handlersMs,
        element: named.element || (old?.element ?? ''),
        atMs: Math.min(atMs, old?.atMs ?? atMs),
        delayMs: Math.min(processingStart - atMs, old?.delayMs ?? Infinity),
        durationMs: Math.max(durationMs, old?.durationMs ?? 0),
      };
      const place = found.interactions.indexOf(old);
      if (place >= 0) found.interactions.splice(place, 1);
      counted.set(id, item);
      keepLongest(found.interactions, item, 200);
    },
    longtask: ({ startTime: atMs, duration: durationMs, name: kind }) => {
      if (atMs + durationMs < startMs) return;
      found.longTaskCount++;
      keepLongest(found.longTasks, { atMs, durationMs, kind }, 500);
    },
    'long-animation-frame': ({ scripts }) => {
      for (const { startTime: atMs, duration: durationMs, sourceURL: url, sourceFunctionName: name, invoker } of scripts)
        if (atMs + durationMs >= startMs) keepLongest(found.scripts, { atMs, durationMs, url, name, invoker }, 500);
    },
  };
  const observers = Object.entries(take).filter(([type]) => PerformanceObserver.supportedEntryTypes.includes(type)).map(([type, receive]) => {
    const observer = new PerformanceObserver((list) => list.getEntries().forEach(receive));
    observer.observe({ type, buffered: true, ...(type === 'event' ? { durationThreshold: 16 } : {}) });
    return { observer, receive };
  });
  let wasHidden = document.hidden;
  const watch = () => { wasHidden ||= document.hidden; };
  document.addEventListener('visibilitychange', watch);
  // Chrome reports event timing entries only after the next drawn frame.
  const nextFrames = () => Promise.race([
    new Promise((resolve) => setTimeout(resolve, 500)),
    new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 50)))),
  ]);
  const recorder = {
    stop() {
      document.removeEventListener('visibilitychange', watch);
      for (const { observer } of observers) observer.disconnect();
      if (globalThis.${RecorderGlobalName} === recorder) delete globalThis.${RecorderGlobalName};
    },
    async read() {
      await nextFrames();
      for (const { observer, receive } of observers) observer.takeRecords().forEach(receive);
      const [load] = performance.getEntriesByType('navigation');
      const [paint] = performance.getEntriesByName('first-contentful-paint');
      const navigation = load ? {
        type: load.type, firstByteMs: Math.max(0, load.responseStart - (load.activationStart ?? 0)),
        redirectMs: load.redirectEnd - load.redirectStart, domReadyMs: load.domContentLoadedEventEnd, loadMs: load.loadEventEnd,
      } : null;
      return JSON.stringify({ ...found, startMs, nowMs: performance.now(), wasHidden, navigation, firstPaintMs: paint?.startTime ?? null });
    },
  };
  globalThis.${RecorderGlobalName} = recorder;
  return recorder;
}`;
}

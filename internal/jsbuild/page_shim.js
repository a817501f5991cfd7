// Stands for a page while a plugin is read outside of one. A plugin's modules may touch the page when they load: they
// get `nothing`, which answers every use with itself, and so do no harm and learn nothing. Code that waits for something
// of the page waits for ever.
(() => {
  const never = () => false;
  const noElements = () => [][Symbol.iterator]();
  function target() {} // a function, so that its proxy can be called and constructed
  const nothing = new Proxy(target, {
    get(_, key) {
      if (key === Symbol.toPrimitive) return () => '';
      if (key === Symbol.iterator) return noElements;
      if (key === Symbol.hasInstance) return never;
      if (key === Symbol.toStringTag) return undefined;
      if (key === 'length' || key === 'size') return 0;
      return nothing;
    },
    getOwnPropertyDescriptor: (target, key) => Reflect.getOwnPropertyDescriptor(target, key),
    apply: () => nothing,
    construct: () => nothing,
    set: () => true,
    defineProperty: () => true,
    deleteProperty: () => true,
    has: () => true,
  });

  const names = `
    AbortController AbortSignal AnimationEvent Audio AudioContext Blob BroadcastChannel ByteLengthQueuingStrategy CSS
    CSSStyleSheet CacheStorage CanvasRenderingContext2D ClipboardItem CloseEvent Comment CompressionStream
    CountQueuingStrategy CryptoKey CustomElementRegistry CustomEvent DOMException DOMParser DOMRect DataTransfer
    DecompressionStream Document DocumentFragment Element ErrorEvent Event EventSource EventTarget File FileList
    FileReader FocusEvent FontFace FormData HTMLAnchorElement HTMLButtonElement HTMLCanvasElement HTMLDivElement
    HTMLElement HTMLFormElement HTMLIFrameElement HTMLImageElement HTMLInputElement HTMLScriptElement
    HTMLSelectElement HTMLTextAreaElement HashChangeEvent Headers IDBKeyRange Image ImageData InputEvent
    IntersectionObserver KeyboardEvent MediaRecorder MediaStream MessageChannel MessageEvent MessagePort MouseEvent
    MutationObserver Node NodeFilter NodeList Notification OffscreenCanvas Option PerformanceObserver PointerEvent
    PopStateEvent ProgressEvent PromiseRejectionEvent Range ReadableStream Request ResizeObserver Response Selection
    ServiceWorker ShadowRoot SharedWorker Storage StorageEvent TextDecoder TextDecoderStream TextEncoder
    TextEncoderStream Touch TouchEvent TransformStream TreeWalker UIEvent URL URLPattern URLSearchParams WebSocket
    WheelEvent Worker WritableStream XMLDocument XMLHttpRequest XMLSerializer XPathResult
    addEventListener alert atob btoa caches cancelAnimationFrame cancelIdleCallback chrome clearInterval clearTimeout
    clientInformation close confirm cookieStore createImageBitmap crypto customElements devicePixelRatio
    dispatchEvent document fetch focus frameElement frames getComputedStyle getSelection history indexedDB
    innerHeight innerWidth localStorage location matchMedia name navigation navigator open opener origin outerHeight
    outerWidth pageXOffset pageYOffset performance postMessage print prompt queueMicrotask removeEventListener
    reportError requestAnimationFrame requestIdleCallback scheduler screen screenX screenY scroll scrollBy scrollTo
    scrollX scrollY sessionStorage setInterval setTimeout speechSynthesis stop structuredClone trustedTypes
    visualViewport
  `;
  for (const name of names.trim().split(/\s+/)) if (!(name in globalThis)) globalThis[name] = nothing;

  // The page's own globals: whatever a plugin asks `window` for is there.
  const window = new Proxy(globalThis, {
    get: (target, key) => (key in target ? target[key] : nothing),
    set: (target, key, value) => Reflect.set(target, key, value),
  });
  for (const name of ['window', 'self', 'top', 'parent']) globalThis[name] = window;

  const quiet = () => undefined;
  globalThis.console = new Proxy({}, { get: () => quiet });
})();

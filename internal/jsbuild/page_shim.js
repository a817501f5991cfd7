// Replaces the globals of a web page while opentabs reads the definitions of a plugin's tools without a browser.
// Modules that use the page while they load get the value `nothing`, whose properties, call results and instances are
// `nothing` again. Code that waits for an event of the page never continues.
(() => {
  const never = () => false;
  const noElements = () => [][Symbol.iterator]();
  function target() {} // The target is a function, so that its proxy can be called and constructed.
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
    AbortController AbortSignal AnimationEvent Audio AudioContext BeforeUnloadEvent Blob BroadcastChannel
    ByteLengthQueuingStrategy CSS CSSRule CSSStyleDeclaration CSSStyleSheet CacheStorage CanvasRenderingContext2D
    CharacterData ClipboardEvent ClipboardItem CloseEvent Comment CompositionEvent CompressionStream
    CountQueuingStrategy CryptoKey CustomElementRegistry CustomEvent DOMException DOMImplementation DOMMatrix
    DOMParser DOMPoint DOMRect DOMRectReadOnly DOMStringMap DOMTokenList DataTransfer DecompressionStream Document
    DocumentFragment DragEvent Element ErrorEvent Event EventSource EventTarget File FileList FileReader FocusEvent
    FontFace FormData FormDataEvent GainNode HTMLAnchorElement HTMLAudioElement HTMLBodyElement HTMLButtonElement
    HTMLCanvasElement HTMLCollection HTMLDialogElement HTMLDivElement HTMLDocument HTMLElement HTMLFormElement
    HTMLHeadElement HTMLIFrameElement HTMLImageElement HTMLInputElement HTMLLIElement HTMLLabelElement HTMLLinkElement
    HTMLMediaElement HTMLMetaElement HTMLOListElement HTMLOptionElement HTMLParagraphElement HTMLPreElement
    HTMLScriptElement HTMLSelectElement HTMLSlotElement HTMLSpanElement HTMLStyleElement HTMLTableCellElement
    HTMLTableElement HTMLTableRowElement HTMLTemplateElement HTMLTextAreaElement HTMLUListElement HTMLVideoElement
    HashChangeEvent Headers IDBDatabase IDBFactory IDBKeyRange IDBRequest Image ImageData InputEvent
    IntersectionObserver Intl KeyboardEvent KeyframeEffect Location MediaQueryList MediaRecorder MediaSource
    MediaStream MessageChannel MessageEvent MessagePort MouseEvent MutationObserver MutationRecord NamedNodeMap
    NavigateEvent Navigator Node NodeFilter NodeList Notification OffscreenCanvas Option Path2D PerformanceEntry
    PerformanceNavigationTiming PerformanceObserver PointerEvent PopStateEvent ProgressEvent PromiseRejectionEvent
    RTCPeerConnection Range ReadableStream Request ResizeObserver Response SVGElement SVGPathElement SVGSVGElement
    Screen Selection ServiceWorker ShadowRoot SharedWorker SourceBuffer StaticRange Storage StorageEvent
    StorageManager StyleSheet SubmitEvent Text TextDecoder TextDecoderStream TextEncoder TextEncoderStream ToggleEvent
    Touch TouchEvent TransformStream TransitionEvent TreeWalker UIEvent URL URLPattern URLSearchParams ViewTransition
    WebAssembly WebKitMutationObserver WebSocket WheelEvent Window Worker WritableStream XMLDocument XMLHttpRequest
    XMLSerializer XPathResult addEventListener alert atob btoa caches cancelAnimationFrame cancelIdleCallback chrome
    clearInterval clearTimeout clientInformation close confirm cookieStore createImageBitmap crypto customElements
    devicePixelRatio dispatchEvent document documentPictureInPicture external fetch fetchLater focus frameElement
    frames getComputedStyle getSelection history indexedDB innerHeight innerWidth isSecureContext localStorage
    location locationbar matchMedia name navigation navigator open opener origin originAgentCluster outerHeight
    outerWidth pageXOffset pageYOffset performance postMessage print prompt queueMicrotask removeEventListener
    reportError requestAnimationFrame requestIdleCallback resizeBy resizeTo scheduler screen screenX screenY scroll
    scrollBy scrollTo scrollX scrollY sessionStorage setInterval setTimeout speechSynthesis status stop
    structuredClone toolbar trustedTypes visualViewport webkitRequestAnimationFrame
  `;
  for (const name of names.trim().split(/\s+/)) if (!(name in globalThis)) globalThis[name] = nothing;

  // Every property of `window` exists, so that a plugin can read globals of its page.
  const window = new Proxy(globalThis, {
    get: (target, key) => (key in target ? target[key] : nothing),
    set: (target, key, value) => Reflect.set(target, key, value),
  });
  for (const name of ['window', 'self', 'top', 'parent']) globalThis[name] = window;

  // JSON.parse of a text from the page also returns `nothing`.
  const { parse } = JSON;
  JSON.parse = (text, reviver) => (text === nothing ? nothing : parse(text, reviver));

  const quiet = () => undefined;
  globalThis.console = new Proxy({}, { get: () => quiet });
})();

// Adds to an empty realm the few DOM classes that a host needs. The functions in `outer`, which belong to the test's
// own realm, implement the DOM classes, so that a hostile script in the simulated realm cannot observe what the classes
// use.
(outer) => {
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  class EventTarget {
    addEventListener(type, listener) {
      outer.add(this, type, listener);
    }
    removeEventListener(type, listener) {
      outer.remove(this, type, listener);
    }
    dispatchEvent(event) {
      return outer.dispatch(this, event);
    }
  }
  class Event {
    constructor(type, init) {
      outer.initEvent(this, type, init);
    }
    get type() {
      return outer.eventType(this);
    }
    get target() {
      return outer.eventTarget(this);
    }
  }
  // The constructor is explicit, because an implicit constructor would spread its arguments, which a page can observe.
  class MessageEvent extends Event {
    constructor(type, init) {
      super(type, init);
    }
    get data() {
      return outer.eventData(this);
    }
    get ports() {
      return outer.eventPorts(this);
    }
  }
  class MessagePort extends EventTarget {
    constructor() {
      super();
    }
    postMessage(data) {
      outer.post(this, data, MessageEvent);
    }
    start() {}
  }
  class MessageChannel {
    constructor() {
      outer.makeChannel(this, MessagePort);
    }
    get port1() {
      return outer.port(this, 0);
    }
    get port2() {
      return outer.port(this, 1);
    }
  }
  class Node extends EventTarget {
    get firstChild() {
      return outer.firstChild(this);
    }
    get lastChild() {
      return outer.firstChild(this);
    }
  }
  class Document extends Node {
    get documentElement() {
      return outer.documentElement(this);
    }
    get readyState() {
      return outer.readyState(this);
    }
  }
  class MutationObserver {
    constructor(callback) {
      outer.makeObserver(this, callback);
    }
    observe(node) {
      outer.observe(this, node);
    }
    disconnect() {
      outer.disconnect(this);
    }
  }
  class AbortSignal extends EventTarget {
    constructor() {
      super();
    }
    get aborted() {
      return outer.aborted(this);
    }
    get reason() {
      return outer.reason(this);
    }
  }
  class AbortController {
    constructor() {
      outer.makeController(this, AbortSignal);
    }
    get signal() {
      return outer.signal(this);
    }
    abort(reason) {
      outer.abort(this, reason, Event);
    }
  }
  class DOMException {
    constructor(message, name) {
      outer.makeException(this, message, name);
    }
    get message() {
      return outer.exception(this, 0);
    }
    get name() {
      return outer.exception(this, 1);
    }
  }
  class TextEncoder {
    encodeInto(text, bytes) {
      return outer.encodeInto(text, bytes);
    }
  }
  class Performance {
    now() {
      return outer.now();
    }
  }
  class URL {
    constructor(text) {
      outer.makeUrl(this, text);
    }
    get host() {
      return outer.host(this);
    }
    get href() {
      return outer.href(this);
    }
  }
  class URLSearchParams {}
  for (const made of [EventTarget, Event, MessageEvent, MessagePort, MessageChannel, Node, Document]) define(made.name, made);
  for (const made of [MutationObserver, AbortSignal, AbortController, DOMException, TextEncoder, URL, URLSearchParams]) define(made.name, made);
  define('window', globalThis);
  define('self', globalThis);
  define('top', outer.framed() ? {} : globalThis);
  define('location', Object.defineProperty({}, 'host', { get: () => outer.here() }));
  class History {
    pushState() {}
    replaceState() {}
  }
  define('History', History);
  define('history', new History());
  define('performance', new Performance());
  define('document', new Document());
  define('setTimeout', (work, ms) => outer.setTimeout(work, ms));
  define('clearTimeout', (timer) => outer.clearTimeout(timer));
};

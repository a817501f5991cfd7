// Simulates a hostile page: its script replaces all built-in functions and prototype methods with functions that record
// each use, and defines getters and setters on the prototypes for properties that objects lack. The array `saw`
// contains the name of each replaced function that was used since `watch` was called. The script defines no getters or
// setters for `value`, `get` and `set`, because the global object of node:vm would use them.
(() => {
  const saw = [];
  let watching = false;
  const note = (name) => {
    if (!watching) return;
    defineProperty(saw, saw.length, { __proto__: null, value: name, writable: true, configurable: true });
  };
  const { apply, construct, ownKeys, getOwnPropertyDescriptor, defineProperty } = Reflect;
  const spy = (name, original) =>
    function (...args) {
      note(name);
      return new.target ? construct(original, args) : apply(original, this, args);
    };
  const patch = (on, label) => {
    for (const key of ownKeys(on)) {
      if (key === 'constructor' || key === 'prototype') continue;
      const found = getOwnPropertyDescriptor(on, key);
      const name = label + '.' + String(key);
      if (!found.configurable) continue;
      if (typeof found.value === 'function') defineProperty(on, key, { ...found, value: spy(name, found.value) });
      else if (found.get) defineProperty(on, key, { ...found, get: spy(name, found.get) });
    }
  };
  const names = ['Reflect', 'JSON', 'Object', 'Array', 'Promise', 'Number', 'String', 'Symbol', 'Math'];
  const classes = ['Object', 'Function', 'Array', 'Promise', 'Number', 'String', 'RegExp', 'Map', 'Set', 'WeakMap', 'Error'];
  const dom = ['EventTarget', 'Event', 'MessageEvent', 'MessagePort', 'MessageChannel', 'Node', 'Document', 'MutationObserver'];
  const more = ['AbortSignal', 'AbortController', 'DOMException', 'TextEncoder', 'URL', 'History'];
  for (const name of [...classes, ...dom, ...more]) if (name !== 'Object') patch(globalThis[name].prototype, name + '.prototype');
  patch(Object.getPrototypeOf(Uint8Array.prototype), 'TypedArray.prototype');
  patch(Object.getPrototypeOf([][Symbol.iterator]()), 'ArrayIterator.prototype');
  patch(Object.getPrototypeOf(performance), 'Performance.prototype');
  for (const name of names) patch(globalThis[name], name);
  for (const name of ['Promise', 'Proxy', 'WeakMap', 'MessageChannel', 'MessageEvent', 'AbortController', 'TextEncoder', 'URL', 'setTimeout', 'clearTimeout']) {
    globalThis[name] = spy('new ' + name, globalThis[name]);
  }
  Object.defineProperty(Promise.prototype, 'constructor', { __proto__: null, get: spy('Promise.prototype.constructor', () => undefined) });
  const bait = ['then', 'toJSON', 'data', 'ports', 'code', 'message', 'progress', 'signal', 'success', 'error'];
  const own = ['adapters', 'tools', 'name', 'input', 'handle', 'isReady', 'safeParse', '_pluginName', 'text', 'kind', 'next', 'call', 'retryable'];
  const asked = ['reason', 'title', 'tabId', 'audience', 'activity', 'prompts', 'render', 'args', 'decision', 'tool', 'category', 'retryAfterMs', 'cause', 'name', 'stack', 'kind', 'settled', 'unlisten', 'promise', 'resolve', 'reports', 'count', 'sentAgain', 'asks', 'activities', 'endAudience', 'catch', 'finally', 'maxBytes', 'prompt', 'live', 'reject'];
  const ofPlugins = ['settings', 'values', 'urls', 'level', 'dropped', 'config', 'preScript', 'tokenCache', 'teardown', 'nonce', 'hash', 'door', 'frames', 'late', 'started', 'undone', 'before', 'after'];
  for (const key of [...bait, ...own, ...asked, ...ofPlugins]) {
    defineProperty(Object.prototype, key, {
      __proto__: null,
      configurable: true,
      get() {
        note('Object.prototype.' + key);
        return undefined;
      },
      set(v) {
        note('Object.prototype.' + key + '=');
        defineProperty(this, key, { __proto__: null, value: v, writable: true, enumerable: true, configurable: true });
      },
    });
  }
  // `between` lists the built-in classes whose prototypes can be between a tool's value and Object.prototype.
  const between = ['Error', 'TypeError', 'Array', 'Function', 'Promise', 'Map', 'Date', 'DOMException'];
  const words = ['code', 'category', 'retryable', 'retryAfterMs', 'issues', 'progress', 'success', 'data', 'handle'];
  for (const name of between) {
    for (const key of name === 'Promise' ? words : [...words, 'then']) {
      defineProperty(globalThis[name].prototype, key, {
        __proto__: null,
        configurable: true,
        get() {
          note(name + '.prototype.' + key);
          return key === 'retryable' ? true : 'FORGED';
        },
      });
    }
  }
  for (let i = 0; i < 8; i++) {
    defineProperty(Array.prototype, i, {
      __proto__: null,
      configurable: true,
      get() {
        note('Array.prototype[' + i + ']');
        return undefined;
      },
      set(v) {
        note('Array.prototype[' + i + ']=');
        defineProperty(this, i, { __proto__: null, value: v, writable: true, enumerable: true, configurable: true });
      },
    });
  }
  return { saw, watch: () => { watching = true; saw.length = 0; } };
})();

// Replaces every function and accessor that is reachable from the globals with a wrapper that reports secrets in its
// arguments and results.
(() => {
  const { apply, construct, ownKeys, getOwnPropertyDescriptor, defineProperty, getPrototypeOf } = Reflect;
  const indexOf = String.prototype.indexOf, send = fetch.bind(window), text = JSON.stringify, keysOf = Object.keys;
  const root = document.documentElement, setAttribute = root.setAttribute;
  let isReporting = false, replacedCount = 0;
  function note(label, what) {
    send('/note', { method: 'POST', body: text([label, String(what).slice(0, 200)]) });
  }
  function hasSecret(value, depth) {
    if (typeof value === 'string') return apply(indexOf, value, ['SECRET']) >= 0;
    if (depth > 3 || value === null || (typeof value !== 'object' && typeof value !== 'function') || value === window) return false;
    const keys = ownKeys(value);
    for (let i = 0; i < keys.length && i < 50; i++) {
      const descriptor = getOwnPropertyDescriptor(value, keys[i]);
      if (descriptor && 'value' in descriptor && hasSecret(descriptor.value, depth + 1)) return true;
    }
    return false;
  }
  function reportSecret(label, values) {
    if (isReporting) return;
    isReporting = true;
    try {
      for (let i = 0; i < values.length; i++) if (hasSecret(values[i], 0)) note('read', label);
    } catch {
      // Some global values throw an error when they are read.
    }
    isReporting = false;
  }
  function makeSpy(label, original) {
    const spy = function (...values) {
      reportSecret(label, values);
      reportSecret(label + ' this', [this]);
      const result = new.target ? construct(original, values, new.target === spy ? original : new.target) : apply(original, this, values);
      reportSecret(label + ' returned', [result]);
      return result;
    };
    try {
      defineProperty(spy, 'prototype', { value: original.prototype, writable: false });
      defineProperty(spy, 'name', { value: original.name });
      Object.setPrototypeOf(spy, original);
    } catch {
      // Some functions have no property `prototype`.
    }
    return spy;
  }
  const visited = new Set();
  function replaceOn(object, path, depth) {
    if (object === null || (typeof object !== 'object' && typeof object !== 'function') || visited.has(object) || depth > 3) return;
    visited.add(object);
    for (const key of ownKeys(object)) {
      const label = path + '.' + String(key);
      if (object === window && ['window', 'self', 'top', 'parent', 'frames', 'document', 'location', 'chrome'].includes(key)) continue;
      const descriptor = getOwnPropertyDescriptor(object, key);
      if (!descriptor) continue;
      if (typeof descriptor.value === 'function') {
        replaceOn(descriptor.value.prototype, label + '.prototype', depth + 1);
        replaceOn(descriptor.value, label, depth + 1);
      } else if (typeof descriptor.value === 'object') replaceOn(descriptor.value, label, depth + 1);
      if (!descriptor.configurable && !descriptor.writable) continue;
      try {
        if (typeof descriptor.value === 'function') descriptor.value = makeSpy(label, descriptor.value);
        else if (descriptor.get || descriptor.set) {
          if (descriptor.get) descriptor.get = makeSpy('get ' + label, descriptor.get);
          if (descriptor.set) descriptor.set = makeSpy('set ' + label, descriptor.set);
        } else continue;
        defineProperty(object, key, descriptor);
        replacedCount++;
      } catch {
        // Some properties of the globals cannot be redefined.
      }
    }
  }
  // note and replaceOn use the original built-ins that were saved above.
  for (const inner of [getPrototypeOf([][Symbol.iterator]()), getPrototypeOf(async function () {}), getPrototypeOf(function* () {})]) replaceOn(inner, 'inner', 0);
  replaceOn(window, 'window', 0);
  for (const key of ['then', 'toJSON', 'value', 'message', 'code', 'data', 'id', 'args', 'tool', 'call', 'get', 'ports', 'plugin', 'hash']) {
    defineProperty(Object.prototype, key, {
      __proto__: null,
      configurable: true,
      get() {
        reportSecret('Object.prototype.' + key, [this]);
        return undefined;
      },
      set(value) {
        reportSecret('set Object.prototype.' + key, [value, this]);
        defineProperty(this, key, { __proto__: null, value, writable: true, configurable: true, enumerable: true });
      },
    });
  }
  apply(setAttribute, root, ['data-replaced', `${replacedCount}`]);
})();

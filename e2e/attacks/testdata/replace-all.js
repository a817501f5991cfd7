// Replaces every function and accessor that is reachable from the globals by a wrapper that reports secrets in its arguments and results.
(() => {
  const { apply, construct, ownKeys, getOwnPropertyDescriptor, defineProperty, getPrototypeOf } = Reflect;
  const indexOf = String.prototype.indexOf, send = fetch.bind(window), text = JSON.stringify, keysOf = Object.keys;
  const root = document.documentElement, setAttribute = root.setAttribute;
  let busy = false, replaced = 0;
  function note(how, what) {
    send('/note', { method: 'POST', body: text([how, String(what).slice(0, 200)]) });
  }
  function hasSecret(value, depth) {
    if (typeof value === 'string') return apply(indexOf, value, ['SECRET']) >= 0;
    if (depth > 3 || value === null || (typeof value !== 'object' && typeof value !== 'function') || value === window) return false;
    const keys = ownKeys(value);
    for (let i = 0; i < keys.length && i < 50; i++) {
      const found = getOwnPropertyDescriptor(value, keys[i]);
      if (found && 'value' in found && hasSecret(found.value, depth + 1)) return true;
    }
    return false;
  }
  function look(how, values) {
    if (busy) return;
    busy = true;
    try {
      for (let i = 0; i < values.length; i++) if (hasSecret(values[i], 0)) note('read', how);
    } catch {
      // Some values throw when they are read.
    }
    busy = false;
  }
  function wrap(how, original) {
    const spy = function (...values) {
      look(how, values);
      look(how + ' this', [this]);
      const made = new.target ? construct(original, values, new.target === spy ? original : new.target) : apply(original, this, values);
      look(how + ' returned', [made]);
      return made;
    };
    try {
      defineProperty(spy, 'prototype', { value: original.prototype, writable: false });
      defineProperty(spy, 'name', { value: original.name });
      Object.setPrototypeOf(spy, original);
    } catch {
      // Some functions have no prototype.
    }
    return spy;
  }
  const seen = new Set();
  function replaceOn(object, path, depth) {
    if (object === null || (typeof object !== 'object' && typeof object !== 'function') || seen.has(object) || depth > 3) return;
    seen.add(object);
    for (const key of ownKeys(object)) {
      const how = path + '.' + String(key);
      if (object === window && ['window', 'self', 'top', 'parent', 'frames', 'document', 'location', 'chrome'].includes(key)) continue;
      const found = getOwnPropertyDescriptor(object, key);
      if (!found) continue;
      if (typeof found.value === 'function') {
        replaceOn(found.value.prototype, how + '.prototype', depth + 1);
        replaceOn(found.value, how, depth + 1);
      } else if (typeof found.value === 'object') replaceOn(found.value, how, depth + 1);
      if (!found.configurable && !found.writable) continue;
      try {
        if (typeof found.value === 'function') found.value = wrap(how, found.value);
        else if (found.get || found.set) {
          if (found.get) found.get = wrap('get ' + how, found.get);
          if (found.set) found.set = wrap('set ' + how, found.set);
        } else continue;
        defineProperty(object, key, found);
        replaced++;
      } catch {
        // Some properties cannot be redefined.
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
        look('Object.prototype.' + key, [this]);
        return undefined;
      },
      set(value) {
        look('set Object.prototype.' + key, [value, this]);
        defineProperty(this, key, { __proto__: null, value, writable: true, configurable: true, enumerable: true });
      },
    });
  }
  apply(setAttribute, root, ['data-replaced', `${replaced}`]);
})();

// A window that a page of the same site opens starts with an empty document. In Chrome the first page of the window
// keeps the Window object of that document. The opener may have replaced built-ins in this Window before any host could
// store them. probe.ts adds a frame to such a document, and the function in this file compares the built-ins with those
// of the frame.
//
// The build copies this function in front of the host's code, so this file has no imports. Until the function returns,
// it must use nothing that the opener may have replaced: no getter, no method, no iterator, and no unchecked global
// name.

/** intact reports whether the built-ins that a host stores are the browser's. intact never throws. */
export function intact(): boolean {
  const isRealm = (value: unknown): value is typeof globalThis => typeof value === 'object' && value !== null;
  const isObject = (value: unknown): value is object =>
    (typeof value === 'object' && value !== null) || typeof value === 'function';
  try {
    const frame: unknown = window[0];
    if (frame === undefined) return true;
    if (!isRealm(frame)) return false;
    const { apply, getOwnPropertyDescriptor: own, getPrototypeOf, ownKeys, construct } = frame.Reflect;
    const { toString: source } = frame.Function.prototype;
    const isNative = (value: unknown, name: string): boolean =>
      typeof value === 'function' && apply(source, value, []) === `function ${name}() { [native code] }`;
    // Reads data properties only: the getter of an accessor must not run.
    const read = (on: unknown, key: string): unknown => (isObject(on) ? own(on, key)?.value : undefined);
    const prototype = (name: string): unknown => read(read(window, name), 'prototype');

    const classes = [
      'Object',
      'Function',
      'Array',
      'Number',
      'Boolean',
      'String',
      'Symbol',
      'BigInt',
      'Date',
      'RegExp',
      'Promise',
      'Map',
      'Set',
      'WeakMap',
      'WeakSet',
      'WeakRef',
      'Error',
      'TypeError',
      'RangeError',
      'SyntaxError',
      'ReferenceError',
      'EvalError',
      'URIError',
      'AggregateError',
      'ArrayBuffer',
      'DataView',
      'Uint8Array',
      'Int8Array',
      'Uint16Array',
      'Int16Array',
      'Uint32Array',
      'AbortController',
      'AbortSignal',
      'DOMException',
      'Document',
      'EventTarget',
      'MessageChannel',
      'MessageEvent',
      'MessagePort',
      'MutationObserver',
      'Node',
      'Performance',
      'TextEncoder',
      'URL',
      'URLSearchParams',
    ];
    for (let i = 0; i < classes.length; i++) {
      const name = classes[i] ?? '';
      if (!isNative(read(window, name), name) || read(prototype(name), 'constructor') !== read(window, name))
        return false;
    }
    // Compares all properties, because code that the host runs may use any of them (pristine.ts).
    const sameFunction = (mine: unknown, fresh: unknown): boolean =>
      typeof mine === 'function' && typeof fresh === 'function' && apply(source, mine, []) === apply(source, fresh, []);
    const same = (mine: unknown, fresh: unknown): boolean => {
      if (!isObject(mine) || !isObject(fresh)) return false;
      const keys = ownKeys(fresh);
      if (ownKeys(mine).length !== keys.length) return false;
      for (let i = 0; i < keys.length; i++) {
        const found = own(mine, keys[i] ?? '');
        const wanted = own(fresh, keys[i] ?? '');
        if (!found || !wanted) return false;
        if (wanted.get && !sameFunction(found.get, wanted.get)) return false;
        if (wanted.set && !sameFunction(found.set, wanted.set)) return false;
        if (typeof wanted.value === 'function' && !sameFunction(found.value, wanted.value)) return false;
      }
      return true;
    };
    for (let i = 0; i < classes.length; i++) {
      const name = classes[i] ?? '';
      const fresh = read(frame, name);
      if (!same(read(window, name), fresh) || !same(prototype(name), read(fresh, 'prototype'))) return false;
    }
    const namespaces = ['JSON', 'Math', 'Reflect'];
    for (let i = 0; i < namespaces.length; i++) {
      const name = namespaces[i] ?? '';
      if (!same(read(window, name), read(frame, name))) return false;
    }
    const iterators = ['Array', 'Map', 'Set'];
    for (let i = 0; i < iterators.length; i++) {
      const name = iterators[i] ?? '';
      const values = (realm: unknown): unknown => {
        const made = read(realm, name);
        const start = read(read(made, 'prototype'), 'values');
        if (typeof start !== 'function' || typeof made !== 'function') return undefined;
        return getPrototypeOf(apply(start, construct(made, []), []));
      };
      const mine = values(window);
      const fresh = values(frame);
      if (!same(mine, fresh)) return false;
      if (isObject(mine) && isObject(fresh) && !same(getPrototypeOf(mine), getPrototypeOf(fresh))) return false;
    }
    if (!isNative(read(window, 'Proxy'), 'Proxy') || !isNative(read(window, 'setTimeout'), 'setTimeout')) return false;

    // A global that a script of the opener declared with let, const or class hides the property of the window.
    const seen: unknown[] = [
      Object,
      Function,
      Array,
      Number,
      Boolean,
      String,
      Symbol,
      BigInt,
      Date,
      RegExp,
      Promise,
      Map,
      Set,
      WeakMap,
      WeakSet,
      WeakRef,
      Error,
      TypeError,
      RangeError,
      SyntaxError,
      ReferenceError,
      EvalError,
      URIError,
      AggregateError,
      ArrayBuffer,
      DataView,
      Uint8Array,
      Int8Array,
      Uint16Array,
      Int16Array,
      Uint32Array,
      AbortController,
      AbortSignal,
      DOMException,
      Document,
      EventTarget,
      MessageChannel,
      MessageEvent,
      MessagePort,
      MutationObserver,
      Node,
      Performance,
      TextEncoder,
      URL,
      URLSearchParams,
    ];
    for (let i = 0; i < classes.length; i++) if (seen[i] !== read(window, classes[i] ?? '')) return false;
    if (Reflect !== read(window, 'Reflect') || JSON !== read(window, 'JSON') || Proxy !== read(window, 'Proxy'))
      return false;
    if (setTimeout !== read(window, 'setTimeout')) return false;
    const clock = own(window, 'performance')?.get;
    if (!isNative(clock, 'get performance') || !clock || performance !== apply(clock, window, [])) return false;
    if (own(performance, 'now') !== undefined || getPrototypeOf(performance) !== prototype('Performance')) return false;

    // Built-ins of the opener's window look native, but create objects with other prototypes.
    const is = (made: object, name: string): boolean => getPrototypeOf(made) === prototype(name);
    const thrown = (work: () => unknown): object => {
      try {
        work();
      } catch (error) {
        if (isObject(error)) return error;
      }
      return {};
    };
    // Literals and errors of operators use the classes of the window to which this code belongs.
    const isNothing = (value: unknown): value is object => value === null;
    const nothing: unknown = null;
    const literals = is({}, 'Object') && is([], 'Array') && is(() => 0, 'Function');
    if (
      !literals ||
      !is(
        thrown(() => isNothing(nothing) && 'a' in nothing),
        'TypeError',
      )
    )
      return false;
    const parsed: unknown = JSON.parse('{}');
    return (
      isObject(parsed) &&
      is(parsed, 'Object') &&
      is(Reflect.ownKeys({}), 'Array') &&
      is(Reflect.getOwnPropertyDescriptor([], 'length') ?? [], 'Object') &&
      is(
        thrown(() => apply(Reflect.apply, undefined, [])),
        'TypeError',
      ) &&
      is(
        thrown(() => apply(Promise.prototype.then, undefined, [])),
        'TypeError',
      )
    );
  } catch {
    return false;
  }
}

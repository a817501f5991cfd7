// A window that a page opens for its own site starts with an empty document. In Chrome, the first page of a window that
// another page opened keeps the Window object of the empty document. The opener of the window may have replaced
// built-in functions in the Window object before a host could store them. `intact` detects replaced functions by
// comparing the Window's functions with those of a frame that probe.ts adds.
//
// The build copies the function `intact` in front of the host's code, so intact.ts has no imports. The code of `intact`
// must use nothing that the opener may have replaced: no getter, method, iterator or unchecked global name.

/**
 * The function `intact` reports whether the built-in functions that a host stores are the browser's own. `intact` never
 * throws.
 */
export function intact(): boolean {
  const isGlobalObject = (value: unknown): value is typeof globalThis => typeof value === 'object' && value !== null;
  const isObject = (value: unknown): value is object =>
    (typeof value === 'object' && value !== null) || typeof value === 'function';
  try {
    const frame: unknown = window[0];
    if (frame === undefined) return true;
    if (!isGlobalObject(frame)) return false;
    const { apply, getOwnPropertyDescriptor: ownDescriptor, getPrototypeOf, ownKeys, construct } = frame.Reflect;
    const { toString: functionToString } = frame.Function.prototype;
    const isNative = (value: unknown, name: string): boolean =>
      typeof value === 'function' && apply(functionToString, value, []) === `function ${name}() { [native code] }`;
    // Only data properties are read, because reading an accessor would run a getter of the page.
    const readProperty = (object: unknown, key: string): unknown =>
      isObject(object) ? ownDescriptor(object, key)?.value : undefined;
    const prototypeOf = (name: string): unknown => readProperty(readProperty(window, name), 'prototype');

    const classNames = [
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
    for (let i = 0; i < classNames.length; i++) {
      const name = classNames[i] ?? '';
      if (
        !isNative(readProperty(window, name), name) ||
        readProperty(prototypeOf(name), 'constructor') !== readProperty(window, name)
      )
        return false;
    }
    // All properties of the built-in classes are compared, because library code in the host can use any of them
    // (pristine.ts).
    const isSameFunction = (currentValue: unknown, originalValue: unknown): boolean =>
      typeof currentValue === 'function' &&
      typeof originalValue === 'function' &&
      apply(functionToString, currentValue, []) === apply(functionToString, originalValue, []);
    const hasSameProperties = (currentValue: unknown, originalValue: unknown): boolean => {
      if (!isObject(currentValue) || !isObject(originalValue)) return false;
      const keys = ownKeys(originalValue);
      if (ownKeys(currentValue).length !== keys.length) return false;
      for (let i = 0; i < keys.length; i++) {
        const currentDescriptor = ownDescriptor(currentValue, keys[i] ?? '');
        const originalDescriptor = ownDescriptor(originalValue, keys[i] ?? '');
        if (!currentDescriptor || !originalDescriptor) return false;
        if (originalDescriptor.get && !isSameFunction(currentDescriptor.get, originalDescriptor.get)) return false;
        if (originalDescriptor.set && !isSameFunction(currentDescriptor.set, originalDescriptor.set)) return false;
        if (
          typeof originalDescriptor.value === 'function' &&
          !isSameFunction(currentDescriptor.value, originalDescriptor.value)
        )
          return false;
      }
      return true;
    };
    for (let i = 0; i < classNames.length; i++) {
      const name = classNames[i] ?? '';
      const originalValue = readProperty(frame, name);
      if (
        !hasSameProperties(readProperty(window, name), originalValue) ||
        !hasSameProperties(prototypeOf(name), readProperty(originalValue, 'prototype'))
      )
        return false;
    }
    const namespaceNames = ['JSON', 'Math', 'Reflect'];
    for (let i = 0; i < namespaceNames.length; i++) {
      const name = namespaceNames[i] ?? '';
      if (!hasSameProperties(readProperty(window, name), readProperty(frame, name))) return false;
    }
    const iteratorNames = ['Array', 'Map', 'Set'];
    for (let i = 0; i < iteratorNames.length; i++) {
      const name = iteratorNames[i] ?? '';
      const iteratorPrototype = (realm: unknown): unknown => {
        const collection = readProperty(realm, name);
        const valuesMethod = readProperty(readProperty(collection, 'prototype'), 'values');
        if (typeof valuesMethod !== 'function' || typeof collection !== 'function') return undefined;
        return getPrototypeOf(apply(valuesMethod, construct(collection, []), []));
      };
      const currentValue = iteratorPrototype(window);
      const originalValue = iteratorPrototype(frame);
      if (!hasSameProperties(currentValue, originalValue)) return false;
      if (
        isObject(currentValue) &&
        isObject(originalValue) &&
        !hasSameProperties(getPrototypeOf(currentValue), getPrototypeOf(originalValue))
      )
        return false;
    }
    if (
      !isNative(readProperty(window, 'Proxy'), 'Proxy') ||
      !isNative(readProperty(window, 'setTimeout'), 'setTimeout')
    )
      return false;

    // A global that the window's opener declared with let, const or class hides the window property of the same name.
    const globalValues: unknown[] = [
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
    for (let i = 0; i < classNames.length; i++)
      if (globalValues[i] !== readProperty(window, classNames[i] ?? '')) return false;
    if (
      Reflect !== readProperty(window, 'Reflect') ||
      JSON !== readProperty(window, 'JSON') ||
      Proxy !== readProperty(window, 'Proxy')
    )
      return false;
    if (setTimeout !== readProperty(window, 'setTimeout')) return false;
    const performanceGetter = ownDescriptor(window, 'performance')?.get;
    if (
      !isNative(performanceGetter, 'get performance') ||
      !performanceGetter ||
      performance !== apply(performanceGetter, window, [])
    )
      return false;
    if (ownDescriptor(performance, 'now') !== undefined || getPrototypeOf(performance) !== prototypeOf('Performance'))
      return false;

    // Built-in functions of the opener's window look native, but create objects with the prototypes of the opener's
    // window.
    const inheritsFrom = (object: object, name: string): boolean => getPrototypeOf(object) === prototypeOf(name);
    const catchError = (callback: () => unknown): object => {
      try {
        callback();
      } catch (error) {
        if (isObject(error)) return error;
      }
      return {};
    };
    // Literals, and errors that operators throw, use the classes of the window that runs the code.
    const isNull = (value: unknown): value is object => value === null;
    const nullValue: unknown = null;
    const hasIntactLiterals =
      inheritsFrom({}, 'Object') && inheritsFrom([], 'Array') && inheritsFrom(() => 0, 'Function');
    if (
      !hasIntactLiterals ||
      !inheritsFrom(
        catchError(() => isNull(nullValue) && 'a' in nullValue),
        'TypeError',
      )
    )
      return false;
    const parsedObject: unknown = JSON.parse('{}');
    return (
      isObject(parsedObject) &&
      inheritsFrom(parsedObject, 'Object') &&
      inheritsFrom(Reflect.ownKeys({}), 'Array') &&
      inheritsFrom(Reflect.getOwnPropertyDescriptor([], 'length') ?? [], 'Object') &&
      inheritsFrom(
        catchError(() => apply(Reflect.apply, undefined, [])),
        'TypeError',
      ) &&
      inheritsFrom(
        catchError(() => apply(Promise.prototype.then, undefined, [])),
        'TypeError',
      )
    );
  } catch {
    return false;
  }
}

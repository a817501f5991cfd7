import { addAdapterGlobals, type HostServices, makeAdapterGlobals } from './adapter-globals.ts';
import {
  apply,
  construct,
  dataProperty,
  defineProperty,
  deleteProperty,
  type Fn,
  getOwnPropertyDescriptor,
  getProperty,
  getPrototypeOf,
  hasOwn,
  hasProperty,
  isBuiltIn,
  isFn,
  isObject,
  makeBareObject,
  NativeProxy,
  NativeWeakMap,
  ownKeys,
  realWindow,
  setProperty,
  setPrototypeOf,
  weakMapGet,
  weakMapSet,
} from './primordials.ts';

// Adapters store their state in `globalThis.__openTabs`. Each plugin gets a separate `globalThis`: a proxy for the
// page's window with its own `__openTabs`. The page cannot replace a registry of adapters, and a plugin cannot access
// the state of another plugin.

const ADAPTER_GLOBALS_KEY = '__openTabs';

/** AdapterContainer holds the private `__openTabs` of one plugin, and the `globalThis` of the plugin. */
export interface AdapterContainer {
  readonly scopeProxy: object;
  /** Adapters can replace the `__openTabs` object at any time. */
  read(): unknown;
}

/** `previousGlobals` is the `__openTabs` of the adapter's previous start. */
export function makeContainer(hostServices: HostServices, previousGlobals?: unknown): AdapterContainer {
  const ownProperties = makeBareObject();
  const storeAdapterGlobals = (pageValue: unknown) => {
    addAdapterGlobals(pageValue, hostServices);
    defineProperty(ownProperties, ADAPTER_GLOBALS_KEY, dataProperty(pageValue));
    return true;
  };
  defineProperty(ownProperties, ADAPTER_GLOBALS_KEY, dataProperty(makeAdapterGlobals(hostServices, previousGlobals)));
  const windowMembrane = makeWindowMembrane();
  // The target of the proxy for `globalThis` is an empty object, not the window. A proxy must return the
  // non-configurable properties of its target. With the window as target, a page that defines a non-configurable
  // `__openTabs` could force a value on the adapter.
  const proxyTarget = makeBareObject();
  const scopeProxy: object = new NativeProxy(
    proxyTarget,
    makeScopeHandler(ownProperties, storeAdapterGlobals, proxyTarget, windowMembrane),
  );
  windowMembrane.scopeProxy = scopeProxy;
  return { scopeProxy, read: () => ownProperties[ADAPTER_GLOBALS_KEY] };
}

/**
 * WindowMembrane translates values between an adapter and the page. The adapter sees its own scope in place of the
 * window, and proxies in place of the page's functions.
 */
interface WindowMembrane {
  scopeProxy: object;
  toAdapterValue(pageValue: unknown): unknown;
  toWindowValue(pageValue: unknown): unknown;
}

function makeWindowMembrane(): WindowMembrane {
  const proxyByOriginal = construct(NativeWeakMap, []);
  const originalObjects = construct(NativeWeakMap, []);
  const windowMembrane: WindowMembrane = {
    scopeProxy: realWindow,
    toAdapterValue: (pageValue) => {
      if (pageValue === realWindow) return windowMembrane.scopeProxy;
      if (!isFn(pageValue) || isBuiltIn(pageValue)) return pageValue;
      const knownProxy: unknown = apply(weakMapGet, proxyByOriginal, [pageValue]);
      if (knownProxy !== undefined) return knownProxy;
      const proxy = new NativeProxy(pageValue, methodHandler);
      apply(weakMapSet, proxyByOriginal, [pageValue, proxy]);
      apply(weakMapSet, originalObjects, [proxy, pageValue]);
      return proxy;
    },
    toWindowValue: (pageValue) => {
      if (pageValue === windowMembrane.scopeProxy) return realWindow;
      if (!isObject(pageValue)) return pageValue;
      return apply(weakMapGet, originalObjects, [pageValue]) ?? pageValue;
    },
  };
  // If an adapter calls a window function on its scope, the function receives the real window as `this`, as built-ins
  // require. A function of the page must not receive the adapter's scope as `this` or as an argument.
  const toWindowArguments = (args: readonly unknown[]): unknown[] => {
    const convertedArguments: unknown[] = [];
    for (let i = 0; i < args.length; i++)
      defineProperty(convertedArguments, i, dataProperty(windowMembrane.toWindowValue(args[i])));
    return convertedArguments;
  };
  const methodHandler: ProxyHandler<Fn> = {
    apply: (method, self, args) => apply(method, windowMembrane.toWindowValue(self), toWindowArguments(args)),
    construct: (method, args, target) => {
      const newTarget: unknown = windowMembrane.toWindowValue(target);
      const instance: unknown = construct(method, toWindowArguments(args), isFn(newTarget) ? newTarget : method);
      return isObject(instance) ? instance : makeBareObject();
    },
  };
  setPrototypeOf(methodHandler, null);
  setPrototypeOf(windowMembrane, null);
  return windowMembrane;
}

function makeScopeHandler(
  ownProperties: Record<PropertyKey, unknown>,
  storeAdapterGlobals: (pageValue: unknown) => boolean,
  proxyTarget: Record<PropertyKey, unknown>,
  windowMembrane: WindowMembrane,
): ProxyHandler<object> {
  const findPropertyOwner = (key: PropertyKey): object => (key === ADAPTER_GLOBALS_KEY ? ownProperties : realWindow);
  const handler: ProxyHandler<object> = {
    get: (_, key) => {
      if (key === ADAPTER_GLOBALS_KEY) return ownProperties[ADAPTER_GLOBALS_KEY];
      const pageValue: unknown = getProperty(realWindow, key);
      return hasOwn(proxyTarget, key) ? pageValue : windowMembrane.toAdapterValue(pageValue);
    },
    set: (_, key, pageValue) =>
      key === ADAPTER_GLOBALS_KEY
        ? storeAdapterGlobals(pageValue)
        : setProperty(realWindow, key, windowMembrane.toWindowValue(pageValue)),
    has: (_, key) => hasProperty(findPropertyOwner(key), key),
    deleteProperty: (_, key) => deleteProperty(findPropertyOwner(key), key),
    defineProperty: (_, key, propertyDescriptor) => {
      setPrototypeOf(propertyDescriptor, null);
      if (key === ADAPTER_GLOBALS_KEY) return storeAdapterGlobals(propertyDescriptor.value);
      if (hasOwn(propertyDescriptor, 'value'))
        defineProperty(
          propertyDescriptor,
          'value',
          dataProperty(windowMembrane.toWindowValue(propertyDescriptor.value)),
        );
      if (!defineProperty(realWindow, key, propertyDescriptor)) return false;
      copyLockedProperty(proxyTarget, key);
      return true;
    },
    getOwnPropertyDescriptor: (_, key) => {
      const propertyDescriptor = getOwnPropertyDescriptor(findPropertyOwner(key), key);
      if (!propertyDescriptor) return undefined;
      setPrototypeOf(propertyDescriptor, null);
      if (hasOwn(proxyTarget, key)) return propertyDescriptor;
      defineProperty(propertyDescriptor, 'configurable', dataProperty(true));
      if (key !== ADAPTER_GLOBALS_KEY && hasOwn(propertyDescriptor, 'value')) {
        defineProperty(
          propertyDescriptor,
          'value',
          dataProperty(windowMembrane.toAdapterValue(propertyDescriptor.value)),
        );
      }
      return propertyDescriptor;
    },
    getPrototypeOf: () => getPrototypeOf(realWindow),
    setPrototypeOf: () => false,
    preventExtensions: () => false,
    ownKeys: () => {
      const keys = ownKeys(realWindow);
      if (hasOwn(ownProperties, ADAPTER_GLOBALS_KEY) && !hasOwn(realWindow, ADAPTER_GLOBALS_KEY))
        defineProperty(keys, keys.length, dataProperty(ADAPTER_GLOBALS_KEY));
      return keys;
    },
  };
  setPrototypeOf(handler, null);
  return handler;
}

/**
 * copyLockedProperty copies a property that the adapter made non-configurable on the window to the proxy's target, as
 * proxies require.
 */
function copyLockedProperty(proxyTarget: object, key: PropertyKey): void {
  const propertyDescriptor = getOwnPropertyDescriptor(realWindow, key);
  if (propertyDescriptor?.configurable !== false) return;
  setPrototypeOf(propertyDescriptor, null);
  defineProperty(proxyTarget, key, propertyDescriptor);
}

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
  readonly scope: object;
  /** Adapters can replace the `__openTabs` object at any time. */
  read(): unknown;
}

/** `previousGlobals` is the `__openTabs` of the adapter's previous start. */
export function makeContainer(services: HostServices, previousGlobals?: unknown): AdapterContainer {
  const ownProperties = makeBareObject();
  const storeGlobals = (pageValue: unknown) => {
    addAdapterGlobals(pageValue, services);
    defineProperty(ownProperties, ADAPTER_GLOBALS_KEY, dataProperty(pageValue));
    return true;
  };
  defineProperty(ownProperties, ADAPTER_GLOBALS_KEY, dataProperty(makeAdapterGlobals(services, previousGlobals)));
  const membrane = makeWindowMembrane();
  // The target of the proxy for `globalThis` is an empty object, not the window. A proxy must return the locked
  // properties of its target. With the window as target, a page that locks `__openTabs` could force a value on the
  // adapter.
  const proxyTarget = makeBareObject();
  const scope: object = new NativeProxy(
    proxyTarget,
    makeScopeHandler(ownProperties, storeGlobals, proxyTarget, membrane),
  );
  membrane.scope = scope;
  return { scope, read: () => ownProperties[ADAPTER_GLOBALS_KEY] };
}

/**
 * WindowMembrane translates values between an adapter and the page. The adapter sees its own scope in place of the
 * window, and proxies in place of the page's functions.
 */
interface WindowMembrane {
  scope: object;
  toAdapterValue(pageValue: unknown): unknown;
  toWindowValue(pageValue: unknown): unknown;
}

function makeWindowMembrane(): WindowMembrane {
  const proxies = construct(NativeWeakMap, []);
  const originals = construct(NativeWeakMap, []);
  const disguise: WindowMembrane = {
    scope: realWindow,
    toAdapterValue: (pageValue) => {
      if (pageValue === realWindow) return disguise.scope;
      if (!isFn(pageValue) || isBuiltIn(pageValue)) return pageValue;
      const knownProxy: unknown = apply(weakMapGet, proxies, [pageValue]);
      if (knownProxy !== undefined) return knownProxy;
      const proxy = new NativeProxy(pageValue, methodHandler);
      apply(weakMapSet, proxies, [pageValue, proxy]);
      apply(weakMapSet, originals, [proxy, pageValue]);
      return proxy;
    },
    toWindowValue: (pageValue) => {
      if (pageValue === disguise.scope) return realWindow;
      if (!isObject(pageValue)) return pageValue;
      return apply(weakMapGet, originals, [pageValue]) ?? pageValue;
    },
  };
  // If an adapter calls a window function on its scope, the function receives the real window as `this`, as built-ins
  // require. A function of the page must not receive the adapter's scope as `this` or as an argument.
  const toWindowArguments = (args: readonly unknown[]): unknown[] => {
    const list: unknown[] = [];
    for (let i = 0; i < args.length; i++) defineProperty(list, i, dataProperty(disguise.toWindowValue(args[i])));
    return list;
  };
  const methodHandler: ProxyHandler<Fn> = {
    apply: (method, self, args) => apply(method, disguise.toWindowValue(self), toWindowArguments(args)),
    construct: (method, args, target) => {
      const newTarget: unknown = disguise.toWindowValue(target);
      const instance: unknown = construct(method, toWindowArguments(args), isFn(newTarget) ? newTarget : method);
      return isObject(instance) ? instance : makeBareObject();
    },
  };
  setPrototypeOf(methodHandler, null);
  setPrototypeOf(disguise, null);
  return disguise;
}

function makeScopeHandler(
  ownProperties: Record<PropertyKey, unknown>,
  storeGlobals: (pageValue: unknown) => boolean,
  proxyTarget: Record<PropertyKey, unknown>,
  disguise: WindowMembrane,
): ProxyHandler<object> {
  const ownerOf = (key: PropertyKey): object => (key === ADAPTER_GLOBALS_KEY ? ownProperties : realWindow);
  const handler: ProxyHandler<object> = {
    get: (_, key) => {
      if (key === ADAPTER_GLOBALS_KEY) return ownProperties[ADAPTER_GLOBALS_KEY];
      const pageValue: unknown = getProperty(realWindow, key);
      return hasOwn(proxyTarget, key) ? pageValue : disguise.toAdapterValue(pageValue);
    },
    set: (_, key, pageValue) =>
      key === ADAPTER_GLOBALS_KEY
        ? storeGlobals(pageValue)
        : setProperty(realWindow, key, disguise.toWindowValue(pageValue)),
    has: (_, key) => hasProperty(ownerOf(key), key),
    deleteProperty: (_, key) => deleteProperty(ownerOf(key), key),
    defineProperty: (_, key, descriptor) => {
      setPrototypeOf(descriptor, null);
      if (key === ADAPTER_GLOBALS_KEY) return storeGlobals(descriptor.value);
      if (hasOwn(descriptor, 'value'))
        defineProperty(descriptor, 'value', dataProperty(disguise.toWindowValue(descriptor.value)));
      if (!defineProperty(realWindow, key, descriptor)) return false;
      copyLockedProperty(proxyTarget, key);
      return true;
    },
    getOwnPropertyDescriptor: (_, key) => {
      const descriptor = getOwnPropertyDescriptor(ownerOf(key), key);
      if (!descriptor) return undefined;
      setPrototypeOf(descriptor, null);
      if (hasOwn(proxyTarget, key)) return descriptor;
      defineProperty(descriptor, 'configurable', dataProperty(true));
      if (key !== ADAPTER_GLOBALS_KEY && hasOwn(descriptor, 'value')) {
        defineProperty(descriptor, 'value', dataProperty(disguise.toAdapterValue(descriptor.value)));
      }
      return descriptor;
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
 * copyLockedProperty copies a property that the adapter has locked on the window to the proxy's target, as proxies
 * require.
 */
function copyLockedProperty(proxyTarget: object, key: PropertyKey): void {
  const descriptor = getOwnPropertyDescriptor(realWindow, key);
  if (descriptor?.configurable !== false) return;
  setPrototypeOf(descriptor, null);
  defineProperty(proxyTarget, key, descriptor);
}

import { addAdapterGlobals, makeAdapterGlobals, type Services } from './adapter-globals.ts';
import {
  apply,
  bare,
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
  NativeProxy,
  NativeWeakMap,
  ownKeys,
  realWindow,
  setProperty,
  setPrototypeOf,
  weakGet,
  weakSet,
} from './primordials.ts';

// Adapters store their state in `globalThis.__openTabs`. Each plugin gets a separate `globalThis`: a proxy that owns
// `__openTabs` and forwards all other properties to the page's window. The window stays unchanged, the page cannot
// replace a registry, and a plugin has no access to the state of another plugin.

const KEY = '__openTabs';

/** Container is the private `__openTabs` of one plugin, together with the `globalThis` of this plugin. */
export interface Container {
  /** scope is the `globalThis` of the adapter. */
  readonly scope: object;
  /** read returns the current `__openTabs`. Adapters may replace the object at any time. */
  read(): unknown;
}

/** makeContainer returns a container for one start of an adapter. former is the `__openTabs` of the previous start. */
export function makeContainer(services: Services, former?: unknown): Container {
  const own = bare();
  const keep = (value: unknown) => {
    addAdapterGlobals(value, services);
    defineProperty(own, KEY, dataProperty(value));
    return true;
  };
  defineProperty(own, KEY, dataProperty(makeAdapterGlobals(services, former)));
  const disguise = makeDisguise();
  // The proxy's target is an empty object, not the window: a proxy must return the locked properties of its target, so a
  // page with a locked `__openTabs` could force its value on the adapter.
  const locked = bare();
  const scope: object = new NativeProxy(locked, scopeHandler(own, keep, locked, disguise));
  disguise.scope = scope;
  return { scope, read: () => own[KEY] };
}

/** Disguise exchanges the scope and the window, and functions and their proxies, between an adapter and the page. */
interface Disguise {
  scope: object;
  /** toAdapterValue replaces a value of the window by the value that the adapter sees. */
  toAdapterValue(value: unknown): unknown;
  /** toWindowValue replaces a value of the adapter by the value that the window gets. */
  toWindowValue(value: unknown): unknown;
}

function makeDisguise(): Disguise {
  const proxies = construct(NativeWeakMap, []);
  const originals = construct(NativeWeakMap, []);
  const disguise: Disguise = {
    scope: realWindow,
    toAdapterValue: (value) => {
      if (value === realWindow) return disguise.scope;
      if (!isFn(value) || isBuiltIn(value)) return value;
      const known: unknown = apply(weakGet, proxies, [value]);
      if (known !== undefined) return known;
      const proxy = new NativeProxy(value, methodHandler);
      apply(weakSet, proxies, [value, proxy]);
      apply(weakSet, originals, [proxy, value]);
      return proxy;
    },
    toWindowValue: (value) => {
      if (value === disguise.scope) return realWindow;
      if (!isObject(value)) return value;
      return apply(weakGet, originals, [value]) ?? value;
    },
  };
  // A function of the window that the adapter calls on scope gets the window as `this`, because built-in functions require
  // it. A function of the page must not get scope as `this` or as an argument.
  const hidden = (args: readonly unknown[]): unknown[] => {
    const list: unknown[] = [];
    for (let i = 0; i < args.length; i++) defineProperty(list, i, dataProperty(disguise.toWindowValue(args[i])));
    return list;
  };
  const methodHandler: ProxyHandler<Fn> = {
    apply: (method, self, args) => apply(method, disguise.toWindowValue(self), hidden(args)),
    construct: (method, args, target) => {
      const as: unknown = disguise.toWindowValue(target);
      const made: unknown = construct(method, hidden(args), isFn(as) ? as : method);
      return isObject(made) ? made : bare();
    },
  };
  setPrototypeOf(methodHandler, null);
  setPrototypeOf(disguise, null);
  return disguise;
}

function scopeHandler(
  own: Record<PropertyKey, unknown>,
  keep: (value: unknown) => boolean,
  locked: Record<PropertyKey, unknown>,
  disguise: Disguise,
): ProxyHandler<object> {
  const owner = (key: PropertyKey): object => (key === KEY ? own : realWindow);
  const handler: ProxyHandler<object> = {
    get: (_, key) => {
      if (key === KEY) return own[KEY];
      const value: unknown = getProperty(realWindow, key);
      return hasOwn(locked, key) ? value : disguise.toAdapterValue(value);
    },
    set: (_, key, value) => (key === KEY ? keep(value) : setProperty(realWindow, key, disguise.toWindowValue(value))),
    has: (_, key) => hasProperty(owner(key), key),
    deleteProperty: (_, key) => deleteProperty(owner(key), key),
    defineProperty: (_, key, descriptor) => {
      setPrototypeOf(descriptor, null);
      if (key === KEY) return keep(descriptor.value);
      if (hasOwn(descriptor, 'value'))
        defineProperty(descriptor, 'value', dataProperty(disguise.toWindowValue(descriptor.value)));
      if (!defineProperty(realWindow, key, descriptor)) return false;
      noteLocked(locked, key);
      return true;
    },
    getOwnPropertyDescriptor: (_, key) => {
      const found = getOwnPropertyDescriptor(owner(key), key);
      if (!found) return undefined;
      setPrototypeOf(found, null);
      if (hasOwn(locked, key)) return found;
      defineProperty(found, 'configurable', dataProperty(true));
      if (key !== KEY && hasOwn(found, 'value')) {
        defineProperty(found, 'value', dataProperty(disguise.toAdapterValue(found.value)));
      }
      return found;
    },
    getPrototypeOf: () => getPrototypeOf(realWindow),
    setPrototypeOf: () => false,
    preventExtensions: () => false,
    ownKeys: () => {
      const keys = ownKeys(realWindow);
      if (hasOwn(own, KEY) && !hasOwn(realWindow, KEY)) defineProperty(keys, keys.length, dataProperty(KEY));
      return keys;
    },
  };
  setPrototypeOf(handler, null);
  return handler;
}

/** noteLocked copies a property that the adapter has locked to the proxy's target, as the rules of proxies require. */
function noteLocked(locked: object, key: PropertyKey): void {
  const now = getOwnPropertyDescriptor(realWindow, key);
  if (now?.configurable !== false) return;
  setPrototypeOf(now, null);
  defineProperty(locked, key, now);
}

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

// Adapters keep their state in `globalThis.__openTabs`. Here each plugin gets
// a `globalThis` of its own: an object that owns `__openTabs` and stands for
// the page's window in everything else. The page's window stays clean, no
// page can replace a registry, and no plugin sees another's.

const KEY = '__openTabs';

/** Container is the private `__openTabs` of one plugin and the `globalThis` that shows it. */
export interface Container {
  /** scope is what the adapter sees as `globalThis`. */
  readonly scope: object;
  /** read returns `__openTabs`, which adapters replace at any time. */
  read(): unknown;
}

/** makeContainer returns a container for a start of an adapter; former is the `__openTabs` of the start before it. */
export function makeContainer(services: Services, former?: unknown): Container {
  const own = bare();
  const keep = (value: unknown) => {
    addAdapterGlobals(value, services);
    defineProperty(own, KEY, dataProperty(value));
    return true;
  };
  defineProperty(own, KEY, dataProperty(makeAdapterGlobals(services, former)));
  const disguise = makeDisguise();
  // The proxy's target is not the window but an empty object: a page that defines a locked `__openTabs` on its window
  // would otherwise force its own value on the adapter.
  const locked = bare();
  const scope: object = new NativeProxy(locked, scopeHandler(own, keep, locked, disguise));
  disguise.scope = scope;
  return { scope, read: () => own[KEY] };
}

/** Disguise swaps what must not cross between an adapter and the page: scope and window, functions and their proxies. */
interface Disguise {
  scope: object;
  /** show returns what an adapter sees of a value of the window. */
  show(value: unknown): unknown;
  /** hide returns what the window gets of a value of an adapter. */
  hide(value: unknown): unknown;
}

function makeDisguise(): Disguise {
  const proxies = construct(NativeWeakMap, []);
  const originals = construct(NativeWeakMap, []);
  const disguise: Disguise = {
    scope: realWindow,
    show: (value) => {
      if (value === realWindow) return disguise.scope;
      if (!isFn(value) || isBuiltIn(value)) return value;
      const known: unknown = apply(weakGet, proxies, [value]);
      if (known !== undefined) return known;
      const proxy = new NativeProxy(value, methodHandler);
      apply(weakSet, proxies, [value, proxy]);
      apply(weakSet, originals, [proxy, value]);
      return proxy;
    },
    hide: (value) => {
      if (value === disguise.scope) return realWindow;
      if (!isObject(value)) return value;
      return apply(weakGet, originals, [value]) ?? value;
    },
  };
  // A function of the window that is called as a method of scope gets the window as `this`: built-in ones demand it, and
  // a page's own function must not see scope, nor get it as an argument.
  const hidden = (args: readonly unknown[]): unknown[] => {
    const list: unknown[] = [];
    for (let i = 0; i < args.length; i++) defineProperty(list, i, dataProperty(disguise.hide(args[i])));
    return list;
  };
  const methodHandler: ProxyHandler<Fn> = {
    apply: (method, self, args) => apply(method, disguise.hide(self), hidden(args)),
    construct: (method, args, target) => {
      const as: unknown = disguise.hide(target);
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
      return hasOwn(locked, key) ? value : disguise.show(value);
    },
    set: (_, key, value) => (key === KEY ? keep(value) : setProperty(realWindow, key, disguise.hide(value))),
    has: (_, key) => hasProperty(owner(key), key),
    deleteProperty: (_, key) => deleteProperty(owner(key), key),
    defineProperty: (_, key, descriptor) => {
      setPrototypeOf(descriptor, null);
      if (key === KEY) return keep(descriptor.value);
      if (hasOwn(descriptor, 'value'))
        defineProperty(descriptor, 'value', dataProperty(disguise.hide(descriptor.value)));
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
        defineProperty(found, 'value', dataProperty(disguise.show(found.value)));
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

/** noteLocked copies a property that the adapter has just locked to the proxy's target, as the rules for proxies demand. */
function noteLocked(locked: object, key: PropertyKey): void {
  const now = getOwnPropertyDescriptor(realWindow, key);
  if (now?.configurable !== false) return;
  setPrototypeOf(now, null);
  defineProperty(locked, key, now);
}

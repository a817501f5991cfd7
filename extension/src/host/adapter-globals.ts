import type { Logs } from './logs.ts';
import {
  apply,
  bare,
  dataProperty,
  defineProperty,
  isFn,
  isObject,
  lookup,
  NativeTypeError,
  setPrototypeOf,
} from './primordials.ts';
import { withPristineBuiltIns } from './pristine.ts';
import type { Timers } from './timers.ts';

// What adapters expect in `__openTabs` beside their own registry. The words are
// those of the existing plugin format; what the page could once hear or say by
// them goes over the private channel now, so the nonces guard nothing.

/** Services are what an adapter gets of its host through `__openTabs`. */
export interface Services {
  readonly plugin: string;
  /** config are the plugin's settings. */
  readonly config: object;
  readonly logs: Logs;
  /** timers keep their time in a hidden page. */
  readonly timers: Timers;
  /** readinessChanged is called when the adapter says that isReady() may have changed its answer. */
  readinessChanged(): void;
}

/** Carried are the parts of `__openTabs` that outlive the adapter that made them. */
const Carried = ['preScript', 'tokenCache'];

/** makeAdapterGlobals returns a new `__openTabs`, with what a former one of the same document had kept. */
export function makeAdapterGlobals(services: Services, former?: unknown): object {
  // Nothing here has a prototype: what a page puts on Object.prototype must not look like a setting or a token cache.
  const made = bare();
  for (let i = 0; i < Carried.length; i++) {
    const key = Carried[i] ?? '';
    const kept = isObject(former) ? lookup(former, key) : undefined;
    defineProperty(made, key, dataProperty(isObject(kept) ? kept : bare()));
  }
  defineProperty(made, '_pluginName', dataProperty(services.plugin));
  // An adapter that finds none takes it that nobody listens.
  defineProperty(made, '_logNonce', dataProperty('private'));
  defineProperty(made, '_readinessNonce', dataProperty('private'));
  addAdapterGlobals(made, services);
  return made;
}

/**
 * addAdapterGlobals gives an `__openTabs` what is the host's. Adapters put an object of their own in the place of the first one, and
 * functions of their own in the place of the host's, which would tell the page: those are not kept.
 */
export function addAdapterGlobals(container: unknown, services: Services): void {
  if (!isObject(container)) return;
  const accessor = (key: string, get: () => unknown, set: (value: unknown) => void) => {
    const descriptor: PropertyDescriptor = { get, set, enumerable: true, configurable: true };
    setPrototypeOf(descriptor, null);
    defineProperty(container, key, descriptor);
  };
  accessor('pluginConfig', () => services.config, ignore);
  accessor('_withPristineBuiltIns', () => runPristine, ignore);
  accessor('_notifyReadinessChanged', () => services.readinessChanged, ignore);
  // Not part of the format: the SDK uses the page's own timers where a platform has none.
  accessor('_setTimer', () => services.timers.set, ignore);
  const transport = (given: unknown) => services.logs.take(given);
  let install: unknown = lookup(container, '_setLogTransport');
  const installed = (): unknown => {
    try {
      return isFn(install) ? apply(install, container, [transport]) : undefined;
    } catch {
      return undefined; // an adapter whose logger is broken goes without
    }
  };
  const set = () => installed() ?? ignore;
  accessor(
    '_setLogTransport',
    () => (isFn(install) ? set : undefined),
    (value) => {
      install = value;
      installed();
    },
  );
}

/** runPristine is what the SDK runs its own synchronous code by (sdk-ts/src/runtime/pristine.ts). */
function runPristine(work: unknown): void {
  if (!isFn(work)) return;
  const why = withPristineBuiltIns(
    () => {
      apply(work, undefined, []);
      return '';
    },
    (refused) => refused,
  );
  if (why !== '') throw new NativeTypeError(why);
}

function ignore(): void {
  // What an adapter says by this way has another one.
}

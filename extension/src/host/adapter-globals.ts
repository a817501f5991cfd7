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

// The properties that adapters expect in `__openTabs` beside their registry. The properties have the same names as in
// the original OpenTabs plugin format. In the original format, these properties used window messages, which a page can
// read and forge. In opentabs, the properties use the private channel, so the nonces of the original format have no
// effect.

/** Services are the functions and values of the host that an adapter uses through `__openTabs`. */
export interface Services {
  readonly plugin: string;
  /** config contains the plugin's settings. */
  readonly config: object;
  readonly logs: Logs;
  /** timers are on time in hidden pages too. */
  readonly timers: Timers;
  /** readinessChanged is called when the adapter reports that the result of isReady() may have changed. */
  readinessChanged(): void;
}

/** CarriedProperties are the properties of `__openTabs` that the next adapter of the document inherits. */
const CarriedProperties = ['preScript', 'tokenCache'];

/**
 * makeAdapterGlobals returns a new `__openTabs` with the carried properties of the previous `__openTabs` in the
 * document.
 */
export function makeAdapterGlobals(services: Services, former?: unknown): object {
  // These objects have no prototypes: a property of the page's Object.prototype must not look like a setting or a token
  // cache.
  const made = bare();
  for (let i = 0; i < CarriedProperties.length; i++) {
    const key = CarriedProperties[i] ?? '';
    const kept = isObject(former) ? lookup(former, key) : undefined;
    defineProperty(made, key, dataProperty(isObject(kept) ? kept : bare()));
  }
  defineProperty(made, '_pluginName', dataProperty(services.plugin));
  // Adapters of the original SDK send nothing without nonces.
  defineProperty(made, '_logNonce', dataProperty('private'));
  defineProperty(made, '_readinessNonce', dataProperty('private'));
  addAdapterGlobals(made, services);
  return made;
}

/**
 * addAdapterGlobals defines the host's properties in an `__openTabs`. Adapters may replace the whole object, and may
 * assign functions that would post messages to the page. The setters of these properties ignore assigned functions.
 */
export function addAdapterGlobals(container: unknown, services: Services): void {
  if (!isObject(container)) return;
  const accessor = (key: string, get: () => unknown, set: (value: unknown) => void) => {
    const descriptor: PropertyDescriptor = { get, set, enumerable: true, configurable: true };
    setPrototypeOf(descriptor, null);
    defineProperty(container, key, descriptor);
  };
  accessor('pluginConfig', () => services.config, doNothing);
  accessor('_withPristineBuiltIns', () => runPristine, doNothing);
  accessor('_notifyReadinessChanged', () => services.readinessChanged, doNothing);
  // _setTimer is not part of the original format. Without _setTimer, the SDK uses the timers of the page.
  accessor('_setTimer', () => services.timers.set, doNothing);
  const transport = (given: unknown) => services.logs.accept(given);
  let install: unknown = lookup(container, '_setLogTransport');
  const installed = (): unknown => {
    try {
      return isFn(install) ? apply(install, container, [transport]) : undefined;
    } catch {
      return undefined; // an adapter with a broken logger has no logs
    }
  };
  const set = () => installed() ?? doNothing;
  accessor(
    '_setLogTransport',
    () => (isFn(install) ? set : undefined),
    (value) => {
      install = value;
      installed();
    },
  );
}

/** runPristine runs synchronous code of the SDK with pristine built-ins (sdk-ts/src/runtime/pristine.ts). */
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

function doNothing(): void {
  // The host's accessors replace these functions of the adapter.
}

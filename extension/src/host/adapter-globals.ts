import type { HostLogs } from './logs.ts';
import {
  apply,
  dataProperty,
  defineProperty,
  isFn,
  isObject,
  lookup,
  makeBareObject,
  NativeTypeError,
  setPrototypeOf,
} from './primordials.ts';
import { withPristineBuiltIns } from './pristine.ts';
import type { AdapterTimers } from './timers.ts';

// This file defines the properties of `__openTabs` that adapters expect in addition to the registry of adapters. The
// properties of `__openTabs` have the names of the original OpenTabs plugin format. In the original plugin format, the
// functions of `__openTabs` send window messages, which the page can read and forge. In opentabs, the functions of
// `__openTabs` use a private channel and need no nonces.

/** HostServices are the host's functions and values that an adapter uses through `__openTabs`. */
export interface HostServices {
  readonly plugin: string;
  readonly config: object;
  readonly logs: HostLogs;
  /**
   * The field `timers` contains timer functions that are on time even in hidden pages, where Chrome delays page timers.
   */
  readonly timers: AdapterTimers;
  /** onReadinessChanged is called when the adapter reports that isReady() can now return another result. */
  onReadinessChanged(): void;
}

/**
 * PropertiesKeptOnReload are the properties of `__openTabs` that a hot reload copies to the next adapter in the
 * document.
 */
const PropertiesKeptOnReload = ['preScript', 'tokenCache'];

/**
 * makeAdapterGlobals returns a new `__openTabs`, with the PropertiesKeptOnReload of the document's previous
 * `__openTabs`.
 */
export function makeAdapterGlobals(hostServices: HostServices, previousGlobals?: unknown): object {
  // The objects in `__openTabs` have no prototypes, so a property of the page's Object.prototype cannot be mistaken for
  // a setting.
  const adapterGlobals = makeBareObject();
  for (let i = 0; i < PropertiesKeptOnReload.length; i++) {
    const key = PropertiesKeptOnReload[i] ?? '';
    const previousValue = isObject(previousGlobals) ? lookup(previousGlobals, key) : undefined;
    defineProperty(adapterGlobals, key, dataProperty(isObject(previousValue) ? previousValue : makeBareObject()));
  }
  defineProperty(adapterGlobals, '_pluginName', dataProperty(hostServices.plugin));
  // Adapters of the original SDK send logs and readiness only if both nonces are set, so the host sets arbitrary
  // nonces.
  defineProperty(adapterGlobals, '_logNonce', dataProperty('private'));
  defineProperty(adapterGlobals, '_readinessNonce', dataProperty('private'));
  addAdapterGlobals(adapterGlobals, hostServices);
  return adapterGlobals;
}

/**
 * An adapter can assign functions that post messages to the page, or replace the whole `__openTabs` object. If an
 * adapter assigns a function to one of the host's properties, the property's setter ignores the function.
 */
export function addAdapterGlobals(container: unknown, hostServices: HostServices): void {
  if (!isObject(container)) return;
  const defineAccessor = (key: string, get: () => unknown, setValue: (value: unknown) => void) => {
    const descriptor: PropertyDescriptor = { get, set: setValue, enumerable: true, configurable: true };
    setPrototypeOf(descriptor, null);
    defineProperty(container, key, descriptor);
  };
  defineAccessor('pluginConfig', () => hostServices.config, doNothing);
  defineAccessor('_withPristineBuiltIns', () => runWithOriginalBuiltIns, doNothing);
  defineAccessor('_notifyReadinessChanged', () => hostServices.onReadinessChanged, doNothing);
  // The original plugin format has no property _setTimer. Without _setTimer, the SDK would use the timers of the page.
  defineAccessor('_setTimer', () => hostServices.timers.set, doNothing);
  const acceptLogEntries = (logEntries: unknown) => hostServices.logs.accept(logEntries);
  let installTransport: unknown = lookup(container, '_setLogTransport');
  const callInstallTransport = (): unknown => {
    try {
      return isFn(installTransport) ? apply(installTransport, container, [acceptLogEntries]) : undefined;
    } catch {
      return undefined; // an adapter with a broken logger sends no logs
    }
  };
  const callOrDoNothing = () => callInstallTransport() ?? doNothing;
  defineAccessor(
    '_setLogTransport',
    () => (isFn(installTransport) ? callOrDoNothing : undefined),
    (value) => {
      installTransport = value;
      callInstallTransport();
    },
  );
}

/**
 * runWithOriginalBuiltIns runs synchronous code of the SDK with unmodified built-in functions
 * (sdk-ts/src/runtime/pristine.ts).
 */
function runWithOriginalBuiltIns(callback: unknown): void {
  if (!isFn(callback)) return;
  const refusalReason = withPristineBuiltIns(
    () => {
      apply(callback, undefined, []);
      return '';
    },
    (reason) => reason,
  );
  if (refusalReason !== '') throw new NativeTypeError(refusalReason);
}

function doNothing(): void {
  // doNothing is a setter that ignores its value, and an undo function that has nothing to undo.
}

import {
  apply,
  construct,
  type Fn,
  getOwnPropertyDescriptor,
  getSafeProperty,
  isFunction,
  isObject,
} from './primordials.ts';

// DOM built-ins that the SDK uses, saved when this module loads, before the page can replace them. In the simulator and
// in unit tests, some DOM classes are fakes whose prototypes have no methods and getters. For a fake class, the SDK
// looks up the method on the object at each use, so a test can define the class later.

/** Returns the method `key` of a DOM class or object, as it was when this module loaded. */
function findMethod(owner: unknown, key: string): Fn {
  const value: unknown = findDescriptor(owner, key)?.value;
  if (isFunction(value)) return value;
  return function (this: unknown, arg1?: unknown, arg2?: unknown) {
    const method = readProperty(this, key);
    return isFunction(method) ? apply(method, this, [arg1, arg2]) : undefined;
  };
}

/** Returns the getter `key` of a DOM class, as it was when this module loaded. */
function findGetter(owner: unknown, key: string): Fn {
  return (
    findDescriptor(owner, key)?.get ??
    function (this: unknown) {
      return readProperty(this, key);
    }
  );
}

function findDescriptor(owner: unknown, key: string): PropertyDescriptor | undefined {
  if (!isFunction(owner)) return undefined;
  const prototype: unknown = getOwnPropertyDescriptor(owner, 'prototype')?.value;
  return isObject(prototype) ? getOwnPropertyDescriptor(prototype, key) : undefined;
}

function readProperty(self: unknown, key: string): unknown {
  return isObject(self) ? getSafeProperty(self, key) : undefined;
}

const {
  AbortController: AbortControllerClass,
  AbortSignal: AbortSignalClass,
  DOMException: DOMExceptionClass,
  EventTarget: EventTargetClass,
} = globalThis;
const { performance: clock } = globalThis;
const exceptionMessage = findGetter(DOMExceptionClass, 'message');
const abortMethod = findMethod(AbortControllerClass, 'abort');
const signalGetter = findGetter(AbortControllerClass, 'signal');
const abortedGetter = findGetter(AbortSignalClass, 'aborted');
const reasonGetter = findGetter(AbortSignalClass, 'reason');
const addEventListener = findMethod(EventTargetClass, 'addEventListener');
const performanceNow: unknown = clock?.now;

/** Returns the value of `performance.now()` in milliseconds, or 0 where `performance` is not defined. */
export function readElapsedMs(): number {
  if (!isFunction(performanceNow)) return globalThis.performance?.now() ?? 0;
  const time: unknown = apply(performanceNow, clock, []);
  return typeof time === 'number' ? time : 0;
}

/** Returns the message of a DOMException, or undefined for any other value. */
export function readExceptionMessage(error: unknown): unknown {
  try {
    return apply(exceptionMessage, error, []);
  } catch {
    return undefined;
  }
}

/** Returns a new AbortController, even if the page has replaced the class. */
export function makeController(): AbortController {
  return construct(AbortControllerClass ?? globalThis.AbortController, []);
}

export function readSignal(controller: AbortController): AbortSignal {
  const signal = apply(signalGetter, controller, []);
  return isSignal(signal) ? signal : controller.signal;
}

export function abortController(controller: AbortController, reason: unknown): void {
  apply(abortMethod, controller, [reason]);
}

/** Reads `signal.aborted` with the original getter, which the page cannot have replaced. */
export function isAborted(signal: AbortSignal): boolean {
  return apply(abortedGetter, signal, []) === true;
}

/** Reads `signal.reason` with the original getter, which the page cannot have replaced. */
export function readAbortReason(signal: AbortSignal): unknown {
  return apply(reasonGetter, signal, []);
}

export function addListener(target: EventTarget, type: string, listener: () => void): void {
  apply(addEventListener, target, [type, listener]);
}

/**
 * Reports whether `value` is an AbortSignal of this page's realm, even if the page has replaced the class AbortSignal.
 */
export function isSignal(value: unknown): value is AbortSignal {
  try {
    return typeof apply(abortedGetter, value, []) === 'boolean';
  } catch {
    return false;
  }
}

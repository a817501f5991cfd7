import {
  apply,
  construct,
  type Fn,
  getOwnPropertyDescriptor,
  getSafeProperty,
  isFunction,
  isObject,
} from './primordials.ts';

// The SDK saves DOM built-ins when this module loads, before the page can replace them. For fake DOM classes in tests,
// the SDK looks up a method at each use, so a test can define the class later.

function findMethod(ownerObject: unknown, key: string): Fn {
  const value: unknown = findDescriptor(ownerObject, key)?.value;
  if (isFunction(value)) return value;
  return function (this: unknown, arg1?: unknown, arg2?: unknown) {
    const method = readProperty(this, key);
    return isFunction(method) ? apply(method, this, [arg1, arg2]) : undefined;
  };
}

function findGetter(ownerObject: unknown, key: string): Fn {
  return (
    findDescriptor(ownerObject, key)?.get ??
    function (this: unknown) {
      return readProperty(this, key);
    }
  );
}

function findDescriptor(ownerObject: unknown, key: string): PropertyDescriptor | undefined {
  if (!isFunction(ownerObject)) return undefined;
  const prototype: unknown = getOwnPropertyDescriptor(ownerObject, 'prototype')?.value;
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

export function readElapsedMs(): number {
  if (!isFunction(performanceNow)) return globalThis.performance?.now() ?? 0;
  const time: unknown = apply(performanceNow, clock, []);
  return typeof time === 'number' ? time : 0;
}

export function readExceptionMessage(error: unknown): unknown {
  try {
    return apply(exceptionMessage, error, []);
  } catch {
    return undefined;
  }
}

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

export function isAborted(signal: AbortSignal): boolean {
  return apply(abortedGetter, signal, []) === true;
}

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

import { apply, construct, type Fn, getOwnPropertyDescriptor, isFunction, isObject, lookup } from './primordials.ts';

// DOM built-ins that the SDK uses. The DOM built-ins are stored when this module loads, as primordials.ts stores the
// language built-ins. Without a page, as in the simulator and in unit tests, some classes are fakes whose prototypes
// have no methods and getters. With fake classes, the SDK reads methods and properties from the object at each use, so
// a test can define classes later.

/** Returns the method `key` of a class of the page. */
function methodOf(owner: unknown, key: string): Fn {
  const value: unknown = descriptorOf(owner, key)?.value;
  if (isFunction(value)) return value;
  return function (this: unknown, arg1?: unknown, arg2?: unknown) {
    const method = readProperty(this, key);
    return isFunction(method) ? apply(method, this, [arg1, arg2]) : undefined;
  };
}

/** Returns the getter `key` of a class of the page. */
function getterOf(owner: unknown, key: string): Fn {
  return (
    descriptorOf(owner, key)?.get ??
    function (this: unknown) {
      return readProperty(this, key);
    }
  );
}

function descriptorOf(owner: unknown, key: string): PropertyDescriptor | undefined {
  if (!isFunction(owner)) return undefined;
  const prototype: unknown = getOwnPropertyDescriptor(owner, 'prototype')?.value;
  return isObject(prototype) ? getOwnPropertyDescriptor(prototype, key) : undefined;
}

function readProperty(self: unknown, key: string): unknown {
  return isObject(self) ? lookup(self, key) : undefined;
}

const {
  AbortController: AbortControllerClass,
  AbortSignal: AbortSignalClass,
  DOMException: DOMExceptionClass,
  EventTarget: EventTargetClass,
} = globalThis;
const { performance: clock } = globalThis;
const exceptionMessage = getterOf(DOMExceptionClass, 'message');
const abortMethod = methodOf(AbortControllerClass, 'abort');
const signalGetter = getterOf(AbortControllerClass, 'signal');
const abortedGetter = getterOf(AbortSignalClass, 'aborted');
const reasonGetter = getterOf(AbortSignalClass, 'reason');
const addEventListener = methodOf(EventTargetClass, 'addEventListener');
const performanceNow: unknown = clock?.now;

/** Returns the time since the start of the document, in milliseconds; 0 without a page. */
export function elapsedMs(): number {
  if (!isFunction(performanceNow)) return globalThis.performance?.now() ?? 0;
  const time: unknown = apply(performanceNow, clock, []);
  return typeof time === 'number' ? time : 0;
}

/** Returns the message of a DOMException; undefined for any other value. */
export function messageOfException(error: unknown): unknown {
  try {
    return apply(exceptionMessage, error, []);
  } catch {
    return undefined;
  }
}

/** Returns a new AbortController. */
export function makeController(): AbortController {
  return construct(AbortControllerClass ?? globalThis.AbortController, []);
}

export function signalOf(controller: AbortController): AbortSignal {
  const signal = apply(signalGetter, controller, []);
  return isSignal(signal) ? signal : controller.signal;
}

export function abortController(controller: AbortController, reason: unknown): void {
  apply(abortMethod, controller, [reason]);
}

/** Reports whether a signal has aborted. */
export function isAborted(signal: AbortSignal): boolean {
  return apply(abortedGetter, signal, []) === true;
}

/** Returns the reason of a signal that has aborted. */
export function reasonOf(signal: AbortSignal): unknown {
  return apply(reasonGetter, signal, []);
}

export function addListener(target: EventTarget, type: string, listener: () => void): void {
  apply(addEventListener, target, [type, listener]);
}

/** Reports whether value is an AbortSignal of this page, even if the page has replaced the class. */
export function isSignal(value: unknown): value is AbortSignal {
  try {
    return typeof apply(abortedGetter, value, []) === 'boolean';
  } catch {
    return false;
  }
}

import type { Clock } from './clock.ts';

// The classes in this file simulate event targets, abort signals and message channels, because the JavaScript engine
// QuickJS has none.

export class FakeEvent {
  readonly type: string;
  readonly detail: unknown;
  readonly data: unknown;
  readonly bubbles: boolean;
  readonly cancelable: boolean;
  target: unknown = null;
  currentTarget: unknown = null;
  defaultPrevented = false;
  isStopped = false;

  constructor(type: string, eventInit: Readonly<Record<string, unknown>> = {}) {
    this.type = type;
    this.detail = eventInit.detail ?? null;
    this.data = eventInit.data ?? null;
    this.bubbles = eventInit.bubbles === true;
    this.cancelable = eventInit.cancelable === true;
  }

  preventDefault(): void {
    this.defaultPrevented = this.cancelable;
  }

  stopPropagation(): void {
    this.isStopped = true;
  }

  stopImmediatePropagation(): void {
    this.isStopped = true;
  }
}

type Listener = ((event: FakeEvent) => void) | { handleEvent(event: FakeEvent): void };

interface ListenerOptions {
  once?: boolean;
  signal?: FakeAbortSignal;
}

interface RegisteredListener {
  readonly listener: Listener;
  readonly once: boolean;
}

export class FakeEventTarget {
  readonly #listeners = new Map<string, RegisteredListener[]>();

  addEventListener(type: string, listener: Listener | null, options: ListenerOptions | boolean = {}): void {
    if (!listener) return;
    const { once = false, signal = undefined } = typeof options === 'object' ? options : {};
    if (signal?.aborted) return;
    const listenersOfType = this.#listeners.get(type) ?? [];
    if (listenersOfType.some((entry) => entry.listener === listener)) return;
    this.#listeners.set(type, [...listenersOfType, { listener, once }]);
    signal?.addEventListener('abort', () => this.removeEventListener(type, listener), { once: true });
  }

  removeEventListener(type: string, listener: Listener | null): void {
    const listenersOfType = this.#listeners.get(type) ?? [];
    this.#listeners.set(
      type,
      listenersOfType.filter((entry) => entry.listener !== listener),
    );
  }

  dispatchEvent(event: FakeEvent): boolean {
    event.target ??= this;
    event.currentTarget = this;
    for (const { listener, once } of this.#listeners.get(event.type) ?? []) {
      if (once) this.removeEventListener(event.type, listener);
      if (typeof listener === 'function') Reflect.apply(listener, this, [event]);
      else listener.handleEvent(event);
    }
    return !event.defaultPrevented;
  }
}

const exceptionCodes: Readonly<Record<string, number>> = {
  AbortError: 20,
  TimeoutError: 23,
  DataCloneError: 25,
  SyntaxError: 12,
};

export class FakeDOMException extends Error {
  readonly code: number;

  constructor(message = '', name = 'Error') {
    super(message);
    this.name = name;
    this.code = exceptionCodes[name] ?? 0;
  }
}

export class FakeAbortSignal extends FakeEventTarget {
  aborted = false;
  reason: unknown;
  onabort: ((event: FakeEvent) => void) | null = null;

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  static abort(reason?: unknown): FakeAbortSignal {
    const signal = new FakeAbortSignal();
    abortSignal(signal, reason);
    return signal;
  }

  static any(abortSignals: Iterable<FakeAbortSignal>): FakeAbortSignal {
    const combinedSignal = new FakeAbortSignal();
    for (const signal of abortSignals) {
      if (signal.aborted) abortSignal(combinedSignal, signal.reason);
      else signal.addEventListener('abort', () => abortSignal(combinedSignal, signal.reason), { once: true });
    }
    return combinedSignal;
  }
}

function abortSignal(signal: FakeAbortSignal, reason: unknown): void {
  if (signal.aborted) return;
  signal.aborted = true;
  signal.reason = reason ?? new FakeDOMException('signal is aborted without reason', 'AbortError');
  const event = new FakeEvent('abort');
  signal.onabort?.(event);
  signal.dispatchEvent(event);
}

export class FakeAbortController {
  readonly signal = new FakeAbortSignal();

  abort(reason?: unknown): void {
    abortSignal(this.signal, reason);
  }
}

export function makeSignalClass(clock: Clock): typeof FakeAbortSignal {
  return class extends FakeAbortSignal {
    static timeout(ms: number): FakeAbortSignal {
      const signal = new FakeAbortSignal();
      clock.setTimer(() => abortSignal(signal, new FakeDOMException('signal timed out', 'TimeoutError')), ms);
      return signal;
    }
  };
}

export function makeChannelClass(clock: Clock): new () => { port1: FakeMessagePort; port2: FakeMessagePort } {
  return class {
    readonly port1 = new FakeMessagePort(clock);
    readonly port2 = new FakeMessagePort(clock);

    constructor() {
      this.port1.peerPort = this.port2;
      this.port2.peerPort = this.port1;
    }
  };
}

export class FakeMessagePort extends FakeEventTarget {
  onmessage: ((event: FakeEvent) => void) | null = null;
  peerPort: FakeMessagePort | undefined;
  #isClosed = false;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
  }

  postMessage(data: unknown): void {
    const { peerPort } = this;
    this.#clock.setTimer(() => peerPort?.receive(new FakeEvent('message', { data })), 0);
  }

  receive(event: FakeEvent): void {
    if (this.#isClosed) return;
    this.onmessage?.(event);
    this.dispatchEvent(event);
  }

  start(): void {}

  close(): void {
    this.#isClosed = true;
  }
}

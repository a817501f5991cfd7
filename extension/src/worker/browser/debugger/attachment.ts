import type { Fields } from '../../../record.ts';
import type { ToolFailure } from '../tool-failure.ts';
import type { Feature } from './features.ts';

/**
 * EventListener receives the debugger events of an attached tab. childId is the ID of the child target that sent
 * the event, or empty for the tab itself.
 */
export type EventListener = (method: string, params: Fields, childId: string) => void;

/** ChildTarget is a cross-site frame or a worker of a tab to which the debugger is attached. */
export interface ChildTarget {
  /** id identifies the child target in debugger commands and events. */
  readonly id: string;
  /** kind is Chrome's name of the kind of target, such as iframe, worker or service_worker. */
  readonly kind: string;
  /** targetId is Chrome's ID of the target; the targetId of a frame is also its frame ID. */
  readonly targetId: string;
  readonly url: string;
}

/** ChildListener receives each child target to which the debugger has just been attached. */
export type ChildListener = (child: ChildTarget) => Promise<void>;

/** Attachment is the debugger of one tab, with the tools that use it. */
export class Attachment {
  isAttached = false;
  isLost = false;
  /** lost rejects when the debugger leaves the tab while tools use it. */
  readonly lost: Promise<never>;
  readonly #stopWatching: () => void;
  readonly #counts = new Map<Feature, number>();
  readonly #listeners = new Set<EventListener>();
  readonly #children = new Map<string, ChildTarget>();
  readonly #childListeners = new Set<ChildListener>();
  #rejectLost: (reason: ToolFailure) => void = () => undefined;
  #users = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** #last is the last work in the queue. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(stopWatching: () => void) {
    this.#stopWatching = stopWatching;
    this.lost = new Promise((_, reject) => {
      this.#rejectLost = reject;
    });
    this.lost.catch(() => undefined);
  }

  get users(): number {
    return this.#users;
  }

  addUser(): void {
    this.#users++;
    clearTimeout(this.#timer);
  }

  /** removeUser calls onIdle after lingerMs without a user. */
  removeUser(lingerMs: number, onIdle: () => void): void {
    this.#users--;
    if (this.#users === 0 && !this.isLost) this.#timer = setTimeout(onIdle, lingerMs);
  }

  /** enqueue runs work after all earlier work in the queue. */
  enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** countUp returns the number of users of a feature, with the new one. */
  countUp(feature: Feature): number {
    const count = (this.#counts.get(feature) ?? 0) + 1;
    this.#counts.set(feature, count);
    return count;
  }

  countDown(feature: Feature): number {
    const count = Math.max(0, (this.#counts.get(feature) ?? 0) - 1);
    this.#counts.set(feature, count);
    return count;
  }

  emit(method: string, params: Fields, childId: string): void {
    for (const listener of this.#listeners) listener(method, params, childId);
  }

  onEvent(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** addChild reports a new child target to all listeners. */
  addChild(child: ChildTarget): void {
    this.#children.set(child.id, child);
    for (const listener of this.#childListeners) listener(child).catch(() => undefined);
  }

  removeChild(id: string): void {
    this.#children.delete(id);
  }

  /** onChild calls the listener for each present and each new child target, until the returned function is called. */
  onChild(listener: ChildListener): () => void {
    this.#childListeners.add(listener);
    for (const child of this.#children.values()) listener(child).catch(() => undefined);
    return () => this.#childListeners.delete(listener);
  }

  /** watchChildren is like onChild, and waits until the listener has ended for the present child targets. */
  async watchChildren(listener: ChildListener): Promise<() => void> {
    this.#childListeners.add(listener);
    await Promise.allSettled([...this.#children.values()].map((child) => listener(child)));
    return () => this.#childListeners.delete(listener);
  }

  /** lose ends all tools that use the debugger. */
  lose(failure: ToolFailure): void {
    this.isLost = true;
    this.#rejectLost(failure);
  }

  /** close ends the timer and the watch of the tab. */
  close(): void {
    this.isLost = true;
    clearTimeout(this.#timer);
    this.#stopWatching();
  }
}

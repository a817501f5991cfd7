import type { Fields } from '../../../record.ts';
import type { ToolFailure } from '../tool-failure.ts';
import type { DebuggerFeature } from './features.ts';

/**
 * childId is the debugger's session ID of the child target that sent the event, or an empty string for the tab itself.
 */
export type EventListener = (method: string, params: Fields, childId: string) => void;

/** ChildTarget is a cross-site frame or a worker to which the debugger of a tab is attached. */
export interface ChildTarget {
  /** The field `id` is the debugger's session ID of the child target in commands and events. */
  readonly id: string;
  /** The field `kind` is Chrome's name for the type of target, such as iframe, worker or service_worker. */
  readonly kind: string;
  /** For a frame, targetId equals the frame ID. */
  readonly targetId: string;
  readonly url: string;
}

export type ChildListener = (child: ChildTarget) => Promise<void>;

/** Attachment is the debugger connection to one tab, which several tools can share. */
export class Attachment {
  isAttached = false;
  isDetached = false;
  /**
   * The field `detachedPromise` is a promise that rejects when the debugger is detached from the tab while tools use
   * the debugger.
   */
  readonly detachedPromise: Promise<never>;
  readonly #stopWatching: () => void;
  readonly #featureUserCounts = new Map<DebuggerFeature, number>();
  readonly #listeners = new Set<EventListener>();
  readonly #children = new Map<string, ChildTarget>();
  readonly #childListeners = new Set<ChildListener>();
  #rejectDetached: (reason: ToolFailure) => void = () => undefined;
  #userCount = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastTask: Promise<unknown> = Promise.resolve();

  constructor(stopWatching: () => void) {
    this.#stopWatching = stopWatching;
    this.detachedPromise = new Promise((_, reject) => {
      this.#rejectDetached = reject;
    });
    this.detachedPromise.catch(() => undefined);
  }

  get userCount(): number {
    return this.#userCount;
  }

  addUser(): void {
    this.#userCount++;
    clearTimeout(this.#timer);
  }

  /** onIdle runs after no tool has used the debugger for idleDelayMs milliseconds. */
  removeUser(idleDelayMs: number, onIdle: () => void): void {
    this.#userCount--;
    if (this.#userCount === 0 && !this.isDetached) this.#timer = setTimeout(onIdle, idleDelayMs);
  }

  /** The method `enqueue` runs `queuedWork` after all earlier queued work has ended. */
  enqueue<T>(queuedWork: () => Promise<T>): Promise<T> {
    const result = this.#lastTask.then(queuedWork);
    this.#lastTask = result.catch(() => undefined);
    return result;
  }

  addFeatureUser(feature: DebuggerFeature): number {
    const count = (this.#featureUserCounts.get(feature) ?? 0) + 1;
    this.#featureUserCounts.set(feature, count);
    return count;
  }

  removeFeatureUser(feature: DebuggerFeature): number {
    const count = Math.max(0, (this.#featureUserCounts.get(feature) ?? 0) - 1);
    this.#featureUserCounts.set(feature, count);
    return count;
  }

  emitEvent(method: string, params: Fields, childId: string): void {
    for (const listener of this.#listeners) listener(method, params, childId);
  }

  onEvent(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  addChild(child: ChildTarget): void {
    this.#children.set(child.id, child);
    for (const listener of this.#childListeners) listener(child).catch(() => undefined);
  }

  removeChild(id: string): void {
    this.#children.delete(id);
  }

  /** onChildTarget calls a listener for each current and future child target, until the returned function is called. */
  onChildTarget(listener: ChildListener): () => void {
    this.#childListeners.add(listener);
    for (const child of this.#children.values()) listener(child).catch(() => undefined);
    return () => this.#childListeners.delete(listener);
  }

  /** watchChildren resolves when the listener has handled all current child targets. */
  async watchChildren(listener: ChildListener): Promise<() => void> {
    this.#childListeners.add(listener);
    await Promise.allSettled([...this.#children.values()].map((child) => listener(child)));
    return () => this.#childListeners.delete(listener);
  }

  markDetached(failure: ToolFailure): void {
    this.isDetached = true;
    this.#rejectDetached(failure);
  }

  close(): void {
    this.isDetached = true;
    clearTimeout(this.#timer);
    this.#stopWatching();
  }
}

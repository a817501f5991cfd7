import type { Fields } from '../../../record.ts';
import type { ToolFailure } from '../tool-failure.ts';
import type { Feature } from './features.ts';

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
  isLost = false;
  /**
   * The field `lost` is a promise that rejects when the debugger is detached from the tab while tools use the debugger.
   */
  readonly lost: Promise<never>;
  readonly #stopWatching: () => void;
  readonly #featureUserCounts = new Map<Feature, number>();
  readonly #listeners = new Set<EventListener>();
  readonly #children = new Map<string, ChildTarget>();
  readonly #childListeners = new Set<ChildListener>();
  #rejectLost: (reason: ToolFailure) => void = () => undefined;
  #users = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastTask: Promise<unknown> = Promise.resolve();

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

  /** onIdle runs when the debugger has had no user for lingerMs milliseconds. */
  removeUser(lingerMs: number, onIdle: () => void): void {
    this.#users--;
    if (this.#users === 0 && !this.isLost) this.#timer = setTimeout(onIdle, lingerMs);
  }

  /** enqueue runs work after all previously queued work has ended. */
  enqueue<T>(queuedWork: () => Promise<T>): Promise<T> {
    const result = this.#lastTask.then(queuedWork);
    this.#lastTask = result.catch(() => undefined);
    return result;
  }

  addFeatureUser(feature: Feature): number {
    const count = (this.#featureUserCounts.get(feature) ?? 0) + 1;
    this.#featureUserCounts.set(feature, count);
    return count;
  }

  removeFeatureUser(feature: Feature): number {
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

  /** onChild calls a listener for each current and future child target, until the returned function is called. */
  onChild(listener: ChildListener): () => void {
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

  markLost(failure: ToolFailure): void {
    this.isLost = true;
    this.#rejectLost(failure);
  }

  close(): void {
    this.isLost = true;
    clearTimeout(this.#timer);
    this.#stopWatching();
  }
}

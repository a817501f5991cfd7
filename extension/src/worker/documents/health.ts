import { Signal } from '../signal.ts';
import type { Doc } from './docs.ts';

/**
 * SilenceLimitMs is how long a document may take to answer a ping before the document counts as silent, in
 * milliseconds.
 */
const SilenceLimitMs = 5000;
/** PingIntervalMs is how long after its last message a document with running calls is pinged again, in milliseconds. */
const PingIntervalMs = 1000;
/** SleepDelayMs is the timer delay that shows that the machine or browser was asleep, in milliseconds. */
const SleepDelayMs = 2000;

export interface HealthOptions {
  /** isBusy reports whether calls run in a document. */
  isBusy(documentId: string): boolean;
  /** isFrozen reports whether Chrome has frozen a tab. A frozen page runs no code until the user shows the tab. */
  isFrozen(tabId: number): Promise<boolean>;
}

/** DocumentHealth is the state of one document. */
interface DocumentHealth {
  doc: Doc;
  lastMessageAt: number;
  lastPing: number;
  answeredPing: number;
  isSilent: boolean;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** onAnswer are the functions to call at the next answer of the document. */
  onAnswer: (() => void)[];
}

/**
 * Health detects documents whose page does not answer because a script blocks its main thread. The bridge runs on the
 * main thread of the page, so a blocked thread cannot answer pings. Only documents with running calls are pinged.
 */
export class Health {
  /** changed reports a document that stops answering, or answers again. */
  readonly changed = new Signal<[doc: Doc]>();
  readonly #options: HealthOptions;
  readonly #documents = new Map<string, DocumentHealth>();

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /**
   * prepareCall records that a call is about to be sent. prepareCall returns the number of the ping that precedes the
   * call, or 0 if the call needs no ping.
   */
  prepareCall(doc: Doc): number {
    const health = this.#healthOf(doc);
    if (health.lastPing > health.answeredPing) return health.lastPing;
    if (Date.now() - health.lastMessageAt < PingIntervalMs) {
      this.#schedulePing(health);
      return 0;
    }
    this.#ping(health);
    return health.lastPing;
  }

  /** answersWithin pings a document and resolves with whether the document answered within a time limit. */
  answersWithin(doc: Doc, withinMs: number): Promise<boolean> {
    const health = this.#healthOf(doc);
    this.#ping(health);
    return new Promise((resolve) => {
      setTimeout(() => resolve(false), withinMs);
      health.onAnswer.push(() => resolve(true));
    });
  }

  /**
   * hasAnswered reports whether a document has answered a ping. If the ping was answered, a call that was sent right
   * after the ping has also arrived.
   */
  hasAnswered(documentId: string, ping: number): boolean {
    return ping <= (this.#documents.get(documentId)?.answeredPing ?? 0);
  }

  /** recordMessage records a message from a document. ping is the number of the ping that the message answers. */
  recordMessage(doc: Doc, ping?: number): void {
    const health = this.#healthOf(doc);
    health.lastMessageAt = Date.now();
    if (ping === undefined || ping <= health.answeredPing || ping > health.lastPing) return;
    health.answeredPing = ping;
    for (const callback of health.onAnswer.splice(0)) callback();
    this.#stopTimer(health);
    this.#schedulePing(health);
    if (!health.isSilent) return;
    health.isSilent = false;
    this.changed.emit(doc);
  }

  /** documentConnected records a new port of a document. Messages on the previous port may or may not have arrived. */
  documentConnected(doc: Doc): void {
    const health = this.#healthOf(doc);
    this.#stopTimer(health);
    health.lastMessageAt = Date.now();
    health.answeredPing = health.lastPing;
    health.isSilent = false;
    this.#schedulePing(health);
  }

  /** documentDisconnected drops the state of a document whose port closed. */
  documentDisconnected(documentId: string): void {
    clearTimeout(this.#documents.get(documentId)?.timer);
    this.#documents.delete(documentId);
  }

  /** isSilent reports whether a document did not answer a ping in time. */
  isSilent(documentId: string): boolean {
    return this.#documents.get(documentId)?.isSilent === true;
  }

  #healthOf(doc: Doc): DocumentHealth {
    const knownHealth = this.#documents.get(doc.documentId);
    if (knownHealth) {
      knownHealth.doc = doc;
      return knownHealth;
    }
    const heardAt = Date.now();
    const newHealth: DocumentHealth = {
      doc,
      lastMessageAt: heardAt,
      lastPing: 0,
      answeredPing: 0,
      isSilent: false,
      timer: undefined,
      onAnswer: [],
    };
    this.#documents.set(doc.documentId, newHealth);
    return newHealth;
  }

  #isCurrent(health: DocumentHealth): boolean {
    return this.#documents.get(health.doc.documentId) === health;
  }

  #ping(health: DocumentHealth): void {
    if (health.lastPing > health.answeredPing) return;
    health.lastPing++;
    health.doc.post({ op: 'ping', ping: health.lastPing });
    this.#expectAnswer(health);
  }

  #stopTimer(health: DocumentHealth): void {
    clearTimeout(health.timer);
    health.timer = undefined;
  }

  #expectAnswer(health: DocumentHealth): void {
    const dueAt = Date.now() + SilenceLimitMs;
    this.#stopTimer(health);
    health.timer = setTimeout(() => void this.#markSilent(health, dueAt), SilenceLimitMs);
  }

  /** markSilent marks a document as silent, unless Chrome froze the document or the machine was asleep. */
  async #markSilent(health: DocumentHealth, dueAt: number): Promise<void> {
    const ping = health.lastPing;
    const isFrozen = await this.#options.isFrozen(health.doc.tabId).catch(() => true);
    if (!this.#isCurrent(health) || health.answeredPing >= ping || health.isSilent) return;
    if (isFrozen || Date.now() > dueAt + SleepDelayMs) {
      this.#expectAnswer(health);
      return;
    }
    health.isSilent = true;
    this.changed.emit(health.doc);
  }

  /**
   * schedulePing pings a document at intervals while calls run in the document. A timer that is already set is not
   * replaced, because each call would postpone the ping.
   */
  #schedulePing(health: DocumentHealth, delayMs = PingIntervalMs): void {
    health.timer ??= setTimeout(() => {
      health.timer = undefined;
      if (!this.#isCurrent(health) || !this.#options.isBusy(health.doc.documentId)) return;
      const quietMs = Date.now() - health.lastMessageAt;
      if (quietMs >= PingIntervalMs) this.#ping(health);
      else this.#schedulePing(health, PingIntervalMs - quietMs);
    }, delayMs);
  }
}

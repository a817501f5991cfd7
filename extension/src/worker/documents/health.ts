import { Signal } from '../signal.ts';
import type { Doc } from './docs.ts';

/**
 * DocumentSilenceLimitMs is how long a document may take to answer a ping before the document counts as unresponsive,
 * in milliseconds.
 */
const DocumentSilenceLimitMs = 5000;
/** PingIntervalMs is how long after the last message of a document the worker sends a ping, in milliseconds. */
const PingIntervalMs = 1000;
/**
 * SleepThresholdMs is how late a timer must fire, in milliseconds, to prove that the machine or the browser was asleep.
 */
const SleepThresholdMs = 2000;

export interface HealthOptions {
  isBusy(documentId: string): boolean;
  /** isFrozen reports whether Chrome has frozen a tab. A frozen page runs no code until the user activates the tab. */
  isFrozen(tabId: number): Promise<boolean>;
}

interface DocumentHealth {
  doc: Doc;
  lastMessageAt: number;
  lastPingNumber: number;
  answeredPingNumber: number;
  isSilent: boolean;
  timer: ReturnType<typeof setTimeout> | undefined;
  onAnswer: (() => void)[];
}

/**
 * HealthMonitor detects unresponsive documents, whose main thread is blocked by a script. Because the bridge runs on
 * the page's main thread, a blocked page cannot answer pings. Health pings only documents with running calls.
 */
export class HealthMonitor {
  /** The signal `changed` fires with a document that stops answering pings, or answers again. */
  readonly changed = new Signal<[doc: Doc]>();
  readonly #options: HealthOptions;
  readonly #documents = new Map<string, DocumentHealth>();

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /**
   * prepareCall returns the number of the ping that precedes the call, or 0 if the document has answered recently
   * enough.
   */
  prepareCall(doc: Doc): number {
    const health = this.#getOrCreateHealth(doc);
    if (health.lastPingNumber > health.answeredPingNumber) return health.lastPingNumber;
    if (Date.now() - health.lastMessageAt < PingIntervalMs) {
      this.#schedulePing(health);
      return 0;
    }
    this.#ping(health);
    return health.lastPingNumber;
  }

  waitForAnswer(doc: Doc, timeoutMs: number): Promise<boolean> {
    const health = this.#getOrCreateHealth(doc);
    this.#ping(health);
    return new Promise((resolve) => {
      setTimeout(() => resolve(false), timeoutMs);
      health.onAnswer.push(() => resolve(true));
    });
  }

  /** The worker sends a ping and then the call, so an answered ping proves that the call has arrived. */
  hasAnswered(documentId: string, pingNumber: number): boolean {
    return pingNumber <= (this.#documents.get(documentId)?.answeredPingNumber ?? 0);
  }

  /** If the message answers a ping, the parameter `pingNumber` is the number of the ping. */
  recordMessage(doc: Doc, pingNumber?: number): void {
    const health = this.#getOrCreateHealth(doc);
    health.lastMessageAt = Date.now();
    if (pingNumber === undefined || pingNumber <= health.answeredPingNumber || pingNumber > health.lastPingNumber)
      return;
    health.answeredPingNumber = pingNumber;
    for (const callback of health.onAnswer.splice(0)) callback();
    this.#stopTimer(health);
    this.#schedulePing(health);
    if (!health.isSilent) return;
    health.isSilent = false;
    this.changed.emit(doc);
  }

  /**
   * onDocumentConnected must be called when a document opens a new port, because messages on the previous port can be
   * lost.
   */
  onDocumentConnected(doc: Doc): void {
    const health = this.#getOrCreateHealth(doc);
    this.#stopTimer(health);
    health.lastMessageAt = Date.now();
    health.answeredPingNumber = health.lastPingNumber;
    health.isSilent = false;
    this.#schedulePing(health);
  }

  onDocumentDisconnected(documentId: string): void {
    clearTimeout(this.#documents.get(documentId)?.timer);
    this.#documents.delete(documentId);
  }

  isSilent(documentId: string): boolean {
    return this.#documents.get(documentId)?.isSilent === true;
  }

  #getOrCreateHealth(doc: Doc): DocumentHealth {
    const knownHealth = this.#documents.get(doc.documentId);
    if (knownHealth) {
      knownHealth.doc = doc;
      return knownHealth;
    }
    const receivedAtMs = Date.now();
    const newHealth: DocumentHealth = {
      doc,
      lastMessageAt: receivedAtMs,
      lastPingNumber: 0,
      answeredPingNumber: 0,
      isSilent: false,
      timer: undefined,
      onAnswer: [],
    };
    this.#documents.set(doc.documentId, newHealth);
    return newHealth;
  }

  #isCurrentDocument(health: DocumentHealth): boolean {
    return this.#documents.get(health.doc.documentId) === health;
  }

  #ping(health: DocumentHealth): void {
    if (health.lastPingNumber > health.answeredPingNumber) return;
    health.lastPingNumber++;
    health.doc.post({ op: 'ping', ping: health.lastPingNumber });
    this.#expectPingAnswer(health);
  }

  #stopTimer(health: DocumentHealth): void {
    clearTimeout(health.timer);
    health.timer = undefined;
  }

  #expectPingAnswer(health: DocumentHealth): void {
    const dueAtMs = Date.now() + DocumentSilenceLimitMs;
    this.#stopTimer(health);
    health.timer = setTimeout(() => void this.#markSilent(health, dueAtMs), DocumentSilenceLimitMs);
  }

  /** markSilent marks a document as unresponsive, unless Chrome has frozen the document or the machine was asleep. */
  async #markSilent(health: DocumentHealth, dueAtMs: number): Promise<void> {
    const pingNumber = health.lastPingNumber;
    const isFrozen = await this.#options.isFrozen(health.doc.tabId).catch(() => true);
    if (!this.#isCurrentDocument(health) || health.answeredPingNumber >= pingNumber || health.isSilent) return;
    if (isFrozen || Date.now() > dueAtMs + SleepThresholdMs) {
      this.#expectPingAnswer(health);
      return;
    }
    health.isSilent = true;
    this.changed.emit(health.doc);
  }

  /** Do not replace a running timer, because frequent calls would postpone the ping forever. */
  #schedulePing(health: DocumentHealth, delayMs = PingIntervalMs): void {
    health.timer ??= setTimeout(() => {
      health.timer = undefined;
      if (!this.#isCurrentDocument(health) || !this.#options.isBusy(health.doc.documentId)) return;
      const sinceMessageMs = Date.now() - health.lastMessageAt;
      if (sinceMessageMs >= PingIntervalMs) this.#ping(health);
      else this.#schedulePing(health, PingIntervalMs - sinceMessageMs);
    }, delayMs);
  }
}

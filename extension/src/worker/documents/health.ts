import { Signal } from '../signal.ts';
import type { Doc } from './docs.ts';

/** SilentMs is how long a document may take to answer a ping before it counts as silent, in milliseconds. */
const SilentMs = 5000;
/** AgainMs is how long after its last message a document with running calls is pinged again, in milliseconds. */
const AgainMs = 1000;
/** LateMs is the timer delay that shows that the machine or browser was asleep, in milliseconds. */
const LateMs = 2000;

export interface HealthOptions {
  /** isBusy reports whether calls run in a document. */
  isBusy(documentId: string): boolean;
  /** isFrozen reports whether Chrome has frozen a tab: a frozen page runs no code until the user shows the tab. */
  isFrozen(tabId: number): Promise<boolean>;
}

/** Pulse is the state of one document. */
interface Pulse {
  doc: Doc;
  heardAt: number;
  sent: number;
  answeredPing: number;
  silent: boolean;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** waiting are the functions to call at the next answer of the document. */
  waiting: (() => void)[];
}

/**
 * Health detects documents whose page does not answer because a script blocks its main thread. The bridge runs on the
 * main thread of the page, so a blocked thread cannot answer pings. Only documents with running calls are pinged.
 */
export class Health {
  /** changed reports a document that stops answering, or answers again. */
  readonly changed = new Signal<[doc: Doc]>();
  readonly #options: HealthOptions;
  readonly #pulses = new Map<string, Pulse>();

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /**
   * prepareCall records that a call is about to be sent. prepareCall returns the number of the ping that precedes the call, or
   * 0 if the call needs no ping.
   */
  prepareCall(doc: Doc): number {
    const pulse = this.#pulseOf(doc);
    if (pulse.sent > pulse.answeredPing) return pulse.sent;
    if (Date.now() - pulse.heardAt < AgainMs) {
      this.#schedulePing(pulse);
      return 0;
    }
    this.#ping(pulse);
    return pulse.sent;
  }

  /** answers pings a document and resolves with whether the document answered within a time limit. */
  answers(doc: Doc, withinMs: number): Promise<boolean> {
    const pulse = this.#pulseOf(doc);
    this.#ping(pulse);
    return new Promise((resolve) => {
      setTimeout(() => resolve(false), withinMs);
      pulse.waiting.push(() => resolve(true));
    });
  }

  /**
   * answered reports whether a document has answered a ping. If the ping was answered, a call sent right after the ping
   * has arrived too.
   */
  answered(documentId: string, ping: number): boolean {
    return ping <= (this.#pulses.get(documentId)?.answeredPing ?? 0);
  }

  /** recordMessage records a message from a document. ping is the number of the ping that the message answers. */
  recordMessage(doc: Doc, ping?: number): void {
    const pulse = this.#pulseOf(doc);
    pulse.heardAt = Date.now();
    if (ping === undefined || ping <= pulse.answeredPing || ping > pulse.sent) return;
    pulse.answeredPing = ping;
    for (const answered of pulse.waiting.splice(0)) answered();
    this.#stopTimer(pulse);
    this.#schedulePing(pulse);
    if (!pulse.silent) return;
    pulse.silent = false;
    this.changed.emit(doc);
  }

  /** documentConnected records a new port of a document. Messages on the previous port may or may not have arrived. */
  documentConnected(doc: Doc): void {
    const pulse = this.#pulseOf(doc);
    this.#stopTimer(pulse);
    pulse.heardAt = Date.now();
    pulse.answeredPing = pulse.sent;
    pulse.silent = false;
    this.#schedulePing(pulse);
  }

  /** documentDisconnected drops the state of a document whose port closed. */
  documentDisconnected(documentId: string): void {
    clearTimeout(this.#pulses.get(documentId)?.timer);
    this.#pulses.delete(documentId);
  }

  /** isSilent reports whether a document is silent. */
  isSilent(documentId: string): boolean {
    return this.#pulses.get(documentId)?.silent === true;
  }

  #pulseOf(doc: Doc): Pulse {
    const known = this.#pulses.get(doc.documentId);
    if (known) {
      known.doc = doc;
      return known;
    }
    const heardAt = Date.now();
    const fresh: Pulse = { doc, heardAt, sent: 0, answeredPing: 0, silent: false, timer: undefined, waiting: [] };
    this.#pulses.set(doc.documentId, fresh);
    return fresh;
  }

  #isCurrent(pulse: Pulse): boolean {
    return this.#pulses.get(pulse.doc.documentId) === pulse;
  }

  #ping(pulse: Pulse): void {
    if (pulse.sent > pulse.answeredPing) return;
    pulse.sent++;
    pulse.doc.post({ op: 'ping', ping: pulse.sent });
    this.#expectAnswer(pulse);
  }

  #stopTimer(pulse: Pulse): void {
    clearTimeout(pulse.timer);
    pulse.timer = undefined;
  }

  #expectAnswer(pulse: Pulse): void {
    const dueAt = Date.now() + SilentMs;
    this.#stopTimer(pulse);
    pulse.timer = setTimeout(() => void this.#checkLate(pulse, dueAt), SilentMs);
  }

  /** checkLate marks a document as silent, unless Chrome froze it or the machine was asleep. */
  async #checkLate(pulse: Pulse, dueAt: number): Promise<void> {
    const ping = pulse.sent;
    const frozen = await this.#options.isFrozen(pulse.doc.tabId).catch(() => true);
    if (!this.#isCurrent(pulse) || pulse.answeredPing >= ping || pulse.silent) return;
    if (frozen || Date.now() > dueAt + LateMs) {
      this.#expectAnswer(pulse);
      return;
    }
    pulse.silent = true;
    this.changed.emit(pulse.doc);
  }

  /**
   * schedulePing pings a document at intervals while calls run in the document. A timer that is set already stays: each
   * call would replace it otherwise.
   */
  #schedulePing(pulse: Pulse, inMs = AgainMs): void {
    pulse.timer ??= setTimeout(() => {
      pulse.timer = undefined;
      if (!this.#isCurrent(pulse) || !this.#options.isBusy(pulse.doc.documentId)) return;
      const quietMs = Date.now() - pulse.heardAt;
      if (quietMs >= AgainMs) this.#ping(pulse);
      else this.#schedulePing(pulse, AgainMs - quietMs);
    }, inMs);
  }
}

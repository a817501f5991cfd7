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
  /** isFrozen reports whether Chrome has frozen a tab: its page runs nothing until the user shows the tab. */
  isFrozen(tabId: number): Promise<boolean>;
  /** changed is called when a document stops answering, or answers again. */
  changed(doc: Doc): void;
}

/**
 * Health detects documents whose page does not answer because a script blocks its main thread. The bridge runs on the
 * same thread, so it cannot answer pings. Only documents with running calls are pinged.
 */
export interface Health {
  /**
   * calling notes that a call is about to be sent. It returns the number of the ping that precedes the call, or 0 if it
   * needs none.
   */
  calling(doc: Doc): number;
  /** answers pings a document and resolves with whether it answered within a time limit. */
  answers(doc: Doc, withinMs: number): Promise<boolean>;
  /**
   * answered reports whether a document has answered a ping. If so, a call sent right after the ping has arrived too.
   */
  answered(documentId: string, ping: number): boolean;
  /** heard notes a message from a document. ping is the number that it answers. */
  heard(doc: Doc, ping?: number): void;
  /** joined notes a new port of a document. Messages on its last port may or may not have arrived. */
  joined(doc: Doc): void;
  /** left drops a document. */
  left(documentId: string): void;
  /** isSilent reports whether a document is silent. */
  isSilent(documentId: string): boolean;
}

/** Pulse is the state of one document. */
interface Pulse {
  doc: Doc;
  heardAt: number;
  sent: number;
  answered: number;
  silent: boolean;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** waiting are callbacks for the next answer. */
  waiting: (() => void)[];
}

/** makeHealth returns a Health without documents. */
export function makeHealth(options: HealthOptions): Health {
  const pulses = new Map<string, Pulse>();

  const pulseOf = (doc: Doc): Pulse => {
    const known = pulses.get(doc.documentId);
    if (known) {
      known.doc = doc;
      return known;
    }
    const fresh: Pulse = {
      doc,
      heardAt: Date.now(),
      sent: 0,
      answered: 0,
      silent: false,
      timer: undefined,
      waiting: [],
    };
    pulses.set(doc.documentId, fresh);
    return fresh;
  };
  const isCurrent = (pulse: Pulse) => pulses.get(pulse.doc.documentId) === pulse;
  const ping = (pulse: Pulse) => {
    if (pulse.sent > pulse.answered) return;
    pulse.sent++;
    pulse.doc.post({ op: 'ping', ping: pulse.sent });
    expect(pulse);
  };
  const expect = (pulse: Pulse) => {
    const dueAt = Date.now() + SilentMs;
    clearTimeout(pulse.timer);
    pulse.timer = setTimeout(() => void late(pulse, dueAt), SilentMs);
  };
  const late = async (pulse: Pulse, dueAt: number) => {
    const number = pulse.sent;
    const frozen = await options.isFrozen(pulse.doc.tabId).catch(() => true);
    if (!isCurrent(pulse) || pulse.answered >= number || pulse.silent) return;
    if (frozen || Date.now() > dueAt + LateMs) {
      expect(pulse);
      return;
    }
    pulse.silent = true;
    options.changed(pulse.doc);
  };
  /** watch pings a document again while calls run in it. */
  const watch = (pulse: Pulse) => {
    clearTimeout(pulse.timer);
    pulse.timer = setTimeout(() => {
      if (!isCurrent(pulse) || !options.isBusy(pulse.doc.documentId)) return;
      if (Date.now() - pulse.heardAt >= AgainMs) ping(pulse);
      else watch(pulse);
    }, AgainMs);
  };
  return {
    calling: (doc) => {
      const pulse = pulseOf(doc);
      if (pulse.sent > pulse.answered) return pulse.sent;
      if (Date.now() - pulse.heardAt < AgainMs) {
        watch(pulse);
        return 0;
      }
      ping(pulse);
      return pulse.sent;
    },
    answers: (doc, withinMs) => {
      const pulse = pulseOf(doc);
      ping(pulse);
      return new Promise((resolve) => {
        setTimeout(() => resolve(false), withinMs);
        pulse.waiting.push(() => resolve(true));
      });
    },
    answered: (documentId, number) => number <= (pulses.get(documentId)?.answered ?? 0),
    heard: (doc, number) => {
      const pulse = pulseOf(doc);
      pulse.heardAt = Date.now();
      if (number === undefined || number <= pulse.answered || number > pulse.sent) return;
      pulse.answered = number;
      for (const answered of pulse.waiting.splice(0)) answered();
      watch(pulse);
      if (!pulse.silent) return;
      pulse.silent = false;
      options.changed(doc);
    },
    joined: (doc) => {
      const pulse = pulseOf(doc);
      clearTimeout(pulse.timer);
      pulse.heardAt = Date.now();
      pulse.answered = pulse.sent;
      pulse.silent = false;
      watch(pulse);
    },
    left: (documentId) => {
      clearTimeout(pulses.get(documentId)?.timer);
      pulses.delete(documentId);
    },
    isSilent: (documentId) => pulses.get(documentId)?.silent === true,
  };
}

import { callErrorFrame, notification, rawProgressFrame, rawResultFrame } from '../../../wire/frame.ts';
import type { CallError } from '../../../wire/wire.gen.ts';
import { type Batch, hold } from '../held.ts';

// What documents say of calls, on its way to the server. A WebSocket does not
// tell whether what was sent has arrived, so the ending of a call is kept
// until the server has answered a ping that was sent after it; when the link
// was lost, it is sent again. The server ignores what it knows already.

/** KeptChars is how much of all endings is kept, in UTF-16 units. */
const KeptChars = 128 * 1024 * 1024;
/** An ending is confirmed after a while, together with others, or at once when much is kept. */
const ConfirmMs = 1000;
const ConfirmChars = 4 * 1024 * 1024;

/** Ending is the frames that tell how a call ended: parts of a large result, then the answer. */
interface Ending {
  frames: string[];
  /** whole is set once the answer is among the frames. */
  whole: boolean;
  chars: number;
  /** dropped is set if the frames were too large to be kept; they can't be sent again. */
  dropped: boolean;
}

export interface OutboxOptions {
  /** send returns false while there is no link. */
  send(text: string): boolean;
  /** confirm resolves once the server has taken all that was sent before; it rejects when the link is lost. */
  confirm(): Promise<unknown>;
  /** delivered is called when the server has the endings of these calls. */
  delivered(ids: readonly string[]): void;
}

/** Outbox keeps the order: all progress of a call, then its ending. */
export interface Outbox {
  progress(id: string, count: number, skipped: number, reports: string): void;
  part(id: string, seq: number, text: string): void;
  /** result ends a call; output is JSON text, parts the number of parts that went ahead. */
  result(id: string, output: string | undefined, parts: number | undefined): void;
  fail(id: string, error: CallError): void;
  /** has tells whether the call's ending is here and not confirmed yet. */
  has(id: string): boolean;
  /** drop forgets a call that the server wants no more. */
  drop(id: string): void;
  /** resume sends all that waits; call it when the link is open. */
  resume(): void;
}

/** makeOutbox returns an empty outbox. */
export function makeOutbox(options: OutboxOptions): Outbox {
  const endings = new Map<string, Ending>();
  const held = new Map<string, Batch[]>();
  let kept = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let confirming = false;

  const drop = (id: string) => {
    kept -= endings.get(id)?.chars ?? 0;
    endings.delete(id);
    held.delete(id);
  };

  const add = (id: string, frame: string, last: boolean) => {
    const ending = endings.get(id) ?? { frames: [], whole: false, chars: 0, dropped: false };
    if (ending.whole) return;
    endings.set(id, ending);
    ending.whole = last;
    const sent = options.send(frame);
    if (!ending.dropped) {
      ending.frames.push(frame);
      ending.chars += frame.length;
      kept += frame.length;
      if (kept > KeptChars) giveUp(id, ending, sent);
    }
    if (last && sent) confirmSoon();
  };

  /** giveUp keeps a short error instead of an ending that does not fit. */
  const giveUp = (id: string, ending: Ending, sent: boolean) => {
    kept -= ending.chars;
    ending.dropped = true;
    const message = sent
      ? 'the result was lost with the link to the browser'
      : 'the link to the browser was lost, and the result is too large to be kept until it is back';
    ending.frames = [callErrorFrame(id, { code: 'link_lost', message })];
    ending.chars = 0;
  };

  const confirmSoon = () => {
    if (confirming) return;
    if (kept >= ConfirmChars) void confirm();
    else timer ??= setTimeout(() => void confirm(), ConfirmMs);
  };
  const confirm = async () => {
    clearTimeout(timer);
    timer = undefined;
    const sent = [...endings].filter(([, ending]) => ending.whole).map(([id]) => id);
    if (sent.length === 0) return;
    confirming = true;
    try {
      await options.confirm();
      for (const id of sent) drop(id);
      options.delivered(sent);
    } catch {
      // The link is gone: resume sends everything again.
      return;
    } finally {
      confirming = false;
    }
    if ([...endings.values()].some((ending) => ending.whole)) confirmSoon();
  };

  const progress = (id: string, count: number, skipped: number, reports: string) => {
    const waiting = held.get(id);
    if (!waiting && options.send(rawProgressFrame(id, reports, skipped))) return;
    if (waiting) hold(waiting, { count, skipped, reports });
    else held.set(id, [{ count, skipped, reports }]);
  };

  return {
    progress,
    part: (id, seq, text) => add(id, notification('tool.part', { dispatchId: id, seq, text }), false),
    result: (id, output, parts) => {
      const frame =
        parts === undefined
          ? rawResultFrame(id, output)
          : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"parts":${parts}}}`;
      add(id, frame, true);
    },
    fail: (id, error) => add(id, callErrorFrame(id, error), true),
    has: (id) => endings.has(id),
    drop,
    resume: () => {
      for (const [id, waiting] of held) {
        for (const { skipped, reports } of waiting) options.send(rawProgressFrame(id, reports, skipped));
      }
      held.clear();
      for (const ending of endings.values()) for (const frame of ending.frames) options.send(frame);
      confirmSoon();
    },
  };
}

import { encodeRawAsk } from '../../../../wire/frame.ts';
import type { ToolAnswerParams } from '../../../../wire/wire.gen.ts';
import type { ToBridge } from '../../port-message.ts';

// Stores requests of running tools to the server. A request is stored until the document has the answer or the call has
// ended, and is sent again on each new link. The server ignores repeated requests. An answer is stored while its
// document has no port.

/** KeptChars limits the stored asks of all calls, in UTF-16 units. Asks beyond this limit are sent only once. */
const KeptChars = 64 * 1024 * 1024;
/** MaxAsks limits the stored asks per call. The server accepts the same number of asks per call. */
const MaxAsks = 1000;

export interface AsksOptions {
  /** send returns false while there is no link. */
  send(text: string): boolean;
  /** post sends a message to the document of a call. post returns false if the document is not connected. */
  post(id: string, message: ToBridge): boolean;
}

/** Asks stores the asks of all calls. */
export interface Asks {
  /**
   * receiveAsk stores and sends an ask of a document. body is the JSON text of a wire.ToolAskParams without its IDs.
   */
  receiveAsk(id: string, ask: number, body: string): void;
  /**
   * answer sends an answer of the server to the call's document. answer resolves with whether an ask was waiting for
   * this answer.
   */
  answer(params: ToolAnswerParams): Promise<boolean>;
  /** confirmAnswer handles the document's confirmation of an answer. */
  confirmAnswer(id: string, ask: number, taken: boolean): void;
  /** documentConnected resends the waiting answers of a call whose document has a new port. */
  documentConnected(id: string): void;
  /** forget drops the asks and answers of a call. */
  forget(id: string): void;
  /** resume sends all open asks. Call resume when the link opens. */
  resume(): void;
}

/** WaitingAnswer is an answer that the document has not confirmed. */
interface WaitingAnswer {
  readonly message: ToBridge;
  readonly resolve: ((taken: boolean) => void)[];
}

interface OfCall {
  readonly frames: Map<number, string>;
  readonly answers: Map<number, WaitingAnswer>;
}

/** makeAsks returns an empty Asks. */
export function makeAsks(options: AsksOptions): Asks {
  const calls = new Map<string, OfCall>();
  let chars = 0;

  const ofCall = (id: string): OfCall => {
    const found = calls.get(id);
    if (found) return found;
    const made: OfCall = { frames: new Map(), answers: new Map() };
    calls.set(id, made);
    return made;
  };
  const keep = (frames: Map<number, string>, ask: number, frame: string) => {
    chars -= frames.get(ask)?.length ?? 0;
    frames.delete(ask);
    if (frames.size >= MaxAsks || chars + frame.length > KeptChars) return;
    frames.set(ask, frame);
    chars += frame.length;
  };

  const receiveAsk = (id: string, ask: number, body: string) => {
    const frame = encodeRawAsk(id, ask, body);
    if (frame === undefined) return;
    const { frames, answers } = ofCall(id);
    keep(frames, ask, frame);
    const waiting = answers.get(ask);
    if (waiting) options.post(id, waiting.message);
    else options.send(frame);
  };
  const answer = (params: ToolAnswerParams): Promise<boolean> =>
    new Promise((resolve) => {
      const { dispatchId: id, ask } = params;
      const { answers } = ofCall(id);
      const message = messageOf(params);
      // On a new link, the server sends the answer in a second request. The old and the new request wait for the same
      // result.
      answers.set(ask, { message, resolve: [...(answers.get(ask)?.resolve ?? []), resolve] });
      options.post(id, message);
    });
  const confirmAnswer = (id: string, ask: number, taken: boolean) => {
    const found = calls.get(id);
    const waiting = found?.answers.get(ask);
    if (!found || !waiting) return;
    found.answers.delete(ask);
    chars -= found.frames.get(ask)?.length ?? 0;
    found.frames.delete(ask);
    for (const resolve of waiting.resolve) resolve(taken);
  };
  const forget = (id: string) => {
    const found = calls.get(id);
    if (!found) return;
    calls.delete(id);
    for (const frame of found.frames.values()) chars -= frame.length;
    for (const { resolve } of found.answers.values()) for (const each of resolve) each(false);
  };
  return {
    receiveAsk,
    answer,
    confirmAnswer,
    documentConnected: (id) => {
      for (const { message } of calls.get(id)?.answers.values() ?? []) options.post(id, message);
    },
    forget,
    resume: () => {
      for (const { frames } of calls.values()) for (const frame of frames.values()) options.send(frame);
    },
  };
}

function messageOf({ dispatchId: id, ask, output, error }: ToolAnswerParams): ToBridge {
  if (error !== undefined) return { op: 'answer', id, ask, error: JSON.stringify(error) };
  return output === undefined ? { op: 'answer', id, ask } : { op: 'answer', id, ask, output: JSON.stringify(output) };
}

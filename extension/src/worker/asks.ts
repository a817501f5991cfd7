import { readAs } from '../../../wire/frame.ts';
import type { ToolAnswerParams } from '../../../wire/wire.gen.ts';
import { isBag, type ToBridge } from '../port-message.ts';

// What running tools ask the server for. It stays here until the document has
// the answer or the call has ended, and is sent on each new link; the server
// takes none twice. An answer waits here while its document has no port.

/** KeptChars is how much of all asks is kept, in UTF-16 units; what is beyond that is sent once. */
const KeptChars = 64 * 1024 * 1024;
/** MaxAsks is how many asks of one call are kept; the server takes no more of a call. */
const MaxAsks = 1000;

export interface AsksOptions {
  /** send returns false while there is no link. */
  send(text: string): boolean;
  /** post hands a message to the document of a call; false means that it is not connected. */
  post(id: string, message: ToBridge): boolean;
}

/** Asks are those of all calls. */
export interface Asks {
  /** asked takes what a call's document says of an ask; body is the JSON text of a wire.ToolAskParams without its ids. */
  asked(id: string, ask: number, body: string): void;
  /** answer hands an answer of the server to the call's document and resolves with whether something waited for it. */
  answer(params: ToolAnswerParams): Promise<boolean>;
  /** answered takes the document's word for that. */
  answered(id: string, ask: number, taken: boolean): void;
  /** connected tells that the document of a call has a new port. */
  connected(id: string): void;
  /** ended forgets a call. */
  ended(id: string): void;
  /** resume sends all that is open; call it when the link is open. */
  resume(): void;
}

/** Waiting is an answer that the document has not confirmed. */
interface Waiting {
  readonly message: ToBridge;
  readonly resolve: ((taken: boolean) => void)[];
}

interface OfCall {
  readonly frames: Map<number, string>;
  readonly answers: Map<number, Waiting>;
}

/** makeAsks returns an empty table. */
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

  const asked = (id: string, ask: number, body: string) => {
    const frame = frameOf(id, ask, body);
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
      // The server says it again on a new link; both times want to know.
      answers.set(ask, { message, resolve: [...(answers.get(ask)?.resolve ?? []), resolve] });
      options.post(id, message);
    });
  const answered = (id: string, ask: number, taken: boolean) => {
    const found = calls.get(id);
    const waiting = found?.answers.get(ask);
    if (!found || !waiting) return;
    found.answers.delete(ask);
    chars -= found.frames.get(ask)?.length ?? 0;
    found.frames.delete(ask);
    for (const resolve of waiting.resolve) resolve(taken);
  };
  const ended = (id: string) => {
    const found = calls.get(id);
    if (!found) return;
    calls.delete(id);
    for (const frame of found.frames.values()) chars -= frame.length;
    for (const { resolve } of found.answers.values()) for (const each of resolve) each(false);
  };
  return {
    asked,
    answer,
    answered,
    connected: (id) => {
      for (const { message } of calls.get(id)?.answers.values() ?? []) options.post(id, message);
    },
    ended,
    resume: () => {
      for (const { frames } of calls.values()) for (const frame of frames.values()) options.send(frame);
    },
  };
}

/** frameOf returns the text of tool.ask, or nothing for a body that is none: a document's process may be broken into. */
function frameOf(id: string, ask: number, body: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    if (!isBag(parsed) || Object.keys(parsed).length !== 1) return undefined;
    if (!('call' in parsed || 'user' in parsed || 'withdrawn' in parsed)) return undefined;
    if (!readAs('ToolAskParams', { ...parsed, dispatchId: id, ask }).ok) return undefined;
  } catch {
    return undefined;
  }
  // The text as it came keeps integers that a number would round.
  const head = `{"dispatchId":${JSON.stringify(id)},"ask":${ask},`;
  return `{"jsonrpc":"2.0","method":"tool.ask","params":${head}${body.trim().slice(1)}}`;
}

function messageOf({ dispatchId: id, ask, output, error }: ToolAnswerParams): ToBridge {
  if (error !== undefined) return { op: 'answer', id, ask, error: JSON.stringify(error) };
  return output === undefined ? { op: 'answer', id, ask } : { op: 'answer', id, ask, output: JSON.stringify(output) };
}

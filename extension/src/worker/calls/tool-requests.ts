import { encodeRawAsk } from '../../../../wire/frame.ts';
import type { ToolAnswerParams } from '../../../../wire/wire.gen.ts';
import type { ToBridge } from '../../port-message.ts';

// tool-requests.ts stores requests that running tools send to the server, such as nested calls. A request is stored
// until its document has received the answer or the call has ended. The worker sends stored requests again on each new
// link, and the server ignores duplicates. While a document is disconnected, the worker stores the server's answers for
// the document's tools.

/**
 * MaxStoredChars limits the total size of stored requests, in UTF-16 code units. Requests above MaxStoredChars are
 * sent only once, so a lost link can lose the requests.
 */
const MaxStoredChars = 64 * 1024 * 1024;
/** The server rejects more than 1000 requests of one call, so a higher limit would be useless. */
const MaxRequestsPerCall = 1000;

export interface ToolRequestsOptions {
  send(text: string): boolean;
  post(id: string, message: ToBridge): boolean;
}

export interface ToolRequests {
  /** The parameter body is the JSON text of wire.ToolAskParams without the IDs. */
  receiveRequest(id: string, ask: number, body: string): void;
  /** The method `answer` resolves with true if the tool was waiting for the answer. */
  answer(params: ToolAnswerParams): Promise<boolean>;
  confirmAnswer(id: string, ask: number, taken: boolean): void;
  /** onDocumentConnected sends unconfirmed answers again to a document that has reconnected. */
  onDocumentConnected(id: string): void;
  forget(id: string): void;
  resume(): void;
}

/** WaitingAnswer is the server's answer to a tool's request, stored until the document confirms it. */
interface WaitingAnswer {
  readonly message: ToBridge;
  readonly resolvers: ((taken: boolean) => void)[];
}

interface StoredRequests {
  readonly frames: Map<number, string>;
  readonly answers: Map<number, WaitingAnswer>;
}

export function makeToolRequests(options: ToolRequestsOptions): ToolRequests {
  const storedByCall = new Map<string, StoredRequests>();
  let storedChars = 0;

  const getOrCreate = (id: string): StoredRequests => {
    const stored = storedByCall.get(id);
    if (stored) return stored;
    const newEntry: StoredRequests = { frames: new Map(), answers: new Map() };
    storedByCall.set(id, newEntry);
    return newEntry;
  };
  const storeFrame = (frames: Map<number, string>, ask: number, frame: string) => {
    storedChars -= frames.get(ask)?.length ?? 0;
    frames.delete(ask);
    if (frames.size >= MaxRequestsPerCall || storedChars + frame.length > MaxStoredChars) return;
    frames.set(ask, frame);
    storedChars += frame.length;
  };

  const receiveRequest = (id: string, ask: number, body: string) => {
    const frame = encodeRawAsk(id, ask, body);
    if (frame === undefined) return;
    const { frames, answers } = getOrCreate(id);
    storeFrame(frames, ask, frame);
    const waitingAnswer = answers.get(ask);
    if (waitingAnswer) options.post(id, waitingAnswer.message);
    else options.send(frame);
  };
  const answer = (params: ToolAnswerParams): Promise<boolean> =>
    new Promise((resolve) => {
      const { dispatchId: id, ask } = params;
      const { answers } = getOrCreate(id);
      const message = makeAnswerMessage(params);
      // After the link was lost, the server may send an answer again over a new link. When the document confirms an
      // answer that the server sent twice, the promises of both deliveries resolve.
      answers.set(ask, { message, resolvers: [...(answers.get(ask)?.resolvers ?? []), resolve] });
      options.post(id, message);
    });
  const confirmAnswer = (id: string, ask: number, taken: boolean) => {
    const stored = storedByCall.get(id);
    const waitingAnswer = stored?.answers.get(ask);
    if (!stored || !waitingAnswer) return;
    stored.answers.delete(ask);
    storedChars -= stored.frames.get(ask)?.length ?? 0;
    stored.frames.delete(ask);
    for (const resolve of waitingAnswer.resolvers) resolve(taken);
  };
  const forget = (id: string) => {
    const stored = storedByCall.get(id);
    if (!stored) return;
    storedByCall.delete(id);
    for (const frame of stored.frames.values()) storedChars -= frame.length;
    for (const { resolvers } of stored.answers.values()) for (const resolve of resolvers) resolve(false);
  };
  return {
    receiveRequest,
    answer,
    confirmAnswer,
    onDocumentConnected: (id) => {
      for (const { message } of storedByCall.get(id)?.answers.values() ?? []) options.post(id, message);
    },
    forget,
    resume: () => {
      for (const { frames } of storedByCall.values()) for (const frame of frames.values()) options.send(frame);
    },
  };
}

function makeAnswerMessage({ dispatchId: id, ask, output, error }: ToolAnswerParams): ToBridge {
  if (error !== undefined) return { op: 'answer', id, ask, error: JSON.stringify(error) };
  return output === undefined ? { op: 'answer', id, ask } : { op: 'answer', id, ask, output: JSON.stringify(output) };
}

import { encodeRawAsk } from '../../../../wire/frame.ts';
import type { ToolAnswerParams } from '../../../../wire/wire.gen.ts';
import type { WorkerToBridgeMessage } from '../../port-message.ts';

// tool-requests.ts stores requests that running tools send to the server, such as nested calls. A request is stored
// until its document has received the answer or the call has ended. The worker sends stored requests again on each new
// link, and the server ignores duplicates. While a document is disconnected, the worker stores the server's answers for
// the document's tools.

/**
 * MaxStoredChars limits the total size of stored requests, in UTF-16 code units. Requests beyond this limit are sent
 * only once, so a lost link can lose them.
 */
const MaxStoredChars = 64 * 1024 * 1024;
/** MaxRequestsPerCall equals the server's limit: the server rejects more than 1,000 requests of one call. */
const MaxRequestsPerCall = 1000;

export interface ToolRequestsOptions {
  send(text: string): boolean;
  post(id: string, message: WorkerToBridgeMessage): boolean;
}

export interface ToolRequests {
  /** The parameter `requestBody` is the JSON text of wire.ToolAskParams without the IDs. */
  receiveRequest(id: string, askId: number, requestBody: string): void;
  /** The promise of `answer` resolves with true if the tool was waiting for the answer. */
  answer(params: ToolAnswerParams): Promise<boolean>;
  confirmAnswer(id: string, askId: number, isAnswerAccepted: boolean): void;
  /** onDocumentConnected sends unconfirmed answers again to a document that has reconnected. */
  onDocumentConnected(id: string): void;
  forgetCallRequests(id: string): void;
  resume(): void;
}

/** WaitingAnswer is the server's answer to a tool's request, stored until the document confirms it. */
interface WaitingAnswer {
  readonly message: WorkerToBridgeMessage;
  readonly resolvers: ((isAnswerAccepted: boolean) => void)[];
}

interface StoredRequests {
  readonly frames: Map<number, string>;
  readonly answers: Map<number, WaitingAnswer>;
}

export function makeToolRequests(options: ToolRequestsOptions): ToolRequests {
  const requestsByCall = new Map<string, StoredRequests>();
  let storedChars = 0;

  const getOrCreateRequests = (id: string): StoredRequests => {
    const storedRequest = requestsByCall.get(id);
    if (storedRequest) return storedRequest;
    const newRequests: StoredRequests = { frames: new Map(), answers: new Map() };
    requestsByCall.set(id, newRequests);
    return newRequests;
  };
  const storeRequestFrame = (frames: Map<number, string>, askId: number, frame: string) => {
    storedChars -= frames.get(askId)?.length ?? 0;
    frames.delete(askId);
    if (frames.size >= MaxRequestsPerCall || storedChars + frame.length > MaxStoredChars) return;
    frames.set(askId, frame);
    storedChars += frame.length;
  };

  const receiveRequest = (id: string, askId: number, requestBody: string) => {
    const frame = encodeRawAsk(id, askId, requestBody);
    if (frame === undefined) return;
    const { frames, answers } = getOrCreateRequests(id);
    storeRequestFrame(frames, askId, frame);
    const waitingAnswer = answers.get(askId);
    if (waitingAnswer) options.post(id, waitingAnswer.message);
    else options.send(frame);
  };
  const sendToolAnswer = (params: ToolAnswerParams): Promise<boolean> =>
    new Promise((resolve) => {
      const { dispatchId: id, ask: askId } = params;
      const { answers } = getOrCreateRequests(id);
      const message = makeAnswerMessage(params);
      // After the link was lost, the server may send an answer again over a new link. When the document confirms an
      // answer that the server sent twice, the promises for both copies of the answer resolve.
      answers.set(askId, { message, resolvers: [...(answers.get(askId)?.resolvers ?? []), resolve] });
      options.post(id, message);
    });
  const confirmAnswer = (id: string, askId: number, isAnswerAccepted: boolean) => {
    const storedRequest = requestsByCall.get(id);
    const waitingAnswer = storedRequest?.answers.get(askId);
    if (!storedRequest || !waitingAnswer) return;
    storedRequest.answers.delete(askId);
    storedChars -= storedRequest.frames.get(askId)?.length ?? 0;
    storedRequest.frames.delete(askId);
    for (const resolve of waitingAnswer.resolvers) resolve(isAnswerAccepted);
  };
  const forgetCall = (id: string) => {
    const storedRequest = requestsByCall.get(id);
    if (!storedRequest) return;
    requestsByCall.delete(id);
    for (const frame of storedRequest.frames.values()) storedChars -= frame.length;
    for (const { resolvers } of storedRequest.answers.values()) for (const resolve of resolvers) resolve(false);
  };
  return {
    receiveRequest,
    answer: sendToolAnswer,
    confirmAnswer,
    onDocumentConnected: (id) => {
      for (const { message } of requestsByCall.get(id)?.answers.values() ?? []) options.post(id, message);
    },
    forgetCallRequests: forgetCall,
    resume: () => {
      for (const { frames } of requestsByCall.values()) for (const frame of frames.values()) options.send(frame);
    },
  };
}

function makeAnswerMessage({ dispatchId: id, ask: askId, output, error }: ToolAnswerParams): WorkerToBridgeMessage {
  if (error !== undefined) return { op: 'answer', id, ask: askId, error: JSON.stringify(error) };
  return output === undefined
    ? { op: 'answer', id, ask: askId }
    : { op: 'answer', id, ask: askId, output: JSON.stringify(output) };
}

/** How a call looked from its client: the one shape that all kinds of clients return. */

/**
 * Ending is what a client saw of one call. code is "ok", one of wire.ErrorCode, "rpc:<code>" for a JSON-RPC error, "silent" where no answer
 * came and none was wanted or possible any more, "refused" where the session was not known, "transport" where the server could not be reached
 * or its connection broke.
 */
export interface Ending {
  readonly code: string;
  readonly text: string;
  readonly structured: unknown;
  /** The progress numbers in the order they came. */
  readonly progress: readonly number[];
  /** How many answers came for the request; more than one is a fault. */
  readonly answers: number;
}

/** Wish is what the caller does besides waiting. */
export interface Wish {
  /** Ends the call early: the client cancels it, or leaves if leave is set. */
  readonly stop?: AbortSignal;
  readonly leave?: boolean;
  /** Send no progress token. */
  readonly untold?: boolean;
}

/** Client is one MCP client. A call never throws and always ends. */
export interface Client {
  readonly name: string;
  readonly kind: ClientKind;
  call(tool: string, args: Record<string, unknown>, wish: Wish): Promise<Ending>;
  /** kill ends the client without a word: its process, or its session's connections. */
  kill(): Promise<void>;
  /** endSession tells the server that the session is over; the next call opens another. */
  endSession(): Promise<void>;
  /** Messages that belong to no call: answers or progress after the end. */
  readonly strays: readonly string[];
  close(): Promise<void>;
}

export type ClientKind = 'http' | 'http-sdk' | 'stdio' | 'stdio-sdk';

/** unanswered is an ending without an answer. */
export function unanswered(code: string, text: string, progress: readonly number[] = []): Ending {
  return { code, text, structured: undefined, progress, answers: 0 };
}

/** readAnswer makes an ending of a JSON-RPC answer. */
export function readAnswer(message: unknown, progress: readonly number[]): Ending {
  const { result, error } = Object(message);
  if (error) return { ...unanswered(`rpc:${error.code}`, String(error.message), progress), answers: 1 };
  return { ...readResult(result), progress, answers: 1 };
}

function readResult(result: unknown): { code: string; text: string; structured: unknown } {
  const { isError, content, structuredContent, _meta } = Object(result);
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  const text = String(Object(first).text ?? '');
  const detail = Object(_meta)['opentabs/error'];
  return { code: isError ? String(Object(detail).code ?? 'error') : 'ok', text, structured: structuredContent };
}

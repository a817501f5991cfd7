/** The ending of a call as its client received it. All kinds of clients in the soak return a CallEnding. */

/**
 * CallEnding is what a client received for one call. The code is "ok", a wire.ErrorCode, "rpc:<code>" for a JSON-RPC
 * error, "silent", "refused" or "transport". The code "silent" means that no answer came and no answer was due. The
 * code "refused" means that the server did not have the session, and "transport" means that the connection failed.
 */
export interface CallEnding {
  readonly code: string;
  readonly text: string;
  readonly structured: unknown;
  /** The progress numbers in the order of arrival. */
  readonly progress: readonly number[];
  /** The number of answers to the request; more than one answer is a violation. */
  readonly answerCount: number;
}

/** CallBehavior is what the client does during a call. */
export interface CallBehavior {
  /** Aborts the call early: the client cancels the call, or disconnects if disconnect is set. */
  readonly stopSignal?: AbortSignal;
  readonly disconnect?: boolean;
  /** Whether the request has no progress token. */
  readonly withoutProgress?: boolean;
}

/**
 * SoakClient is one MCP client that makes calls during a soak. The method call of SoakClient never throws and always
 * returns an ending.
 */
export interface SoakClient {
  readonly name: string;
  readonly kind: ClientKind;
  call(tool: string, args: Record<string, unknown>, behavior: CallBehavior): Promise<CallEnding>;
  /** kill ends the client abruptly: its process is killed, or the connections of its session are closed. */
  kill(): Promise<void>;
  /** endSession ends the session at the server. After endSession, the next call opens another session. */
  endSession(): Promise<void>;
  /** Messages that belong to no call: answers or progress after the end of a call. */
  readonly strayMessages: readonly string[];
  close(): Promise<void>;
}

export type ClientKind = 'http' | 'http-sdk' | 'stdio' | 'stdio-sdk';

/** makeUnansweredEnding returns the ending of a call that was not answered. */
export function makeUnansweredEnding(code: string, text: string, progress: readonly number[] = []): CallEnding {
  return { code, text, structured: undefined, progress, answerCount: 0 };
}

/** parseAnswer returns the ending for a JSON-RPC answer. */
export function parseAnswer(message: unknown, progress: readonly number[]): CallEnding {
  const { result, error } = Object(message);
  if (error) return { ...makeUnansweredEnding(`rpc:${error.code}`, String(error.message), progress), answerCount: 1 };
  return { ...parseResult(result), progress, answerCount: 1 };
}

function parseResult(result: unknown): { code: string; text: string; structured: unknown } {
  const { isError, content, structuredContent, _meta } = Object(result);
  const firstBlock: unknown = Array.isArray(content) ? content[0] : undefined;
  const text = String(Object(firstBlock).text ?? '');
  const detail = Object(_meta)['opentabs/error'];
  return { code: isError ? String(Object(detail).code ?? 'error') : 'ok', text, structured: structuredContent };
}

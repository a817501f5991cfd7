/** Defines the common interface of all MCP clients in a soak test, and how the clients report the ending of a call. */

/**
 * CallEnding is how a call ended for its MCP client. The code is "ok", a wire.ErrorCode, "rpc:<code>" for a JSON-RPC
 * error, "silent", "refused" or "transport". The code "silent" means that the daemon sent no response, because none was
 * due. The code "refused" means that the daemon did not recognize the client's session, and "transport" means that the
 * connection failed.
 */
export interface CallEnding {
  readonly code: string;
  readonly text: string;
  readonly structured: unknown;
  /** progress contains the `progress` number of each progress notification, in the order of arrival. */
  readonly progress: readonly number[];
  /**
   * answerCount is the number of responses that the client received for one call. If a client receives several
   * responses to one call, the soak test reports a violation.
   */
  readonly answerCount: number;
}

/** CallBehavior configures what the MCP client does during a call, such as cancelling the call. */
export interface CallBehavior {
  /** When stopSignal aborts, the client cancels the call, or disconnects if disconnect is true. */
  readonly stopSignal?: AbortSignal;
  readonly disconnect?: boolean;
  /** withoutProgress omits the progress token from the request. */
  readonly withoutProgress?: boolean;
}

/**
 * SoakClient is an MCP client that makes calls during a soak test. The method SoakClient.call never throws and always
 * returns how the call ended.
 */
export interface SoakClient {
  readonly name: string;
  readonly kind: ClientKind;
  call(tool: string, args: Record<string, unknown>, behavior: CallBehavior): Promise<CallEnding>;
  /**
   * kill stops the client abruptly: it kills the client's process, or closes the connections of the client's session.
   */
  kill(): Promise<void>;
  /**
   * endSession closes the client's MCP session in the daemon. After endSession, the client opens a new session with its
   * next call.
   */
  endSession(): Promise<void>;
  /** strayMessages lists messages that belong to no running call, such as a response after the call has ended. */
  readonly strayMessages: readonly string[];
  close(): Promise<void>;
}

export type ClientKind = 'http' | 'http-sdk' | 'stdio' | 'stdio-sdk';

/** makeUnansweredEnding returns the ending of a call for which the client received no response. */
export function makeUnansweredEnding(code: string, text: string, progress: readonly number[] = []): CallEnding {
  return { code, text, structured: undefined, progress, answerCount: 0 };
}

/** parseAnswer converts a JSON-RPC response into the ending of a call. */
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

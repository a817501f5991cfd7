/** Defines the common interface of all MCP clients in a soak test, and how the clients report the ending of a call. */

/**
 * The code of a CallEnding is "ok", a wire.ErrorCode, "rpc:<code>" for a JSON-RPC error, "silent", "refused" or
 * "transport". The code "silent" means that the daemon sent no response, because none was due. The code "refused" means
 * that the daemon did not recognize the client's session, and "transport" means that the connection failed.
 */
export interface CallEnding {
  readonly code: string;
  readonly text: string;
  readonly structured: unknown;
  readonly progress: readonly number[];
  readonly answerCount: number;
}

export interface ClientCallOptions {
  readonly stopSignal?: AbortSignal;
  readonly disconnect?: boolean;
  readonly omitsProgressToken?: boolean;
}

/** The method SoakClient.call never throws and always returns how the call ended. */
export interface SoakClient {
  readonly name: string;
  readonly kind: ClientKind;
  call(tool: string, args: Record<string, unknown>, behavior: ClientCallOptions): Promise<CallEnding>;
  kill(): Promise<void>;
  /** After endSession, the client opens a new session with its next call. */
  endSession(): Promise<void>;
  readonly strayMessages: readonly string[];
  close(): Promise<void>;
}

export type ClientKind = 'http' | 'http-sdk' | 'stdio' | 'stdio-sdk';

export function makeUnansweredEnding(code: string, endingText: string, progress: readonly number[] = []): CallEnding {
  return { code, text: endingText, structured: undefined, progress, answerCount: 0 };
}

export function parseAnswer(answerMessage: unknown, progress: readonly number[]): CallEnding {
  const { result, error } = Object(answerMessage);
  if (error) return { ...makeUnansweredEnding(`rpc:${error.code}`, String(error.message), progress), answerCount: 1 };
  return { ...parseResult(result), progress, answerCount: 1 };
}

function parseResult(result: unknown): { code: string; text: string; structured: unknown } {
  const { isError, content, structuredContent, _meta } = Object(result);
  const firstContentBlock: unknown = Array.isArray(content) ? content[0] : undefined;
  const endingText = String(Object(firstContentBlock).text ?? '');
  const detail = Object(_meta)['opentabs/error'];
  return {
    code: isError ? String(Object(detail).code ?? 'error') : 'ok',
    text: endingText,
    structured: structuredContent,
  };
}

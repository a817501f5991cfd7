/** Provides MCP clients of the official SDK that reconnect after the daemon has restarted or closed their session. */
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { connectHttp, connectStdio, type McpClient } from '../harness/client.ts';
import {
  type CallEnding,
  type ClientCallOptions,
  type ClientKind,
  makeUnansweredEnding,
  type SoakClient,
} from './soak-client.ts';

export function makeSdkHttpClient(name: string, port: number, token: string): SoakClient {
  return new SdkClient(name, 'http-sdk', () => connectHttp(port, token));
}

export function makeSdkStdioClient(name: string, env: Readonly<Record<string, string>>): SoakClient {
  return new SdkClient(name, 'stdio-sdk', () => connectStdio(env));
}

/**
 * The promise `lostConnectionEnding` resolves when the connection is lost, because the SDK never ends a call whose
 * stream breaks.
 */
interface SdkConnection {
  readonly client: McpClient;
  readonly lostConnectionEnding: Promise<CallEnding>;
}

class SdkClient implements SoakClient {
  readonly name: string;
  readonly kind: ClientKind;
  readonly strayMessages: string[] = [];
  readonly #connect: () => Promise<McpClient>;
  #connection: Promise<SdkConnection> | undefined;

  constructor(name: string, kind: ClientKind, connect: () => Promise<McpClient>) {
    this.name = name;
    this.kind = kind;
    this.#connect = connect;
  }

  async call(tool: string, args: Record<string, unknown>, callBehavior: ClientCallOptions): Promise<CallEnding> {
    const progress: number[] = [];
    let connectionPromise: Promise<SdkConnection> | undefined;
    try {
      connectionPromise = this.#getConnection();
      const connection = await connectionPromise;
      if (callBehavior.stopSignal?.aborted) return makeUnansweredEnding('silent', 'stopped before the call began');
      const answeredCall = connection.client
        .call(tool, args, {
          timeoutMs: 600_000,
          ...(callBehavior.stopSignal ? { signal: callBehavior.stopSignal } : {}),
          ...(callBehavior.omitsProgressToken
            ? { omitsProgressToken: true }
            : { onProgress: (report) => progress.push(report.progress) }),
        })
        .then(
          (callOutcome): CallEnding => ({
            code: callOutcome.isError ? String(callOutcome.code ?? 'error') : 'ok',
            text: callOutcome.text,
            structured: callOutcome.structured,
            progress,
            answerCount: 1,
          }),
        );
      return await Promise.race([answeredCall, connection.lostConnectionEnding]);
    } catch (error) {
      if (callBehavior.stopSignal?.aborted) return makeUnansweredEnding('silent', 'cancelled', progress);
      const { code, text: errorText } = classifyError(error);
      if (code === 'refused' || code === 'transport') this.#discardConnection(connectionPromise);
      return makeUnansweredEnding(code, errorText, progress);
    }
  }

  async kill(): Promise<void> {
    await this.close();
  }

  async endSession(): Promise<void> {
    await this.close();
  }

  async close(): Promise<void> {
    const connectionPromise = this.#connection;
    this.#connection = undefined;
    const connection = await connectionPromise?.catch(() => undefined);
    await connection?.client.close().catch(() => undefined);
  }

  #discardConnection(connectionPromise: Promise<SdkConnection> | undefined): void {
    if (this.#connection !== connectionPromise) return;
    this.#connection = undefined;
    connectionPromise?.then(
      ({ client }) => client.close(),
      () => undefined,
    );
  }

  #getConnection(): Promise<SdkConnection> {
    if (!this.#connection) {
      // An old connection may close after a newer connection has replaced it, and must not close the newer one.
      const newConnection = this.#openConnection(() => {
        if (this.#connection === newConnection) this.#connection = undefined;
      });
      this.#connection = newConnection;
    }
    return this.#connection;
  }

  async #openConnection(onClose: () => void): Promise<SdkConnection> {
    const client = await this.#connect();
    let resolveConnectionLost: (reason: string) => void = () => undefined;
    const connectionLostEnding = new Promise<CallEnding>((resolve) => {
      resolveConnectionLost = (reason) => resolve(makeUnansweredEnding('transport', reason));
    });
    client.sdk.onclose = () => {
      onClose();
      resolveConnectionLost('the connection was closed');
    };
    client.sdk.onerror = (error) => {
      if (/disconnected|terminated|fetch failed|ECONNREFUSED|ECONNRESET/.test(String(error))) {
        onClose();
        resolveConnectionLost(String(error));
        void client.close().catch(() => undefined);
      }
    };
    return { client, lostConnectionEnding: connectionLostEnding };
  }
}

function classifyError(error: unknown): { code: string; text: string } {
  const errorText = String(error);
  if (error instanceof McpError && error.code !== -32000) return { code: `rpc:${error.code}`, text: errorText };
  if (/HTTP 404|Session not found|no such session/i.test(errorText)) return { code: 'refused', text: errorText };
  return { code: 'transport', text: errorText };
}

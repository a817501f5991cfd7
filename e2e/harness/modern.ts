/** Connects raw MCP clients that use protocol version 2026-07-28, which the installed official SDK does not support. */
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { opentabsBinary } from './process.ts';

/** Over stdio, onProgress receives the progress notifications whose token equals the request's ID. */
export type ExchangeRequest = (
  requestMessage: Record<string, unknown>,
  onProgress?: (progress: Record<string, unknown>) => void,
) => Promise<Record<string, unknown>>;

export interface ModernClient {
  readonly exchangeMessage: ExchangeRequest;
  close(): Promise<void>;
}

export interface McpEndpoint {
  readonly port: number;
  readonly clientToken: string;
  readonly env: Readonly<Record<string, string>>;
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export async function connectModernHttp(
  stack: McpEndpoint,
  headers: Readonly<Record<string, string>> = {},
): Promise<ModernClient> {
  const exchangeMessage: ExchangeRequest = async (requestMessage) => {
    const response = await fetch(`http://127.0.0.1:${stack.port}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${stack.clientToken}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': String(Object(requestMessage.params).name),
        ...headers,
      },
      body: JSON.stringify(requestMessage),
    });
    const responseText = await response.text();
    const lastMessage = responseText.startsWith('{')
      ? responseText
      : (responseText.trim().split('data: ').at(-1) ?? '');
    const lastAnswer: unknown = JSON.parse(lastMessage);
    return isRecord(lastAnswer) ? lastAnswer : {};
  };
  return { exchangeMessage, close: async () => undefined };
}

/**
 * Like @modelcontextprotocol/client 2.4, the stdio client handles a response at once, and a notification one microtask
 * later.
 */
export async function connectModernStdio(stack: McpEndpoint): Promise<ModernClient> {
  const inheritedEnv = Object.entries(process.env).flatMap(([variableName, v]) =>
    v === undefined ? [] : [[variableName, v] as const],
  );
  const stdioTransport = new StdioClientTransport({
    command: opentabsBinary,
    args: ['mcp'],
    env: { ...Object.fromEntries(inheritedEnv), ...stack.env },
    stderr: 'ignore',
  });
  const answerHandlers = new Map<unknown, (lastAnswer: Record<string, unknown>) => void>();
  const listeners = new Map<unknown, (progress: Record<string, unknown>) => void>();
  stdioTransport.onmessage = (requestMessage) => {
    if ('method' in requestMessage) {
      const params = requestMessage.method === 'notifications/progress' ? requestMessage.params : undefined;
      Promise.resolve().then(() => params && listeners.get(params.progressToken)?.(params));
    } else if ('id' in requestMessage) {
      listeners.delete(requestMessage.id);
      answerHandlers.get(requestMessage.id)?.({ ...requestMessage });
    }
  };
  await stdioTransport.start();
  return {
    exchangeMessage: (requestMessage, onProgress) =>
      new Promise((resolve, reject) => {
        const { id, params } = requestMessage;
        if (typeof id !== 'number' || !isRecord(params)) throw new Error('not a request');
        answerHandlers.set(id, resolve);
        if (onProgress) listeners.set(id, onProgress);
        stdioTransport.send({ jsonrpc: '2.0', id, method: 'tools/call', params }).catch(reject);
      }),
    close: () => stdioTransport.close(),
  };
}

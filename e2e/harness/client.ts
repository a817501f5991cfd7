/** Connects MCP clients of the official TypeScript SDK, over HTTP or stdio. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolResultSchema,
  type ElicitRequest,
  ElicitRequestSchema,
  type ElicitResult,
  type Progress,
} from '@modelcontextprotocol/sdk/types.js';
import { opentabsBinary } from './process.ts';
import { OperationTimeoutMs } from './wait.ts';

export interface CallOutcome {
  readonly text: string;
  readonly structured: unknown;
  readonly isError: boolean;
  readonly code: unknown;
  readonly progress: readonly ReceivedProgress[];
  readonly durationMs: number;
}

export interface ReceivedProgress extends Progress {
  readonly atMs: number;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (report: ReceivedProgress) => void;
  /** omitsProgressToken omits the progressToken from the request, so the server sends no progress notifications. */
  readonly omitsProgressToken?: boolean;
  /** The default timeoutMs is shorter than the time limit of a test file, so that a hanging call fails its own test. */
  readonly timeoutMs?: number;
}

export interface McpClient {
  readonly sdk: Client;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<CallOutcome>;
  close(): Promise<void>;
}

/** FormHandler answers an elicitation form in place of a user. signal aborts when the server withdraws the form. */
export type FormHandler = (form: ElicitRequest['params'], signal: AbortSignal) => Promise<ElicitResult>;

/** If answerForm is undefined, the client does not declare the elicitation capability. */
export function connectHttp(port: number, token: string, answerForm?: FormHandler): Promise<McpClient> {
  return connectClient(
    new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
    answerForm,
  );
}

/** connectStdio starts `opentabs mcp` and connects an MCP client to the process. */
export function connectStdio(env: Readonly<Record<string, string>>, answerForm?: FormHandler): Promise<McpClient> {
  const inheritedEnv = Object.entries(process.env).flatMap(([variableName, v]) =>
    v === undefined ? [] : [[variableName, v] as const],
  );
  return connectClient(
    new StdioClientTransport({
      command: opentabsBinary,
      args: ['mcp'],
      env: { ...Object.fromEntries(inheritedEnv), ...env },
      stderr: 'ignore',
    }),
    answerForm,
  );
}

async function connectClient(clientTransport: unknown, answerForm?: FormHandler): Promise<McpClient> {
  const sdkClient = new Client(
    { name: 'opentabs-e2e', version: '0.1.0' },
    { capabilities: answerForm ? { elicitation: { form: {} } } : {} },
  );
  if (answerForm)
    sdkClient.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) => answerForm(params, signal));
  if (!isTransport(clientTransport)) throw new Error('not a transport');
  await sdkClient.connect(clientTransport);
  return {
    sdk: sdkClient,
    async call(name, args = {}, options = {}) {
      const startMs = performance.now();
      const progress: ReceivedProgress[] = [];
      const callResult = await sdkClient.request(
        { method: 'tools/call', params: { name, arguments: args } },
        CallToolResultSchema,
        {
          timeout: options.timeoutMs ?? OperationTimeoutMs,
          ...(options.signal ? { signal: options.signal } : {}),
          ...(options.omitsProgressToken
            ? {}
            : {
                onprogress(notification) {
                  const progressReport = { ...notification, atMs: performance.now() - startMs };
                  progress.push(progressReport);
                  options.onProgress?.(progressReport);
                },
              }),
        },
      );
      const errorDetail = callResult._meta?.['opentabs/error'];
      return {
        text: callResult.content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n'),
        structured: callResult.structuredContent,
        isError: callResult.isError === true,
        code:
          typeof errorDetail === 'object' && errorDetail !== null && 'code' in errorDetail
            ? errorDetail.code
            : undefined,
        progress,
        durationMs: performance.now() - startMs,
      };
    },
    async close() {
      await sdkClient.close();
    },
  };
}

/**
 * With exactOptionalPropertyTypes, TypeScript does not accept the SDK's transport classes as its Transport interface.
 */
function isTransport(value: unknown): value is Transport {
  return typeof value === 'object' && value !== null && 'start' in value && 'send' in value;
}

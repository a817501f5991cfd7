/** Stock MCP clients: the official TypeScript SDK over HTTP and over stdio. */
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
import { binary } from './process.ts';

/** Outcome is how one tools/call ended, with the progress that came before. */
export interface Outcome {
  readonly text: string;
  readonly structured: unknown;
  readonly isError: boolean;
  readonly code: unknown;
  readonly progress: readonly Seen[];
  readonly tookMs: number;
}

/** Seen is a progress notification and when it came. */
export interface Seen extends Progress {
  readonly atMs: number;
}

/** CallOptions are what a caller may set. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (seen: Seen) => void;
  /** Send no progressToken. */
  readonly silent?: boolean;
}

/** McpClient is a connected client. */
export interface McpClient {
  readonly sdk: Client;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<Outcome>;
  close(): Promise<void>;
}

/** Person fills in the forms that a client shows. signal aborts when the server takes a form back. */
export type Person = (form: ElicitRequest['params'], signal: AbortSignal) => Promise<ElicitResult>;

/** connectHttp connects over Streamable HTTP. A client without a person declares that it shows no forms. */
export function connectHttp(port: number, token: string, person?: Person): Promise<McpClient> {
  return connect(
    new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
    person,
  );
}

/** connectStdio starts opentabs mcp and connects to it, see connectHttp. */
export function connectStdio(env: Readonly<Record<string, string>>, person?: Person): Promise<McpClient> {
  const inherited = Object.entries(process.env).flatMap(([k, v]) => (v === undefined ? [] : [[k, v] as const]));
  return connect(
    new StdioClientTransport({
      command: binary,
      args: ['mcp'],
      env: { ...Object.fromEntries(inherited), ...env },
      stderr: 'ignore',
    }),
    person,
  );
}

async function connect(transport: unknown, person?: Person): Promise<McpClient> {
  const sdk = new Client(
    { name: 'opentabs-e2e', version: '0.1.0' },
    { capabilities: person ? { elicitation: { form: {} } } : {} },
  );
  if (person) sdk.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) => person(params, signal));
  if (!isTransport(transport)) throw new Error('not a transport');
  await sdk.connect(transport);
  return {
    sdk,
    async call(name, args = {}, options = {}) {
      const begun = performance.now();
      const progress: Seen[] = [];
      const result = await sdk.request(
        { method: 'tools/call', params: { name, arguments: args } },
        CallToolResultSchema,
        {
          timeout: 600_000,
          ...(options.signal ? { signal: options.signal } : {}),
          ...(options.silent
            ? {}
            : {
                onprogress(p) {
                  const seen = { ...p, atMs: performance.now() - begun };
                  progress.push(seen);
                  options.onProgress?.(seen);
                },
              }),
        },
      );
      const detail = result._meta?.['opentabs/error'];
      return {
        text: result.content.map((c) => (c.type === 'text' ? c.text : `[${c.type}]`)).join('\n'),
        structured: result.structuredContent,
        isError: result.isError === true,
        code: typeof detail === 'object' && detail !== null && 'code' in detail ? detail.code : undefined,
        progress,
        tookMs: performance.now() - begun,
      };
    },
    async close() {
      await sdk.close();
    },
  };
}

/** isTransport narrows; the SDK's own transports do not fit its interface under exactOptionalPropertyTypes. */
function isTransport(value: unknown): value is Transport {
  return typeof value === 'object' && value !== null && 'start' in value && 'send' in value;
}

/** Simulates an agent that uses one browser MCP server, and counts its calls, their time and their tokens. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';

/** Field is a form field with its new value. */
export interface Field {
  readonly ref: string;
  readonly label: string;
  readonly kind: 'textbox' | 'combobox' | 'checkbox';
  readonly value: string;
}

/** Usage is what the simulated agent has consumed since the last reset. One token is counted for 4 bytes. */
export interface Usage {
  calls: number;
  callMs: number;
  /** tokensIn is the number of tokens in the arguments that the model writes. */
  tokensIn: number;
  /** tokensOut is the number of tokens in the results that the model reads. */
  tokensOut: number;
}

/**
 * ServerTools describes the tools of one browser MCP server. Each function returns the name of a tool and its
 * arguments.
 */
export interface ServerTools {
  open(url: string): ToolCall;
  snapshot(): ToolCall;
  click(ref: string): ToolCall;
  type(ref: string, text: string): ToolCall;
  submit(ref: string, text: string): readonly ToolCall[];
  select(ref: string, value: string): ToolCall;
  fill(fields: readonly Field[]): ToolCall;
  upload(ref: string, path: string): readonly ToolCall[];
  screenshot(): ToolCall;
  evaluate(code: string): ToolCall;
  /** refIn returns the ref of the first element whose line in the result contains the words. */
  refIn(answer: string, words: string): string | undefined;
}

export type ToolCall = readonly [name: string, args: Record<string, unknown>];

/** imageTokens is the typical number of tokens of a viewport screenshot. */
const imageTokens = 1_100;

/** Agent calls the tools of one browser MCP server. */
export class Agent {
  readonly name: string;
  readonly serverTools: ServerTools;
  readonly usage: Usage = { calls: 0, callMs: 0, tokensIn: 0, tokensOut: 0 };
  readonly #client: Client;

  constructor(name: string, client: Client, words: ServerTools) {
    this.name = name;
    this.#client = client;
    this.serverTools = words;
  }

  resetUsage(): void {
    Object.assign(this.usage, { calls: 0, callMs: 0, tokensIn: 0, tokensOut: 0 });
  }

  /** call calls a tool and returns the text of its result. call fails if the tool fails. */
  async call([name, args]: ToolCall): Promise<string> {
    const beganMs = performance.now();
    const result = await this.#client.request(
      { method: 'tools/call', params: { name, arguments: args } },
      CallToolResultSchema,
      { timeout: 120_000 },
    );
    this.usage.callMs += performance.now() - beganMs;
    const answer = result.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    const images = result.content.filter(({ type }) => type === 'image').length;
    this.usage.calls++;
    this.usage.tokensIn += countTokens(name + JSON.stringify(args));
    this.usage.tokensOut += countTokens(answer) + images * imageTokens;
    if (result.isError) throw new Error(`${this.name}: ${name} failed: ${answer.slice(0, 500)}`);
    return answer;
  }

  /** time calls a tool and returns the duration of the call in milliseconds. */
  async time(call: ToolCall): Promise<number> {
    const beganMs = performance.now();
    await this.call(call);
    return performance.now() - beganMs;
  }

  /** listTokens returns the number of listed tools, and the number of tokens of the tool list. */
  async listTools(): Promise<{ readonly tools: number; readonly tokens: number }> {
    const { tools } = await this.#client.listTools();
    return { tools: tools.length, tokens: countTokens(JSON.stringify(tools)) };
  }
}

/** countTokens returns the number of tokens of a text, one token for 4 bytes. */
export function countTokens(text: string): number {
  return Math.round(Buffer.byteLength(text) / 4);
}

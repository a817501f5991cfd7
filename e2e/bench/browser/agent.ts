/** Simulates an agent that uses one browser MCP server. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';

export interface FormField {
  readonly ref: string;
  readonly label: string;
  readonly kind: 'textbox' | 'combobox' | 'checkbox';
  readonly value: string;
}

/** TokenUsage counts the simulated agent's calls, time and tokens; four bytes of text count as one token. */
export interface TokenUsage {
  calls: number;
  callMs: number;
  /** tokensIn is how many tokens a model would write as arguments of the tool calls. */
  tokensIn: number;
  /** tokensOut is how many tokens a model would read in the results of the tool calls. */
  tokensOut: number;
}

/** ServerTools translates browser actions, such as a click, into tool calls of one MCP server. */
export interface ServerTools {
  open(url: string): ToolCall;
  snapshot(): ToolCall;
  click(ref: string): ToolCall;
  type(ref: string, typedText: string): ToolCall;
  submit(ref: string, typedText: string): readonly ToolCall[];
  select(ref: string, value: string): ToolCall;
  fill(fields: readonly FormField[]): ToolCall;
  upload(ref: string, path: string): readonly ToolCall[];
  screenshot(): ToolCall;
  evaluate(code: string): ToolCall;
  /** findRef returns the ref of the first element whose line in a tool's result contains the words. */
  findRef(answerText: string, elementName: string): string | undefined;
}

export type ToolCall = readonly [name: string, args: Record<string, unknown>];

/** imageTokens is the number of tokens that a model typically uses for a viewport screenshot. */
const imageTokens = 1_100;

export class Agent {
  readonly name: string;
  readonly serverTools: ServerTools;
  readonly usage: TokenUsage = { calls: 0, callMs: 0, tokensIn: 0, tokensOut: 0 };
  readonly #client: Client;

  constructor(name: string, client: Client, elementName: ServerTools) {
    this.name = name;
    this.#client = client;
    this.serverTools = elementName;
  }

  resetUsage(): void {
    Object.assign(this.usage, { calls: 0, callMs: 0, tokensIn: 0, tokensOut: 0 });
  }

  async call([name, args]: ToolCall): Promise<string> {
    const beganMs = performance.now();
    const toolResult = await this.#client.request(
      { method: 'tools/call', params: { name, arguments: args } },
      CallToolResultSchema,
      { timeout: 120_000 },
    );
    this.usage.callMs += performance.now() - beganMs;
    const answerText = toolResult.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    const imageCount = toolResult.content.filter(({ type }) => type === 'image').length;
    this.usage.calls++;
    this.usage.tokensIn += countTokens(name + JSON.stringify(args));
    this.usage.tokensOut += countTokens(answerText) + imageCount * imageTokens;
    if (toolResult.isError) throw new Error(`${this.name}: ${name} failed: ${answerText.slice(0, 500)}`);
    return answerText;
  }

  async measureCall(call: ToolCall): Promise<number> {
    const beganMs = performance.now();
    await this.call(call);
    return performance.now() - beganMs;
  }

  async listTools(): Promise<{ readonly tools: number; readonly tokens: number }> {
    const { tools } = await this.#client.listTools();
    return { tools: tools.length, tokens: countTokens(JSON.stringify(tools)) };
  }
}

export function countTokens(text: string): number {
  return Math.round(Buffer.byteLength(text) / 4);
}

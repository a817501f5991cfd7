import type { z } from 'zod';
import type { AudioContent, ImageContent, ResourceContent } from './content.ts';
import type { ToolHandlerContext } from './context.ts';
import type { CallLimits } from './tool.ts';

/** A text content block of a {@link PromptMessage}. */
export interface TextContent {
  type: 'text';
  text: string;
}

/** One MCP message of a prompt. */
export interface PromptMessage {
  role: 'user' | 'assistant';
  content: TextContent | ImageContent | AudioContent | ResourceContent;
}

/**
 * One argument of a prompt, whose value is always a string. For an argument of another type, use a zod schema in
 * `args`.
 */
export interface PromptArgument {
  name: string;
  description?: string | undefined;
  /** Whether the prompt requires the argument; false by default. */
  required?: boolean | undefined;
}

/** The result of a prompt: a string, which becomes one message with the role `user`, or a list of messages. */
export type PromptResult =
  | string
  | readonly PromptMessage[]
  | { description?: string | undefined; messages: readonly PromptMessage[] };

type RenderResult = PromptResult | Promise<PromptResult>;

/**
 * An MCP prompt, whose text the plugin generates in the page. The user selects the prompt in an MCP client, where its
 * name is `<plugin>__<name>`. `Params` is the type of the arguments of `render`.
 */
export interface PromptDefinition<Params = Record<string, unknown>, Rendered extends RenderResult = RenderResult> {
  /**
   * The name of the prompt in snake_case: `^[a-z][a-z0-9]*(_[a-z0-9]+)*$`. The name must differ from the names of the
   * plugin's tools.
   */
  name: string;
  /**
   * The prompt's title that users see. By default, the title is derived from `name`: `weekly_report` becomes `Weekly
   * Report`.
   */
  displayName?: string | undefined;
  /** What the prompt produces, for the user who selects it in an MCP client; up to 1,000 characters. */
  description?: string | undefined;
  /**
   * The zod schema of the prompt's arguments. MCP clients send strings, which the server converts: "20" for a
   * `z.number()`, "true" for a `z.boolean()`, JSON for an array or object. If a client sends an empty string for an
   * optional argument, the argument is omitted. Before `render` runs, opentabs parses the converted arguments with the
   * zod schema, so defaults and transforms apply.
   */
  args?: z.ZodObject<z.ZodRawShape> | undefined;
  /**
   * The arguments of a prompt without `args`; each value is a string. If `args` is present, `arguments` only adds
   * descriptions that the schema in `args` lacks.
   */
  arguments?: readonly PromptArgument[] | undefined;
  limits?: CallLimits | undefined;
  /**
   * Generates the messages of the prompt, in the page. Prompts have the same context and timeouts as tools, so a slow
   * prompt should report progress. The context is absent only where a test calls `render` directly.
   */
  render(args: Params, context?: ToolHandlerContext): Rendered;
}

/** Returns `prompt` unchanged, and infers the types of the arguments from the schema. */
export function definePrompt<Args extends z.ZodObject<z.ZodRawShape>, Rendered extends RenderResult>(
  prompt: PromptDefinition<z.infer<Args>, Rendered> & { args: Args },
): PromptDefinition<z.infer<Args>, Rendered> & { args: Args };
export function definePrompt<Rendered extends RenderResult>(
  prompt: PromptDefinition<Record<string, string>, Rendered> & { args?: undefined },
): PromptDefinition<Record<string, string>, Rendered>;
export function definePrompt<Prompt>(prompt: Prompt): Prompt {
  return prompt;
}

import type { z } from 'zod';
import type { AudioContent, ImageContent, ResourceContent } from './content.ts';
import type { ToolHandlerContext } from './context.ts';
import type { CallLimits } from './tool.ts';

/** A text in a {@link PromptMessage}. */
export interface TextContent {
  type: 'text';
  text: string;
}

/** One message of a prompt, as MCP has it. */
export interface PromptMessage {
  role: 'user' | 'assistant';
  content: TextContent | ImageContent | AudioContent | ResourceContent;
}

/** One argument, where a prompt has no schema for them. Its value is a text. */
export interface PromptArgument {
  name: string;
  description?: string | undefined;
  /** Whether the prompt needs it; false if absent. */
  required?: boolean | undefined;
}

/** What a prompt makes: a text that the person says, or whole messages, with a description of them if there is one. */
export type PromptResult =
  | string
  | readonly PromptMessage[]
  | { description?: string | undefined; messages: readonly PromptMessage[] };

type Renderable = PromptResult | Promise<PromptResult>;

/**
 * A text for an agent, made in the page. A person chooses it in their client, which knows it as `<plugin>__<name>`.
 * `Params` are the arguments as `render` gets them.
 */
export interface PromptDefinition<Params = Record<string, unknown>, Rendered extends Renderable = Renderable> {
  /** snake_case, and not the name of a tool: `^[a-z][a-z0-9]*(_[a-z0-9]+)*$`. */
  name: string;
  /** The name for people; made from `name` if absent. */
  displayName?: string | undefined;
  /** What it makes, for the person who chooses it; up to 1,000 characters. */
  description?: string | undefined;
  /**
   * The arguments. Clients send texts and the server reads them by this schema: "20" for a `z.number()`, "true" for a
   * `z.boolean()`, JSON for an array or object; an empty text for an argument that is not required stands for none. Then
   * the page parses them with the schema itself, so defaults and transforms apply.
   */
  args?: z.ZodObject<z.ZodRawShape> | undefined;
  /** The arguments where `args` is absent, all texts; beside `args`, only what it does not describe itself. */
  arguments?: readonly PromptArgument[] | undefined;
  limits?: CallLimits | undefined;
  /**
   * Makes the prompt, in the page. The context is that of a tool, with the same limits: what takes long reports. It is
   * absent only where a test calls `render` itself.
   */
  render(args: Params, context?: ToolHandlerContext): Rendered;
}

/** Returns `prompt`; its purpose is to infer the types of the arguments from the schema. */
export function definePrompt<Args extends z.ZodObject<z.ZodRawShape>, Rendered extends Renderable>(
  prompt: PromptDefinition<z.infer<Args>, Rendered> & { args: Args },
): PromptDefinition<z.infer<Args>, Rendered> & { args: Args };
export function definePrompt<Rendered extends Renderable>(
  prompt: PromptDefinition<Record<string, string>, Rendered> & { args?: undefined },
): PromptDefinition<Record<string, string>, Rendered>;
export function definePrompt<Prompt>(prompt: Prompt): Prompt {
  return prompt;
}

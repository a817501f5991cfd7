import type { z } from 'zod';
import type { AudioContent, ImageContent, ResourceContent } from './content.ts';
import type { ToolHandlerContext } from './context.ts';
import type { CallLimits } from './tool.ts';

/** A text block in a {@link PromptMessage}. */
export interface TextContent {
  type: 'text';
  text: string;
}

/** One message of a prompt, as in MCP. */
export interface PromptMessage {
  role: 'user' | 'assistant';
  content: TextContent | ImageContent | AudioContent | ResourceContent;
}

/** One argument of a prompt without a schema. The value of an argument without a schema is a text. */
export interface PromptArgument {
  name: string;
  description?: string | undefined;
  /** Whether the prompt requires the argument; false if absent. */
  required?: boolean | undefined;
}

/** The result of a prompt: a text, which becomes one message of the user, or messages with an optional description. */
export type PromptResult =
  | string
  | readonly PromptMessage[]
  | { description?: string | undefined; messages: readonly PromptMessage[] };

type RenderResult = PromptResult | Promise<PromptResult>;

/**
 * A prompt for an agent, whose text is made in the page. The user chooses the prompt in the client, where the prompt is named
 * `<plugin>__<name>`. `Params` are the arguments that `render` receives.
 */
export interface PromptDefinition<Params = Record<string, unknown>, Rendered extends RenderResult = RenderResult> {
  /**
   * The name of the prompt in snake_case, `^[a-z][a-z0-9]*(_[a-z0-9]+)*$`; no tool of the plugin may have the same
   * name.
   */
  name: string;
  /** The name that users see; if absent, the name is derived from `name`. */
  displayName?: string | undefined;
  /** What the prompt makes, as a text for the user who chooses a prompt; up to 1,000 characters. */
  description?: string | undefined;
  /**
   * The schema of the arguments. The server converts the texts that clients send: "20" for a `z.number()`, "true" for a
   * `z.boolean()`, JSON for an array or object. An empty string for an optional argument means that the argument is
   * absent. The page parses the converted arguments again with the schema, so defaults and transforms apply.
   */
  args?: z.ZodObject<z.ZodRawShape> | undefined;
  /**
   * The arguments of a prompt without `args`; each argument is a text. If the prompt has `args`, `arguments` adds
   * descriptions that the schema in `args` does not have.
   */
  arguments?: readonly PromptArgument[] | undefined;
  limits?: CallLimits | undefined;
  /**
   * Makes the text of the prompt, in the page. A prompt has the same context and the same limits as a tool, so a slow
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

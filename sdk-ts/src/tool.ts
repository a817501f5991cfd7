import type { z } from 'zod';
import type { ToolHandlerContext } from './context.ts';
import type { LucideIconName } from './lucide-icon-names.gen.ts';

/** Hints about what a tool does, as MCP has them. Clients use them to decide when to ask the person. */
export interface ToolAnnotations {
  /** The tool changes nothing. */
  readOnlyHint?: boolean | undefined;
  /** What the tool changes can't be undone. */
  destructiveHint?: boolean | undefined;
  /** A second call with the same parameters changes nothing more. */
  idempotentHint?: boolean | undefined;
  /** The tool reaches other people or the outside world. */
  openWorldHint?: boolean | undefined;
}

/** How long a call may take, where the server's limits do not fit. Whole milliseconds, from 1,000 to 300,000. */
export interface CallLimits {
  /** How long it may go without a report; the server's 30 s if absent. A limit that the user has set is never exceeded. */
  idleTimeoutMs?: number | undefined;
  /** How long it may run in all; the server's 5 minutes if absent, which it never exceeds. */
  hardTimeoutMs?: number | undefined;
}

/** One function of a plugin. Agents see it as `<plugin>__<name>`. */
export interface ToolDefinition<
  Input extends z.ZodObject<z.ZodRawShape> = z.ZodObject<z.ZodRawShape>,
  Output extends z.ZodType = z.ZodType,
> {
  /** snake_case: `^[a-z][a-z0-9]*(_[a-z0-9]+)*$`. */
  name: string;
  /** The name for people; made from `name` if absent. */
  displayName?: string | undefined;
  /** What it does, for the agent; up to 1,000 characters. */
  description: string;
  /** A shorter text for people. */
  summary?: string | undefined;
  /** A Lucide icon's name; `wrench` if absent. */
  icon?: LucideIconName | undefined;
  /** A header to list the tool under. */
  group?: string | undefined;
  annotations?: ToolAnnotations | undefined;
  limits?: CallLimits | undefined;
  /** The parameters. Agents see its JSON Schema; the page parses with it, so defaults and transforms apply. */
  input: Input;
  /** What the tool returns. */
  output: Output;
  /**
   * Does the work, in the page. The context is absent only where a test calls the handler itself, so write
   * `context?.reportProgress(...)`.
   */
  handle(params: z.infer<Input>, context?: ToolHandlerContext): Promise<z.infer<Output>>;
}

/** Returns `tool`; its purpose is to infer the types of the handler's parameters and result from the schemas. */
export function defineTool<Input extends z.ZodObject<z.ZodRawShape>, Output extends z.ZodType>(
  tool: ToolDefinition<Input, Output>,
): ToolDefinition<Input, Output> {
  return tool;
}

import type { z } from 'zod';
import type { ToolHandlerContext } from './context.ts';
import type { LucideIconName } from './lucide-icon-names.gen.ts';

/** MCP hints about the effects of a tool. A client uses the hints of a tool to decide when to ask the user. */
export interface ToolAnnotations {
  /** The tool only reads: it changes no data. */
  readOnlyHint?: boolean | undefined;
  /** The tool makes changes that cannot be undone. */
  destructiveHint?: boolean | undefined;
  /** A second call with the same parameters has no further effect. */
  idempotentHint?: boolean | undefined;
  /** The tool reaches other users or external systems. */
  openWorldHint?: boolean | undefined;
}

/**
 * The time limits of a call, if the server's default limits do not fit. Each limit is a whole number of milliseconds,
 * from 1,000 to 300,000.
 */
export interface CallLimits {
  /**
   * The longest time without a report; the server's 30 s if absent. A tool cannot exceed a limit that the user has set.
   */
  idleTimeoutMs?: number | undefined;
  /** The longest run time; the server's limit of 5 min if absent. A tool cannot exceed the server's limit. */
  hardTimeoutMs?: number | undefined;
}

/**
 * A JSON Pointer (RFC 6901) into the arguments (`/input`) or the result (`/result`) of a call, such as `/result/id`.
 */
export type UndoPointer = '/input' | '/result' | `/input/${string}` | `/result/${string}`;

/** How a call that is done is undone: by a call of another tool of the same plugin. */
export interface ToolUndo {
  /** The name of the other tool, such as `restore_item`. */
  tool: string;
  /** The arguments of the other tool. An argument whose pointer has no value is left out. */
  input?: Readonly<Record<string, UndoPointer>> | undefined;
}

/** One function of a plugin. Agents see the tool as `<plugin>__<name>`. */
export interface ToolDefinition<
  Input extends z.ZodObject<z.ZodRawShape> = z.ZodObject<z.ZodRawShape>,
  Output extends z.ZodType = z.ZodType,
> {
  /** The name of the tool in snake_case: `^[a-z][a-z0-9]*(_[a-z0-9]+)*$`. */
  name: string;
  /** The name that users see; if absent, the name is derived from `name`. */
  displayName?: string | undefined;
  /** What the tool does, for the agent; up to 1,000 characters. */
  description: string;
  /** A shorter description of the tool, for users. */
  summary?: string | undefined;
  /** The name of a Lucide icon; `wrench` if absent. */
  icon?: LucideIconName | undefined;
  /** The heading of the tool in lists. */
  group?: string | undefined;
  annotations?: ToolAnnotations | undefined;
  limits?: CallLimits | undefined;
  /**
   * How a call of the tool is undone. The side panel and `opentabs calls undo` then offer to undo a call that is done:
   * `undo: { tool: 'restore_item', input: { id: '/result/id' } }`.
   */
  undo?: ToolUndo | undefined;
  /**
   * The schema of the parameters. Agents receive the schema of the parameters as JSON Schema. The page parses the
   * parameters with the zod schema, so defaults and transforms apply.
   */
  input: Input;
  /** The schema of the result. */
  output: Output;
  /**
   * Runs the tool, in the page. The context is absent only where a test calls the handler directly, so write
   * `context?.reportProgress(...)`.
   */
  handle(params: z.infer<Input>, context?: ToolHandlerContext): Promise<z.infer<Output>>;
}

/** Returns `tool` unchanged, and infers the types of the parameters and the result from the schemas. */
export function defineTool<Input extends z.ZodObject<z.ZodRawShape>, Output extends z.ZodType>(
  tool: ToolDefinition<Input, Output>,
): ToolDefinition<Input, Output> {
  return tool;
}

import type { z } from 'zod';
import type { ToolHandlerContext } from './context.ts';
import type { LucideIconName } from './lucide-icon-names.gen.ts';

/**
 * MCP hints about the effects of a tool. MCP clients read the hints of a tool to decide when to ask the user for
 * approval.
 */
export interface ToolAnnotations {
  /** The tool only reads: it changes no data. */
  readOnlyHint?: boolean | undefined;
  /** The tool makes changes that cannot be undone, such as deleting a message. */
  destructiveHint?: boolean | undefined;
  /** A second call with the same parameters changes nothing more, as for a tool that archives an item. */
  idempotentHint?: boolean | undefined;
  /** True if the tool's action can affect other users or external systems. */
  openWorldHint?: boolean | undefined;
}

/**
 * Timeouts of a tool's calls, if the server's defaults do not fit. A timeout is a whole number of milliseconds, from
 * 1,000 to 300,000.
 */
export interface CallLimits {
  /**
   * The longest time without a progress report, in milliseconds; by default the server's limit of 30 s. If the user has
   * set a lower limit, the user's limit applies.
   */
  idleTimeoutMs?: number | undefined;
  /**
   * The longest time that a call may run in total, in milliseconds; by default the server's limit of 5 min. If a tool
   * declares a longer time than the server's limit, the server's limit applies.
   */
  hardTimeoutMs?: number | undefined;
}

/**
 * A JSON Pointer (RFC 6901) into the arguments (`/input`) or the result (`/result`) of a tool call, such as
 * `/result/id`.
 */
export type UndoPointer = '/input' | '/result' | `/input/${string}` | `/result/${string}`;

/** Names the tool of the same plugin that undoes a finished call, and the arguments to pass. */
export interface ToolUndo {
  /** The name of the tool that undoes the call, such as `restore_item`. */
  tool: string;
  /**
   * Maps each argument of the tool that undoes the call to a pointer to its value, such as `/result/id`. An argument is
   * omitted if its pointer refers to a value that does not exist.
   */
  input?: Readonly<Record<string, UndoPointer>> | undefined;
}

/** A function of a plugin that agents can call as `<plugin>__<name>`. */
export interface ToolDefinition<
  Input extends z.ZodObject<z.ZodRawShape> = z.ZodObject<z.ZodRawShape>,
  Output extends z.ZodType = z.ZodType,
> {
  /** The name of the tool in snake_case: `^[a-z][a-z0-9]*(_[a-z0-9]+)*$`. */
  name: string;
  /**
   * The tool's title that users see. By default, the title is derived from `name`: `send_message` becomes `Send
   * Message`.
   */
  displayName?: string | undefined;
  /** What the tool does, written for agents; up to 1,000 characters. */
  description: string;
  /** A shorter description of the tool, written for users. */
  summary?: string | undefined;
  /** The tool's icon, as the name of a Lucide icon; `wrench` by default. */
  icon?: LucideIconName | undefined;
  /** The heading under which the side panel lists the tool, such as `Messages`. */
  group?: string | undefined;
  annotations?: ToolAnnotations | undefined;
  limits?: CallLimits | undefined;
  /**
   * How to undo a call of the tool, for example `undo: { tool: 'restore_item', input: { id: '/result/id' } }`. If a
   * tool declares `undo`, the user can undo its finished calls in the side panel, or with `opentabs calls undo`.
   */
  undo?: ToolUndo | undefined;
  /**
   * The zod schema of the tool's parameters. Agents receive the schema as JSON Schema. Before `handle` runs, opentabs
   * parses the parameters with the zod schema, so defaults and transforms apply.
   */
  input: Input;
  /** The zod schema of the tool's result, which agents receive as JSON Schema. */
  output: Output;
  /**
   * Runs in the page when an agent calls the tool, and returns the tool's result. If your tests call `handle` without a
   * context, write `context?.reportProgress(...)`.
   */
  handle(params: z.infer<Input>, context?: ToolHandlerContext): Promise<z.infer<Output>>;
}

/** Returns `tool` unchanged, and infers the types of the parameters and the result from the schemas. */
export function defineTool<Input extends z.ZodObject<z.ZodRawShape>, Output extends z.ZodType>(
  tool: ToolDefinition<Input, Output>,
): ToolDefinition<Input, Output> {
  return tool;
}

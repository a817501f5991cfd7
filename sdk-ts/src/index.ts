export {
  type AudioContent,
  audio,
  audioSchema,
  type ContentAnnotations,
  type ContentSource,
  type ImageContent,
  image,
  imageSchema,
  type ResourceContent,
  resource,
  resourceSchema,
} from './content.ts';
export type {
  Decision,
  NestedCallOptions,
  PatchOperation,
  ProgressAudience,
  ProgressOptions,
  ReportOptions,
  ToolHandlerContext,
  UserRequest,
} from './context.ts';
export {
  type FetchOptions,
  fetchFromPage,
  fetchJSON,
  fetchText,
  httpStatusToToolError,
  parseRetryAfterMs,
  postJSON,
} from './fetch.ts';
export {
  type ConfigField,
  type ConfigSchema,
  definePlugin,
  OpenTabsPlugin,
  type PluginDefinition,
} from './plugin.ts';
export {
  definePrompt,
  type PromptArgument,
  type PromptDefinition,
  type PromptMessage,
  type PromptResult,
  type TextContent,
} from './prompt.ts';
export { type SleepOptions, sleep, type WaitUntilOptions, waitUntil } from './timing.ts';
export { type CallLimits, defineTool, type ToolAnnotations, type ToolDefinition } from './tool.ts';
export { ToolError, type ToolErrorCategory, type ToolErrorOptions } from './tool-error.ts';

export { clearAuthCache, getAuthCache, setAuthCache } from './auth-cache.ts';
export { type ConfigSchema, type ConfigSettingDefinition, type ConfigSettingType, getConfig } from './config.ts';
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
  getMetaContent,
  getTextContent,
  type ObserveDOMOptions,
  observeDOM,
  querySelectorAll,
  type WaitForSelectorOptions,
  waitForSelector,
  waitForSelectorRemoval,
} from './dom.ts';
export { type FetchFromPageOptions, fetchFromPage, fetchJSON, fetchText, httpStatusToToolError } from './fetch.ts';
export { type Log, type LogEntry, type LogLevel, type LogTransport, log } from './log.ts';
export { LUCIDE_ICON_NAMES, type LucideIconName } from './lucide-icon-names.gen.ts';
export type { Manifest, ManifestPrompt, ManifestTool, ManifestUndo } from './manifest.ts';
export { NAME_REGEX, RESERVED_NAMES, validatePluginName } from './names.ts';
export { getCurrentUrl, getPageGlobal, getPageTitle } from './page.ts';
export { definePlugin, OpenTabsPlugin, type PluginDefinition } from './plugin.ts';
export { getPreScriptValue } from './pre-script-value.ts';
export {
  definePrompt,
  type PromptArgument,
  type PromptDefinition,
  type PromptMessage,
  type PromptResult,
  type TextContent,
} from './prompt.ts';
export { buildQueryString, type QueryValue, stripUndefined } from './query.ts';
export { notifyReadinessChanged } from './readiness.ts';
export { parseRateLimitHeader, parseRetryAfterMs } from './retry-after.ts';
export { deleteJSON, patchJSON, postForm, postFormData, postJSON, putJSON } from './send.ts';
export {
  findLocalStorageEntry,
  getCookie,
  getLocalStorage,
  getSessionStorage,
  removeLocalStorage,
  removeSessionStorage,
  setLocalStorage,
  setSessionStorage,
} from './storage.ts';
export {
  type RetryOptions,
  retry,
  type SleepOptions,
  sleep,
  type WaitUntilOptions,
  waitUntil,
} from './timing.ts';
export {
  type CallLimits,
  defineTool,
  type ToolAnnotations,
  type ToolDefinition,
  type ToolUndo,
  type UndoPointer,
} from './tool.ts';
export { type ErrorCategory, ToolError, type ToolErrorOptions } from './tool-error.ts';
export { validateUrlPattern } from './url-pattern.ts';

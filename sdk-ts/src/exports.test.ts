import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { z } from 'zod';
import type {
  ConfigSchema,
  ConfigSettingDefinition,
  ConfigSettingType,
  ErrorCategory,
  FetchFromPageOptions,
  LogEntry,
  LogLevel,
  LogTransport,
  LucideIconName,
  Manifest,
  ManifestTool,
  ObserveDOMOptions,
  OpenTabsPlugin,
  ProgressOptions,
  PromptArgument,
  PromptDefinition,
  PromptMessage,
  RetryOptions,
  SleepOptions,
  ToolDefinition,
  ToolErrorOptions,
  ToolHandlerContext,
  WaitForSelectorOptions,
  WaitUntilOptions,
} from './index.ts';
import * as sdk from './index.ts';
import type { PreScriptContext, PreScriptValue } from './pre-script.ts';
import * as preScript from './pre-script.ts';

// Plugins for the original OpenTabs SDK must compile unchanged with the opentabs SDK.

const originalNames = `
  OpenTabsPlugin defineTool definePrompt ToolError
  fetchFromPage httpStatusToToolError fetchJSON postJSON putJSON patchJSON deleteJSON postForm postFormData fetchText
  buildQueryString stripUndefined parseRetryAfterMs parseRateLimitHeader
  waitForSelector waitForSelectorRemoval querySelectorAll getTextContent getMetaContent observeDOM
  sleep retry waitUntil
  getLocalStorage setLocalStorage removeLocalStorage getSessionStorage setSessionStorage removeSessionStorage
  findLocalStorageEntry getCookie getAuthCache setAuthCache clearAuthCache
  getPageGlobal getCurrentUrl getPageTitle getConfig getPreScriptValue notifyReadinessChanged log
  NAME_REGEX RESERVED_NAMES validatePluginName validateUrlPattern LUCIDE_ICON_NAMES
`;
const addedNames = 'definePlugin image imageSchema audio audioSchema resource resourceSchema';

test('the SDK exports the names of the original OpenTabs SDK, the added names, and no other names', () => {
  assert.deepEqual(Object.keys(sdk).sort(), `${originalNames} ${addedNames}`.trim().split(/\s+/).sort());
  assert.deepEqual(Object.keys(preScript), ['definePreScript']);
});

test('package.json has the entries of the original OpenTabs SDK', () => {
  const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  assert.deepEqual(exports, {
    '.': './src/index.ts',
    './pre-script': './src/pre-script.ts',
    './testing': './src/testing.ts',
  });
});

/** If an export of the opentabs SDK has an incompatible type, exports.test.ts does not compile. */
export const signatures: {
  defineTool: <I extends z.ZodObject<z.ZodRawShape>, O extends z.ZodType>(
    tool: ToolDefinition<I, O>,
  ) => ToolDefinition<I, O>;
  ToolError: {
    new (message: string, code: string, options?: ToolErrorOptions): sdk.ToolError;
    auth(message: string, code?: string): sdk.ToolError;
    notFound(message: string, code?: string): sdk.ToolError;
    rateLimited(message: string, retryAfterMs?: number, code?: string): sdk.ToolError;
    validation(message: string, code?: string): sdk.ToolError;
    timeout(message: string, code?: string): sdk.ToolError;
    internal(message: string, code?: string): sdk.ToolError;
  };
  fetchFromPage: (url: string, init?: FetchFromPageOptions) => Promise<Response>;
  httpStatusToToolError: (response: Response, message: string) => sdk.ToolError;
  fetchJSON: Fetch;
  deleteJSON: Fetch;
  postJSON: SendFunction<unknown>;
  putJSON: SendFunction<unknown>;
  patchJSON: SendFunction<unknown>;
  postForm: SendFunction<Record<string, string>>;
  postFormData: SendFunction<FormData>;
  fetchText: (url: string, init?: FetchFromPageOptions) => Promise<string>;
  buildQueryString: (
    params: Record<string, string | number | boolean | (string | number | boolean)[] | undefined>,
  ) => string;
  stripUndefined: <T extends Record<string, unknown>>(object: T) => Partial<T>;
  parseRetryAfterMs: (value: string) => number | undefined;
  parseRateLimitHeader: (headers: Headers) => number | undefined;
  waitForSelector: <T extends Element = Element>(selector: string, options?: WaitForSelectorOptions) => Promise<T>;
  waitForSelectorRemoval: (selector: string, options?: WaitForSelectorOptions) => Promise<void>;
  querySelectorAll: <T extends Element = Element>(selector: string) => T[];
  getTextContent: (selector: string) => string | null;
  getMetaContent: (name: string) => string | null;
  observeDOM: (
    selector: string,
    callback: (mutations: MutationRecord[], observer: MutationObserver) => void,
    options?: ObserveDOMOptions,
  ) => () => void;
  sleep: (ms: number, options?: SleepOptions) => Promise<void>;
  retry: <T>(attempt: () => Promise<T>, options?: RetryOptions) => Promise<T>;
  waitUntil: (predicate: () => boolean | Promise<boolean>, options?: WaitUntilOptions) => Promise<void>;
  getLocalStorage: (key: string) => string | null;
  setLocalStorage: (key: string, value: string) => void;
  removeLocalStorage: (key: string) => void;
  getSessionStorage: (key: string) => string | null;
  setSessionStorage: (key: string, value: string) => void;
  removeSessionStorage: (key: string) => void;
  findLocalStorageEntry: (predicate: (key: string) => boolean) => { key: string; value: string } | null;
  getCookie: (name: string) => string | null;
  getAuthCache: <T>(namespace: string) => T | null;
  setAuthCache: <T>(namespace: string, value: T) => void;
  clearAuthCache: (namespace: string) => void;
  getPageGlobal: (path: string) => unknown;
  getCurrentUrl: () => string;
  getPageTitle: () => string;
  getConfig: (key: string) => string | number | boolean | undefined;
  getPreScriptValue: <T>(key: string) => T | undefined;
  notifyReadinessChanged: () => void;
  log: Readonly<Record<'debug' | 'info' | 'warn' | 'error', (message: string, ...args: unknown[]) => void>>;
  NAME_REGEX: RegExp;
  RESERVED_NAMES: ReadonlySet<string>;
  validatePluginName: (name: string) => string | null;
  validateUrlPattern: (pattern: string) => string | null;
  LUCIDE_ICON_NAMES: ReadonlySet<string>;
} = sdk;

interface Fetch {
  <T>(url: string, init?: FetchFromPageOptions): Promise<T | undefined>;
  <S extends z.ZodType>(url: string, init: FetchFromPageOptions | undefined, schema: S): Promise<z.infer<S>>;
}

interface SendFunction<Body> {
  <T>(url: string, body: Body, init?: FetchFromPageOptions): Promise<T | undefined>;
  <S extends z.ZodType>(
    url: string,
    body: Body,
    init: FetchFromPageOptions | undefined,
    schema: S,
  ): Promise<z.infer<S>>;
}

export const definePreScript: (script: (context: PreScriptContext) => void) => void = preScript.definePreScript;

export const types: {
  schema: ConfigSchema;
  setting: ConfigSettingDefinition;
  settingType: ConfigSettingType;
  category: ErrorCategory;
  entry: LogEntry;
  level: LogLevel;
  transport: LogTransport;
  icon: LucideIconName;
  tool: ManifestTool;
  manifest: Manifest;
  progress: ProgressOptions;
  argument: PromptArgument;
  message: PromptMessage;
  value: PreScriptValue;
} = {
  schema: { instance: { type: 'url', label: 'Instance', required: true, placeholder: 'https://example.com' } },
  setting: { type: 'select', label: 'Size', description: 'How large', options: ['s', 'm'] },
  settingType: 'boolean',
  category: 'rate_limit',
  entry: { level: 'warning', message: 'x', data: [], ts: '2026-01-01T00:00:00.000Z' },
  level: 'debug',
  transport: (entry) => entry.level,
  icon: 'message-square',
  tool: { name: 'a', displayName: 'A', description: 'A.', icon: 'wrench', input_schema: {}, output_schema: {} },
  manifest: { sdkVersion: '0.0.1', tools: [], configSchema: {} },
  progress: { progress: 1, total: 2, message: 'half' },
  argument: { name: 'topic', required: true },
  message: { role: 'user', content: { type: 'text', text: 'Hi' } },
  value: { token: 'x', expires: 1 },
};

const prompt: PromptDefinition = sdk.definePrompt({
  name: 'write',
  args: z.object({ topic: z.string(), tone: z.string().optional() }),
  async render(args) {
    return [{ role: 'user', content: { type: 'text', text: `${args.topic} ${args.tone ?? ''}` } }];
  },
});

const tool = sdk.defineTool({
  name: 'read',
  displayName: 'Read',
  description: 'Reads.',
  summary: 'Reads',
  icon: 'book-open',
  group: 'Reading',
  input: z.object({ id: z.string() }),
  output: z.object({ text: z.string() }),
  async handle(params, context?: ToolHandlerContext) {
    context?.reportProgress({ progress: 1, total: 1, message: params.id });
    return { text: params.id };
  },
});

class OriginalPlugin extends sdk.OpenTabsPlugin {
  readonly name = 'existing';
  override readonly displayName = 'Existing';
  readonly description = 'A plugin.';
  readonly urlPatterns = ['*://*.example.com/*'];
  override readonly excludePatterns = ['*://docs.example.com/*'];
  override readonly homepage = 'https://example.com';
  override readonly configSchema: ConfigSchema = { key: { type: 'string', label: 'Key' } };
  readonly tools: ToolDefinition[] = [tool];
  override readonly prompts: PromptDefinition[] = [prompt];
  async isReady(): Promise<boolean> {
    return sdk.getConfig('key') !== undefined;
  }
  override onActivate() {}
  override onDeactivate() {}
  override onNavigate(_url: string) {}
  override onToolInvocationStart(_tool: string) {}
  override onToolInvocationEnd(_tool: string, _success: boolean, _durationMs: number) {}
  override teardown() {}
}

test('a plugin for the original OpenTabs SDK is a plugin of this SDK', async () => {
  const plugin: OpenTabsPlugin = new OriginalPlugin();
  assert.equal(await plugin.isReady(), false);
  assert.deepEqual(await plugin.tools[0]?.handle({ id: 'a' }), { text: 'a' });
});

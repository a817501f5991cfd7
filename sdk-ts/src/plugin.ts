import type { ConfigSchema } from './config.ts';
import type { PromptDefinition } from './prompt.ts';
import type { ToolDefinition } from './tool.ts';

/**
 * A plugin as a class. The module's default export must be an instance of it. After the adapter has started the instance
 * is frozen: keep state in module variables, not in fields.
 */
export abstract class OpenTabsPlugin {
  abstract readonly name: string;
  abstract readonly description: string;
  abstract readonly displayName: string;
  abstract readonly urlPatterns: readonly string[];
  abstract readonly tools: readonly ToolDefinition[];
  readonly prompts?: readonly PromptDefinition[];
  readonly excludePatterns?: readonly string[];
  readonly homepage?: string;
  readonly configSchema?: ConfigSchema;

  /**
   * Tells whether the tools can work in this page, most often whether the person is logged in. It is asked before each
   * call and may take up to 5 s; anything but true means no.
   */
  abstract isReady(): Promise<boolean>;

  /** Undoes what the plugin did to the page, when it is removed or replaced. */
  teardown?(): void;
  /** Runs once after the adapter was registered in a document. */
  onActivate?(): void;
  /** Runs before {@link teardown}. */
  onDeactivate?(): void;
  /** Runs when the page's URL changed without a new document. */
  onNavigate?(url: string): void;
  /** Runs before each call. */
  onToolInvocationStart?(toolName: string): void;
  /** Runs after each call. */
  onToolInvocationEnd?(toolName: string, success: boolean, durationMs: number): void;
}

/** A plugin as an object. What is absent of its description is taken from package.json when it is built. */
export interface PluginDefinition {
  name?: string | undefined;
  description?: string | undefined;
  displayName?: string | undefined;
  urlPatterns?: readonly string[] | undefined;
  excludePatterns?: readonly string[] | undefined;
  homepage?: string | undefined;
  configSchema?: ConfigSchema | undefined;
  tools: readonly ToolDefinition[];
  prompts?: readonly PromptDefinition[] | undefined;
  /** See {@link OpenTabsPlugin.isReady}. */
  isReady(): boolean | Promise<boolean>;
  teardown?(): void;
  onActivate?(): void;
  onDeactivate?(): void;
  onNavigate?(url: string): void;
  onToolInvocationStart?(toolName: string): void;
  onToolInvocationEnd?(toolName: string, success: boolean, durationMs: number): void;
}

const hooks = [
  'teardown',
  'onActivate',
  'onDeactivate',
  'onNavigate',
  'onToolInvocationStart',
  'onToolInvocationEnd',
] as const;

class DefinedPlugin extends OpenTabsPlugin {
  readonly name: string;
  readonly description: string;
  readonly displayName: string;
  readonly urlPatterns: readonly string[];
  readonly tools: readonly ToolDefinition[];
  readonly #definition: PluginDefinition;

  constructor(definition: PluginDefinition) {
    super();
    this.#definition = definition;
    this.name = definition.name ?? '';
    this.description = definition.description ?? '';
    this.displayName = definition.displayName ?? '';
    this.urlPatterns = definition.urlPatterns ?? [];
    this.tools = definition.tools;
    for (const key of ['prompts', 'excludePatterns', 'homepage', 'configSchema'] as const) {
      if (definition[key] !== undefined) Object.assign(this, { [key]: definition[key] });
    }
    for (const hook of hooks) {
      const method = definition[hook];
      if (method) Object.assign(this, { [hook]: method.bind(definition) });
    }
    // No type check stands before a build: what looks for the method then, finds none.
    if (typeof definition.isReady !== 'function') Object.assign(this, { isReady: undefined });
  }

  async isReady(): Promise<boolean> {
    return await this.#definition.isReady();
  }
}

/** Makes a plugin from an object. Export the result as the module's default. */
export function definePlugin(definition: PluginDefinition): OpenTabsPlugin {
  return new DefinedPlugin(definition);
}

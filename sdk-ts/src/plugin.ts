import type { ConfigSchema } from './config.ts';
import type { PromptDefinition } from './prompt.ts';
import type { ToolDefinition } from './tool.ts';

/**
 * A plugin as a class. The module's default export must be an instance of the plugin's class. The instance is frozen
 * once the adapter has started: keep state in module variables, not in fields.
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
   * Returns whether the tools can work in this page, most often whether the user is logged in. The host runs `isReady`
   * before each call, for up to 5 s. Any result other than true means that the plugin is not ready.
   */
  abstract isReady(): Promise<boolean>;

  /** Runs when the plugin is removed or replaced: undo here what the plugin did to the page. */
  teardown?(): void;
  /** Runs once in each document, after the adapter was registered. */
  onActivate?(): void;
  /** Runs before {@link teardown} when the plugin is removed or replaced. */
  onDeactivate?(): void;
  /** Runs when the URL of the page changed without a new document. */
  onNavigate?(url: string): void;
  /** Runs before each call of a tool. */
  onToolInvocationStart?(toolName: string): void;
  /** Runs after each call of a tool. */
  onToolInvocationEnd?(toolName: string, success: boolean, durationMs: number): void;
}

/** A plugin as an object. The build takes absent descriptive fields from package.json. */
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

const hookNames = [
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
    for (const hook of hookNames) {
      const method = definition[hook];
      if (method) Object.assign(this, { [hook]: method.bind(definition) });
    }
    // Hides the inherited isReady, so that the build reports a definition without isReady.
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

import type { ConfigSchema } from './config.ts';
import type { PromptDefinition } from './prompt.ts';
import type { ToolDefinition } from './tool.ts';

/**
 * Base class of a plugin that is written as a class. Export an instance of your subclass as the module's default. The
 * instance is frozen once the adapter has started, so keep state in module variables, not in fields.
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
   * Reports whether the plugin's tools can work in this page, which usually means that the user is logged in. The
   * extension calls `isReady` before each tool call and waits up to 5 s. If `isReady` does not resolve to true within 5
   * s, the tool call does not run in this page.
   */
  abstract isReady(): Promise<boolean>;

  /**
   * `teardown` is called when the plugin is removed or replaced. In `teardown`, undo everything that the plugin changed
   * in the page.
   */
  teardown?(): void;
  /** `onActivate` is called once in each document, after the plugin's adapter has started. */
  onActivate?(): void;
  /** `onDeactivate` is called before {@link teardown} when the plugin is removed or replaced. */
  onDeactivate?(): void;
  /**
   * `onNavigate` is called when the page's URL changes without loading a new document, for example by
   * `history.pushState`.
   */
  onNavigate?(url: string): void;
  /** `onToolInvocationStart` is called before each tool call of the plugin. */
  onToolInvocationStart?(toolName: string): void;
  /**
   * `onToolInvocationEnd` is called after each tool call of the plugin. `success` is false if the handler threw an
   * error.
   */
  onToolInvocationEnd?(toolName: string, success: boolean, durationMs: number): void;
}

/**
 * A plugin that is written as an object. The build reads missing descriptive fields, such as `displayName`, from
 * package.json.
 */
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
  /** Reports whether the plugin's tools can work in this page; see {@link OpenTabsPlugin.isReady}. */
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

  constructor(pluginDefinition: PluginDefinition) {
    super();
    this.#definition = pluginDefinition;
    this.name = pluginDefinition.name ?? '';
    this.description = pluginDefinition.description ?? '';
    this.displayName = pluginDefinition.displayName ?? '';
    this.urlPatterns = pluginDefinition.urlPatterns ?? [];
    this.tools = pluginDefinition.tools;
    for (const key of ['prompts', 'excludePatterns', 'homepage', 'configSchema'] as const) {
      if (pluginDefinition[key] !== undefined) Object.assign(this, { [key]: pluginDefinition[key] });
    }
    for (const hook of hookNames) {
      const method = pluginDefinition[hook];
      if (method) Object.assign(this, { [hook]: method.bind(pluginDefinition) });
    }
    // Without the next line, the build could not detect a definition that lacks isReady, because the class always has
    // an isReady method.
    if (typeof pluginDefinition.isReady !== 'function') Object.assign(this, { isReady: undefined });
  }

  async isReady(): Promise<boolean> {
    return await this.#definition.isReady();
  }
}

/** Creates a plugin from an object. Export the returned plugin as the module's default. */
export function definePlugin(pluginDefinition: PluginDefinition): OpenTabsPlugin {
  return new DefinedPlugin(pluginDefinition);
}

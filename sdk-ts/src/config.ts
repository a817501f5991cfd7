import { getContainerPart } from './runtime/container.ts';
import { hasOwn } from './runtime/primordials.ts';

/** The type of a plugin's setting. Settings of the types `url`, `string` and `select` have string values. */
export type ConfigSettingType = 'url' | 'string' | 'number' | 'boolean' | 'select';

/** Describes one plugin setting that the user can change. */
export interface ConfigSettingDefinition {
  type: ConfigSettingType;
  /** The name of the setting that users see, such as `Server URL`. */
  label: string;
  description?: string | undefined;
  /** Whether the plugin requires the setting. By default, the setting is optional. */
  required?: boolean | undefined;
  /**
   * Whether a `string` setting is a secret, such as a password or an API key. The values of secret settings are never
   * displayed. An adapter that starts after the page's scripts receives secret settings only if the user allows late
   * access. If `secret` is absent, opentabs infers from the setting's key whether the setting is secret. For example, a
   * setting with the key `apiToken` is secret.
   */
  secret?: boolean | undefined;
  /** The placeholder that the settings form shows in an empty input field, such as `https://gitlab.example.com`. */
  placeholder?: string | undefined;
  /** The choices of a `select` setting. */
  options?: readonly string[] | undefined;
}

/** Maps the key of each setting of a plugin to its definition. */
export type ConfigSchema = Readonly<Record<string, ConfigSettingDefinition>>;

/**
 * Returns the value of a plugin setting, or undefined if the user has not set one. Call `getConfig` each time you need
 * a setting instead of storing the value, because the user can change settings at any time. If a `url` setting lists
 * several instances of a site, `getConfig` returns the URL of the instance that served this page.
 */
export function getConfig(key: string): string | number | boolean | undefined {
  const settings = getContainerPart('pluginConfig');
  const value = settings && hasOwn(settings, key) ? settings[key] : undefined;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

import { getContainerPart } from './runtime/container.ts';
import { hasOwn } from './runtime/primordials.ts';

/** The type of a plugin's setting. The value of a `url`, `string` or `select` is a text. */
export type ConfigSettingType = 'url' | 'string' | 'number' | 'boolean' | 'select';

/** Describes one setting that the user can set for a plugin. */
export interface ConfigSettingDefinition {
  type: ConfigSettingType;
  /** The name that the user sees. */
  label: string;
  description?: string | undefined;
  /** Whether the plugin requires the setting; false if absent. */
  required?: boolean | undefined;
  /**
   * Whether a `string` is a password or a key. Secrets are never shown. An adapter that starts after the page's scripts
   * receives secrets only if the user allows late access. If `secret` is absent, the name of the setting decides
   * whether the setting is secret (`apiToken` is secret).
   */
  secret?: boolean | undefined;
  /** The placeholder of an empty field, such as `https://gitlab.example.com`. */
  placeholder?: string | undefined;
  /** The choices of a `select` setting. */
  options?: readonly string[] | undefined;
}

/** Maps the key of each setting of a plugin to its definition. */
export type ConfigSchema = Readonly<Record<string, ConfigSettingDefinition>>;

/**
 * Returns the value of a setting; undefined if the user has not set a value. Call `getConfig` again at each use,
 * because a setting can change at any time. For a `url` setting with several instances, the result is the URL of the
 * instance that the page belongs to.
 */
export function getConfig(key: string): string | number | boolean | undefined {
  const settings = getContainerPart('pluginConfig');
  const value = settings && hasOwn(settings, key) ? settings[key] : undefined;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

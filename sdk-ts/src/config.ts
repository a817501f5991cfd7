import { partOfContainer } from './runtime/container.ts';
import { hasOwn } from './runtime/primordials.ts';

/** What a setting is, and so what its value is: a text, but for `number` and `boolean`. */
export type ConfigSettingType = 'url' | 'string' | 'number' | 'boolean' | 'select';

/** One setting that the person may give a plugin. */
export interface ConfigSettingDefinition {
  type: ConfigSettingType;
  /** Its name for people. */
  label: string;
  description?: string | undefined;
  /** Whether the plugin needs it; false if absent. */
  required?: boolean | undefined;
  /**
   * Whether a `string` is a password or a key: surfaces never show it, and an adapter that starts after the page's scripts
   * gets it only if the user allows that. If absent, the name of the setting decides (`apiToken` is secret).
   */
  secret?: boolean | undefined;
  /** What an empty field shows, such as `https://gitlab.example.com`. */
  placeholder?: string | undefined;
  /** The choices of a `select`. */
  options?: readonly string[] | undefined;
}

/** The settings of a plugin, by key. */
export type ConfigSchema = Readonly<Record<string, ConfigSettingDefinition>>;

/**
 * Returns what the person set; undefined if they did not. Ask anew at each use: a setting can change at any time. A `url`
 * setting with several instances gives the one of the page that the plugin runs in.
 */
export function getConfig(key: string): string | number | boolean | undefined {
  const settings = partOfContainer('pluginConfig');
  const value = settings && hasOwn(settings, key) ? settings[key] : undefined;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

/** Matches valid plugin names, such as `my-site`. In addition, the names in {@link RESERVED_NAMES} are not allowed. */
export const NAME_REGEX = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Names that a plugin cannot use, because opentabs uses them for other purposes. */
export const RESERVED_NAMES: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'system',
  'browser',
  'opentabs',
  'extension',
  'config',
  'plugin',
  'tool',
  'mcp',
]);

/** Returns why a plugin name is invalid, as text for its author, or null if the name is valid. */
export function validatePluginName(name: string): string | null {
  if (name === '') return "the plugin's name is empty; use one such as my-site";
  if (!NAME_REGEX.test(name)) {
    return `"${name}" is not a plugin name; use lower-case letters and digits with single hyphens between them`;
  }
  if (RESERVED_NAMES.has(name))
    return `"${name}" is reserved; choose a name other than ${[...RESERVED_NAMES].join(', ')}`;
  return null;
}
